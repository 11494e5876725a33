package platformapi

import (
	"context"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// putCourse makes a course be as the body says.
func (h *handler) putCourse(ctx context.Context, r *request) (v1.CourseSaved, error) {
	externalID, err := r.PathExternalID("externalId")
	if err != nil {
		return v1.CourseSaved{}, err
	}
	c, err := courseInput(r)
	if err != nil {
		return v1.CourseSaved{}, err
	}
	c.ExternalID = externalID
	id, status, err := h.svc.PutCourse(ctx, r.Caller, c)
	if err != nil {
		return v1.CourseSaved{}, err
	}
	return v1.CourseSaved{CourseID: id, Status: v1.CourseSaveStatus(status)}, nil
}

// courseInput reads a whole course: what is absent has its default.
func courseInput(r *request) (domain.Course, error) {
	o, err := r.Object()
	if err != nil {
		return domain.Course{}, err
	}
	c := domain.Course{
		Name:            o.String("name"),
		IsAssessment:    valueOr(o.OptBool("isAssessment"), false),
		PassMark:        valueOr(o.OptPoints("passMark"), domain.DefaultPassMark),
		AllowedAttempts: int(valueOr(o.OptInt("attempts"), domain.DefaultAllowedAttempts)),
		Modules:         valueOr(o.OptStrings("modules", domain.MaxModules), []string{}),
	}
	return c, o.ErrWith(func() error { checked := c; return checked.Normalize() })
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// grantCourse lets a company assign a course.
func (h *handler) grantCourse(ctx context.Context, r *request) (v1.Grant, error) {
	course, company, err := grantPath(r)
	if err != nil {
		return v1.Grant{}, err
	}
	id, err := h.svc.GrantCourse(ctx, r.Caller, course, company)
	if err != nil {
		return v1.Grant{}, err
	}
	return v1.Grant{CourseID: id, CompanyID: company, Granted: true}, nil
}

// withdrawCourse takes a course from a company.
func (h *handler) withdrawCourse(ctx context.Context, r *request) (v1.Grant, error) {
	course, company, err := grantPath(r)
	if err != nil {
		return v1.Grant{}, err
	}
	id, err := h.svc.WithdrawCourse(ctx, r.Caller, course, company)
	if err != nil {
		return v1.Grant{}, err
	}
	return v1.Grant{CourseID: id, CompanyID: company, Granted: false}, nil
}

// grantPath reads the course and the company from the path.
func grantPath(r *request) (course string, company int64, err error) {
	p := r.Params()
	course, company = p.PathExternalID("externalId"), p.PathID("companyId")
	return course, company, p.Err()
}
