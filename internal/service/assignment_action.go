package service

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// AssignmentActStore is what the cabinet's pages of assignments need of the database.
type AssignmentActStore interface {
	AssignmentList(ctx context.Context, company int64, q domain.AssignmentQuery, p domain.PageRequest) (domain.Page[domain.Assignment], error)
	TabCounts(ctx context.Context, company int64, q domain.AssignmentQuery) (domain.TabCounts, error)
	AssignmentHistory(ctx context.Context, company, id int64) ([]domain.AssignmentChange, error)
	AssignedBy(ctx context.Context, a domain.Assignment) (by, via string, err error)
	ActOnAssignments(ctx context.Context, c domain.Caller, act domain.AssignmentAction, ids []int64) ([]domain.ActResult, error)
	CountMatching(ctx context.Context, company int64, pick domain.AssignmentPick, act domain.AssignmentAction) (domain.ActCount, error)
	AddActJob(ctx context.Context, c domain.Caller, in domain.NewJob, pick domain.AssignmentPick) (domain.Job, error)
	AddUndoJob(ctx context.Context, c domain.Caller, in domain.NewJob, revoked domain.Job) (domain.Job, error)
	StepAction(ctx context.Context, c domain.Caller, act domain.AssignmentAction, job domain.Job, limit int) error
}

// ListAssignments returns a page of the cabinet's list of assignments. The total is
// not counted: see CountTabs. NextInList returns the next cursor.
func (l *Learning) ListAssignments(ctx context.Context, c domain.Caller, q domain.AssignmentQuery, p domain.PageRequest) (domain.Page[domain.Assignment], error) {
	q.Normalize()
	return l.store.AssignmentList(ctx, c.Company.ID, q, p)
}

// NextInList returns the cursor of the page of a query after this one, nil after the last.
func NextInList(q domain.AssignmentQuery, page domain.Page[domain.Assignment]) *domain.Cursor {
	if !page.More {
		return nil
	}
	last := page.Items[len(page.Items)-1]
	if q.Recent && last.CompletedAt != nil {
		return &domain.Cursor{ID: last.ID, At: last.CompletedAt.UnixMilli()}
	}
	return &domain.Cursor{ID: last.ID, At: last.Deadline.UnixMilli()}
}

// CountTabs counts the assignments of each tab, narrowed by the query's other fields.
func (l *Learning) CountTabs(ctx context.Context, c domain.Caller, q domain.AssignmentQuery) (domain.TabCounts, error) {
	return l.store.TabCounts(ctx, c.Company.ID, q)
}

// AssignmentHistory returns everything that has happened to an assignment, the oldest
// first.
func (l *Learning) AssignmentHistory(ctx context.Context, a domain.Assignment) ([]domain.AssignmentChange, error) {
	by, via, err := l.store.AssignedBy(ctx, a)
	if err != nil {
		return nil, err
	}
	changes, err := l.store.AssignmentHistory(ctx, a.CompanyID, a.ID)
	first := domain.AssignmentChange{At: a.AssignedAt, To: domain.StatusAssigned, Cause: domain.CauseAssigned, Via: via, By: by}
	return append([]domain.AssignmentChange{first}, changes...), err
}

// Act does an act to one assignment and reports whether that changed it. Codes:
// invalid_request, assignment_not_found, assignment_revoked, assignment_completed,
// idempotency_conflict, insufficient_role, company_suspended.
func (l *Learning) Act(ctx context.Context, c domain.Caller, act domain.AssignmentAction, id int64) (changed bool, err error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return false, err
	}
	if err := act.Check(); err != nil {
		return false, err
	}
	results, err := l.store.ActOnAssignments(ctx, c, act, []int64{id})
	if err != nil {
		return false, err
	}
	return results[0].Outcome == domain.OutcomeDone, results[0].Err
}

// The kinds of background work on assignments.
const (
	JobAct    domain.JobKind = "assignments.act"
	JobAssign domain.JobKind = "assignments.assign"
)

const (
	actStep = 200
	// undoTime is how long after its end a bulk revocation can be undone.
	undoTime = time.Minute
)

// BulkActions does acts to many assignments as background work.
type BulkActions struct {
	store Store
	jobs  *Jobs
}

// NewBulkActions registers the work with the jobs.
func NewBulkActions(store Store, jobs *Jobs) *BulkActions {
	b := &BulkActions{store: store, jobs: jobs}
	jobs.Register(JobAct, b.step)
	return b
}

// Count returns how many assignments match, and how many of them the act would change.
func (b *BulkActions) Count(ctx context.Context, c domain.Caller, pick domain.AssignmentPick, act domain.AssignmentAction) (domain.ActCount, error) {
	pick.Normalize()
	return b.store.CountMatching(ctx, c.Company.ID, pick, act)
}

// Start does the act to the picked assignments. Codes: invalid_request,
// insufficient_role, company_suspended.
func (b *BulkActions) Start(ctx context.Context, c domain.Caller, act domain.AssignmentAction, pick domain.AssignmentPick) (domain.Job, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Job{}, err
	}
	pick.Normalize()
	if err := act.Check(); err != nil {
		return domain.Job{}, err
	}
	job, err := b.store.AddActJob(ctx, c, domain.NewJob{Kind: JobAct, Input: act}, pick)
	if err == nil {
		b.jobs.Wake()
	}
	return job, err
}

// JobActOf returns the act of a job of kind JobAct.
func JobActOf(job domain.Job) (act domain.AssignmentAction, err error) {
	if err := json.Unmarshal(job.Input, &act); err != nil {
		return act, fmt.Errorf("read the act of a job: %w", err)
	}
	return act, nil
}

// CanUndo reports whether a job is a bulk revocation that can still be undone.
func (b *BulkActions) CanUndo(job domain.Job, now time.Time) bool {
	act, err := JobActOf(job)
	return err == nil && job.Kind == JobAct && act.Kind == domain.ActRevoke && job.FinishedAt != nil && now.Before(job.FinishedAt.Add(undoTime))
}

// Undo restores the assignments that a job has revoked, where nothing has changed
// since. Codes: not_found, idempotency_conflict when it is too late.
func (b *BulkActions) Undo(ctx context.Context, c domain.Caller, id int64) (domain.Job, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Job{}, err
	}
	job, err := b.jobs.Get(ctx, c, id)
	if err != nil {
		return domain.Job{}, err
	}
	if act, err := JobActOf(job); err != nil || job.Kind != JobAct || act.Kind != domain.ActRevoke || job.FinishedAt == nil {
		return domain.Job{}, domain.Errorf(domain.CodeConflict, "Only a revocation that has ended can be undone. Change the assignments again instead.")
	}
	if !b.CanUndo(job, b.store.Now()) {
		return domain.Job{}, domain.Errorf(domain.CodeConflict, "This can't be undone any more: more than a minute has passed. Assign the courses again instead.")
	}
	undo, err := b.store.AddUndoJob(ctx, c, domain.NewJob{Kind: JobAct, Input: domain.AssignmentAction{Kind: domain.ActRestore}}, job)
	if err == nil {
		b.jobs.Wake()
	}
	return undo, err
}

func (b *BulkActions) step(ctx context.Context, c domain.Caller, job domain.Job) (domain.JobProgress, error) {
	act, err := JobActOf(job)
	if err != nil {
		return domain.JobProgress{}, err
	}
	return domain.JobProgress{Saved: true}, b.store.StepAction(ctx, c, act, job, actStep)
}
