package platformapi

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/platformapi/oas"
)

// PutCourse makes a course be as the body says.
func (h *handler) PutCourse(ctx context.Context, req oas.PutCourseReq, p oas.PutCourseParams) (*oas.CourseResponse, error) {
	var q httpapi.Query
	externalID := q.PathIdentifier("externalId", p.ExternalID)
	if err := q.Err(); err != nil {
		return nil, err
	}
	c, err := courseOf(ctx, req)
	if err != nil {
		return nil, err
	}
	c.ExternalID = externalID
	id, status, err := h.svc.PutCourse(ctx, actorFrom(ctx), c)
	if err != nil {
		return nil, err
	}
	return &oas.CourseResponse{Data: oas.CourseSaved{CourseID: id, Status: oas.CourseSavedStatus(status)}}, nil
}

// courseOf reads a whole course: what is absent has its default.
func courseOf(ctx context.Context, req oas.PutCourseReq) (domain.Course, error) {
	o, err := httpapi.ReadObject(ctx, req.Data)
	if err != nil {
		return domain.Course{}, err
	}
	c := domain.Course{
		Name:            o.String("name"),
		IsAssessment:    or(o.OptBool("isAssessment"), false),
		PassMark:        or(o.OptPoints("passMark"), domain.DefaultPassMark),
		AllowedAttempts: int(or(o.OptInt("attempts"), domain.DefaultAllowedAttempts)),
		Modules:         or(o.OptStrings("modules"), []string{}),
	}
	return c, o.Err(func() error { checked := c; return checked.Check() })
}

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// GrantCourse lets a company assign a course.
func (h *handler) GrantCourse(ctx context.Context, p oas.GrantCourseParams) (*oas.GrantResponse, error) {
	return h.grant(ctx, p.ExternalID, p.CompanyID, true, h.svc.GrantCourse)
}

// WithdrawCourse takes a course from a company.
func (h *handler) WithdrawCourse(ctx context.Context, p oas.WithdrawCourseParams) (*oas.GrantResponse, error) {
	return h.grant(ctx, p.ExternalID, p.CompanyID, false, h.svc.WithdrawCourse)
}

func (h *handler) grant(
	ctx context.Context, course, company string, granted bool,
	act func(context.Context, domain.Actor, string, int64) (int64, error),
) (*oas.GrantResponse, error) {
	var q httpapi.Query
	externalID, companyID := q.PathIdentifier("externalId", course), q.PathID("companyId", company)
	if err := q.Err(); err != nil {
		return nil, err
	}
	id, err := act(ctx, actorFrom(ctx), externalID, companyID)
	if err != nil {
		return nil, err
	}
	return &oas.GrantResponse{Data: oas.Grant{CourseID: id, CompanyID: companyID, Granted: granted}}, nil
}
