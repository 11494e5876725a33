package publicapi

import (
	"context"
	"net/url"
	"strconv"
	"time"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// createAssignment assigns a course.
func (h *handler) createAssignment(ctx context.Context, r *request) (v1.AssignmentCreated, error) {
	o, err := r.Object()
	if err != nil {
		return v1.AssignmentCreated{}, err
	}
	in, err := newAssignment(o)
	if err != nil {
		return v1.AssignmentCreated{}, err
	}
	a, err := h.svc.Assign(ctx, callerOf(r), in)
	if err != nil {
		return v1.AssignmentCreated{}, err
	}
	now := h.svc.Now()
	return v1.AssignmentCreated{
		ID: a.ID, ExternalID: a.ExternalID,
		Status: v1.AssignmentStatus(a.Status), StatusCategory: v1.StatusCategory(a.Category(now)), IsOverdue: a.Overdue(now),
		AssignedAt: dateTime(a.AssignedAt), Deadline: dateTime(a.Deadline),
	}, nil
}

// newAssignment reads an assignment input item, alone or in a bulk.
func newAssignment(o *httpapi.Object) (domain.NewAssignment, error) {
	in := domain.NewAssignment{
		EmployeeExternalID: o.String("employeeExternalId"),
		CourseID:           o.Int("courseId"),
		ExternalID:         o.String("externalId"),
		Deadline:           o.NullableInstant("deadline"),
		IsRequired:         o.OptBool("isRequired"),
	}
	return in, o.ErrWith(in.Check)
}

// listAssignments returns one page of the company's assignments.
func (h *handler) listAssignments(ctx context.Context, r *request) (v1.AssignmentList, error) {
	p := r.Params()
	filter := assignmentFilter(p)
	order := domain.AssignmentList
	if p.Has("updatedSince") {
		order = domain.ChangeList
	}
	paging := p.Walk(order)
	if err := p.Err(); err != nil {
		return v1.AssignmentList{}, err
	}
	found, err := h.svc.Assignments(ctx, callerOf(r), filter, paging.PageRequest)
	if err != nil {
		return v1.AssignmentList{}, err
	}
	mark := watermark(paging, found)
	if mark != nil {
		r.Info.ResponseHeader.Set("X-Sync-Watermark", domain.FormatInstant(*mark))
	}
	if n := len(found.Items); found.More && n > 0 {
		last := domain.Cursor{ID: found.Items[n-1].ID}
		if order == domain.ChangeList {
			last.At = found.Items[n-1].UpdatedAt.UnixMilli()
		}
		if mark != nil {
			last.Watermark = mark.UnixMilli()
		}
		r.Info.ResponseHeader.Set("Link", paging.Next(h.base+"/assignments", filterQuery(filter), last))
	}
	return v1.AssignmentList{
		Items: assignmentItems(found.Items, h.svc.Now()), Pagination: paging.Pagination(found.Total),
	}, nil
}

// assignmentFilter reads the filters of lists and reports of assignments.
func assignmentFilter(p *httpapi.Params) domain.AssignmentFilter {
	return domain.AssignmentFilter{
		EmployeeExternalID: p.ExternalID("employeeExternalId"),
		Status:             p.Status("status"),
		CourseID:           p.ID("courseId"),
		UpdatedSince:       p.Instant("updatedSince"),
	}
}

func filterQuery(f domain.AssignmentFilter) url.Values {
	v := url.Values{}
	setFilter(v, "employeeExternalId", f.EmployeeExternalID)
	setFilter(v, "status", string(f.Status))
	if f.CourseID != 0 {
		v.Set("courseId", strconv.FormatInt(f.CourseID, 10))
	}
	if f.UpdatedSince != nil {
		v.Set("updatedSince", domain.FormatInstant(*f.UpdatedSince))
	}
	return v
}

// watermark returns the watermark of the walk's first page: a walk may have passed
// by changes that were made during it, which a later page's would miss.
func watermark(p httpapi.Paging, found domain.AssignmentPage) *time.Time {
	if found.Watermark != nil && p.After != nil && p.After.Watermark != 0 {
		first := time.UnixMilli(p.After.Watermark)
		return &first
	}
	return found.Watermark
}

// findAssignment returns the assignment that the path names by the service's id
// or by the caller's identifier.
func (h *handler) findAssignment(ctx context.Context, r *request) (domain.Assignment, error) {
	if r.PathValue("id") != "" {
		id, err := r.PathID("id")
		if err != nil {
			return domain.Assignment{}, err
		}
		return h.svc.Assignment(ctx, callerOf(r), id)
	}
	externalID, err := r.PathExternalID("externalId")
	if err != nil {
		return domain.Assignment{}, err
	}
	return h.svc.AssignmentByExternalID(ctx, callerOf(r), externalID)
}

func (h *handler) getAssignment(ctx context.Context, r *request) (v1.Assignment, error) {
	a, err := h.findAssignment(ctx, r)
	if err != nil {
		return v1.Assignment{}, err
	}
	return assignment(&a, h.svc.Now()), nil
}

// revokeAssignment takes an assignment back.
func (h *handler) revokeAssignment(ctx context.Context, r *request) (v1.Revoked, error) {
	id, err := r.PathID("id")
	if err != nil {
		return v1.Revoked{}, err
	}
	if err := h.svc.Revoke(ctx, callerOf(r), id); err != nil {
		return v1.Revoked{}, err
	}
	return v1.Revoked{ID: id, Revoked: true}, nil
}

func assignmentItems(list []domain.Assignment, now time.Time) []v1.Assignment {
	out := make([]v1.Assignment, len(list))
	for i := range list {
		out[i] = assignment(&list[i], now)
	}
	return out
}

func assignment(a *domain.Assignment, now time.Time) v1.Assignment {
	return v1.Assignment{
		ID: a.ID, ExternalID: a.ExternalID,
		EmployeeExternalID: a.EmployeeExternalID, EmployeeEmail: a.EmployeeEmail,
		CourseID: a.CourseID, CourseName: a.CourseName,
		Status: v1.AssignmentStatus(a.Status), StatusCategory: v1.StatusCategory(a.Category(now)), IsOverdue: a.Overdue(now),
		CompletionPercent: a.Percent.Float(), Score: nullablePoints(a.Score), NumberOfAttempts: a.Attempts, IsRequired: a.IsRequired,
		AssignedAt: dateTime(a.AssignedAt), Deadline: dateTime(a.Deadline),
		StartedAt: nullableDateTime(a.StartedAt), CompletedAt: nullableDateTime(a.CompletedAt),
		LastActivityAt: dateTime(a.LastActivity()),
	}
}
