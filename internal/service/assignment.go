package service

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Assign assigns a course to an employee. Codes: invalid_request,
// employee_not_found, employee_offboarded, course_not_found, course_archived,
// wrong_company, too_many_assignments, idempotency_conflict.
func (l *Learning) Assign(ctx context.Context, c domain.Caller, in domain.NewAssignment) (domain.Assignment, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Assignment{}, err
	}
	if err := in.Check(); err != nil {
		return domain.Assignment{}, err
	}
	results, err := l.store.Assign(ctx, c, []domain.BulkItem{{New: in}})
	if err != nil {
		return domain.Assignment{}, err
	}
	return results[0].Assignment, results[0].Err
}

// AssignMany assigns courses to employees, each item independently. The codes of
// Assign are in the results.
func (l *Learning) AssignMany(ctx context.Context, c domain.Caller, items []domain.BulkItem) ([]domain.BulkResult, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return nil, err
	}
	for i := range items {
		if items[i].Err == nil {
			items[i].Err = items[i].New.Check()
		}
	}
	return l.store.Assign(ctx, c, items)
}

// Assignments lists the company's assignments. Codes: invalid_request for a page
// that skips too many.
func (l *Learning) Assignments(ctx context.Context, c domain.Caller, f domain.AssignmentFilter, p domain.PageRequest) (domain.AssignmentPage, error) {
	if p.Offset() > domain.MaxOffset {
		first, err := l.store.Assignments(ctx, c.Company.ID, f, firstRecord)
		if err != nil {
			return first, err
		}
		return domain.AssignmentPage{Page: domain.Page[domain.Assignment]{Total: first.Total}, Watermark: first.Watermark}, p.CheckDepth(first.Total)
	}
	return l.store.Assignments(ctx, c.Company.ID, f, p)
}

// Assignment returns one by id. Codes: assignment_not_found, assignment_revoked, wrong_company.
func (l *Learning) Assignment(ctx context.Context, c domain.Caller, id int64) (domain.Assignment, error) {
	return l.store.Assignment(ctx, c.Company.ID, id)
}

// AssignmentByExternalID returns one by the caller's own id. Codes:
// assignment_not_found, assignment_revoked.
func (l *Learning) AssignmentByExternalID(ctx context.Context, c domain.Caller, externalID string) (domain.Assignment, error) {
	return l.store.AssignmentByExternalID(ctx, c.Company.ID, externalID)
}

// Revoke revokes an assignment; revoking again changes nothing. Codes:
// assignment_not_found, wrong_company.
func (l *Learning) Revoke(ctx context.Context, c domain.Caller, id int64) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	return l.store.Revoke(ctx, c, id)
}

// RecordActivities applies what learners did. Codes per item: invalid_request,
// assignment_not_found, assignment_revoked.
func (l *Learning) RecordActivities(ctx context.Context, _ domain.Actor, items []domain.ActivityItem) ([]domain.ActivityResult, error) {
	now := l.Now()
	for i := range items {
		if items[i].Err == nil {
			items[i].Err = items[i].Activity.Check(now)
		}
	}
	return l.store.RecordActivities(ctx, items)
}
