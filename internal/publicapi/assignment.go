package publicapi

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

// CreateAssignment assigns a course.
func (h *handler) CreateAssignment(ctx context.Context, req oas.CreateAssignmentReq) (*oas.AssignmentCreatedResponse, error) {
	o, err := httpapi.ReadObject(ctx, req.Data)
	if err != nil {
		return nil, err
	}
	in, err := newAssignment(o)
	if err != nil {
		return nil, err
	}
	a, err := h.svc.Assign(ctx, callerFrom(ctx), in)
	if err != nil {
		return nil, err
	}
	now := h.svc.Now()
	return &oas.AssignmentCreatedResponse{Data: oas.AssignmentCreated{
		ID: a.ID, ExternalID: a.ExternalID,
		Status: oas.AssignmentStatus(a.Status), StatusCategory: oas.StatusCategory(a.Category(now)), IsOverdue: a.Overdue(now),
		AssignedAt: domain.FormatInstant(a.AssignedAt), Deadline: domain.FormatInstant(a.Deadline),
	}}, nil
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
	return in, o.Err(in.Check)
}

// ListAssignments gives one page of the company's assignments.
func (h *handler) ListAssignments(ctx context.Context, p oas.ListAssignmentsParams) (*oas.AssignmentListResponseHeaders, error) {
	var q httpapi.Query
	filter := assignmentFilter(&q, p.EmployeeExternalID, p.Status, p.CourseID, p.UpdatedSince)
	list := httpapi.Assignments
	if p.UpdatedSince.IsSet() {
		list = httpapi.Changes
	}
	paging := q.Walk(list, p.Page, p.Limit, p.After)
	if err := q.Err(); err != nil {
		return nil, err
	}
	found, err := h.svc.Assignments(ctx, callerFrom(ctx), filter, paging.PageRequest)
	if err != nil {
		return nil, err
	}
	out := &oas.AssignmentListResponseHeaders{}
	out.Response.Data = oas.AssignmentList{
		Items:      assignmentList(found.Items, h.svc.Now()),
		Pagination: pagination(paging, found.Total),
	}
	mark := watermark(paging, found)
	if mark != nil {
		out.XSyncWatermark = oas.NewOptString(domain.FormatInstant(*mark))
	}
	if n := len(found.Items); found.More && n > 0 {
		last := domain.Cursor{ID: found.Items[n-1].ID}
		if list == httpapi.Changes {
			last.At = found.Items[n-1].UpdatedAt.UnixMilli()
		}
		if mark != nil {
			last.Watermark = mark.UnixMilli()
		}
		out.Link = oas.NewOptString(paging.Next(prefix+"/assignments", filterValues(filter), last))
	}
	return out, nil
}

// assignmentFilter reads the filters that assignments are listed and reported by.
func assignmentFilter(q *httpapi.Query, employee, status, course, since oas.OptString) domain.AssignmentFilter {
	return domain.AssignmentFilter{
		EmployeeExternalID: q.Identifier("employeeExternalId", employee),
		Status:             q.Status("status", status),
		CourseID:           q.ID("courseId", course),
		UpdatedSince:       q.Instant("updatedSince", since),
	}
}

func filterValues(f domain.AssignmentFilter) url.Values {
	v := url.Values{}
	keep(v, "employeeExternalId", f.EmployeeExternalID)
	keep(v, "status", string(f.Status))
	if f.CourseID != 0 {
		v.Set("courseId", strconv.FormatInt(f.CourseID, 10))
	}
	if f.UpdatedSince != nil {
		v.Set("updatedSince", domain.FormatInstant(*f.UpdatedSince))
	}
	return v
}

// watermark is that of the walk's first page: changes made while the walk went
// on may have been passed by, so a later page's would miss them.
func watermark(p httpapi.Paging, found domain.AssignmentPage) *time.Time {
	if found.Watermark != nil && p.After != nil && p.After.Watermark != 0 {
		first := time.UnixMilli(p.After.Watermark)
		return &first
	}
	return found.Watermark
}

// GetAssignment gives an assignment by the service's id.
func (h *handler) GetAssignment(ctx context.Context, p oas.GetAssignmentParams) (*oas.AssignmentResponse, error) {
	return answer(h, h.byID, assignmentResponse)(ctx, p.ID)
}

// GetAssignmentByExternalID gives an assignment by the caller's identifier.
func (h *handler) GetAssignmentByExternalID(ctx context.Context, p oas.GetAssignmentByExternalIDParams) (*oas.AssignmentResponse, error) {
	return answer(h, h.byExternalID, assignmentResponse)(ctx, p.ExternalID)
}

// RevokeAssignment takes an assignment back.
func (h *handler) RevokeAssignment(ctx context.Context, p oas.RevokeAssignmentParams) (*oas.RevokeResponse, error) {
	id, err := pathID(p.ID)
	if err != nil {
		return nil, err
	}
	if err := h.svc.Revoke(ctx, callerFrom(ctx), id); err != nil {
		return nil, err
	}
	return &oas.RevokeResponse{Data: oas.Revoked{ID: id}}, nil
}

func assignmentResponse(a domain.Assignment, now time.Time) *oas.AssignmentResponse {
	return &oas.AssignmentResponse{Data: assignment(a, now)}
}

func assignmentList(list []domain.Assignment, now time.Time) []oas.Assignment {
	out := make([]oas.Assignment, len(list))
	for i, a := range list {
		out[i] = assignment(a, now)
	}
	return out
}

func assignment(a domain.Assignment, now time.Time) oas.Assignment {
	return oas.Assignment{
		ID: a.ID, ExternalID: a.ExternalID,
		EmployeeExternalID: a.EmployeeExternalID, EmployeeEmail: a.EmployeeEmail,
		CourseID: a.CourseID, CourseName: a.CourseName,
		Status: oas.AssignmentStatus(a.Status), StatusCategory: oas.StatusCategory(a.Category(now)), IsOverdue: a.Overdue(now),
		CompletionPercent: a.Percent.Float(), Score: nilPoints(a.Score), NumberOfAttempts: a.Attempts, IsRequired: a.IsRequired,
		AssignedAt: domain.FormatInstant(a.AssignedAt), Deadline: domain.FormatInstant(a.Deadline),
		StartedAt: nilInstant(a.StartedAt), CompletedAt: nilInstant(a.CompletedAt),
		LastActivityAt: domain.FormatInstant(a.LastActivity()),
	}
}
