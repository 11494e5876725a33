package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// ActOnAssignments does an act to assignments of the company with a fixed number of
// statements in one transaction, in the order of their ids. One that cannot be
// changed harms no other. Error codes of a result: assignment_not_found,
// assignment_revoked, assignment_completed, idempotency_conflict.
func (s *Store) ActOnAssignments(ctx context.Context, c domain.Caller, act domain.AssignmentAction, ids []int64) ([]domain.ActResult, error) {
	var out []domain.ActResult
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		plan, err := s.loadAction(ctx, tx, c, act, ids)
		if err != nil {
			return err
		}
		out = plan.results
		return s.saveAction(ctx, tx, box, plan, nil)
	})
	return out, err
}

// StepAction does an act to the next assignments of a job, up to limit, and saves the
// job's progress in the same transaction, so that each is changed exactly once. The
// outcome of each is noted in its item.
func (s *Store) StepAction(ctx context.Context, c domain.Caller, act domain.AssignmentAction, job domain.Job, limit int) error {
	next, err := s.nextStep(ctx, job, limit)
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		plan, err := s.loadAction(ctx, tx, c, act, next.records)
		if err != nil {
			return err
		}
		return s.saveAction(ctx, tx, box, plan, &actionStep{job: job, progress: next.progress})
	})
}

// actionStep is the step of a job that an act belongs to.
type actionStep struct {
	job      domain.Job
	progress domain.JobProgress
}

// actionPlan is what an act has read and decided.
type actionPlan struct {
	caller  domain.Caller
	act     domain.AssignmentAction
	results []domain.ActResult
	changed []actChange
	events  []domain.Event // that are due before the act
}

type actChange struct {
	domain.Assignment
	from   domain.Status
	detail string
}

// loadAction locks and reads the assignments and applies the act to them.
func (s *Store) loadAction(ctx context.Context, tx db.Tx, c domain.Caller, act domain.AssignmentAction, ids []int64) (*actionPlan, error) {
	plan := &actionPlan{caller: c, act: act}
	found := map[int64]domain.Assignment{}
	left := map[int64]bool{}
	isNamed, keys := s.db.In("a.id", 2, db.Ints("id", sortedUnique(append([]int64(nil), ids...))))
	b := &db.Batch{}
	if suffix := s.db.ForUpdate("e"); suffix != "" {
		b.Query(ignoreRow, `SELECT e.id FROM employees e WHERE e.company_id = $1 AND e.id IN
			(SELECT a.employee_id FROM assignments a WHERE a.company_id = $1 AND `+isNamed+`) ORDER BY e.id`+suffix, c.Company.ID, keys)
		b.Query(ignoreRow, `SELECT a.id FROM assignments a WHERE a.company_id = $1 AND `+isNamed+` ORDER BY a.id`+s.db.ForUpdate("a"), c.Company.ID, keys)
	}
	b.Query(func(r db.Rows) error {
		var a domain.Assignment
		var gone bool
		err := r.Scan(append(assignmentDest(&a), &a.CompanyID, &a.EmployeeID, &a.EmployeeExternalID, &a.EmployeeEmail, &a.EmployeeName, &gone)...)
		found[a.ID], left[a.ID] = a, gone
		return err
	}, `SELECT `+assignmentColumns+`, e.left_at IS NOT NULL`+assignmentFrom+` WHERE a.company_id = $1 AND `+isNamed, c.Company.ID, keys)
	if err := tx.Send(ctx, b); err != nil {
		return nil, err
	}
	if act.Kind == domain.ActRestore {
		if err := s.dropUnrestorable(ctx, tx, found, left); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		a, ok := found[id]
		plan.one(id, a, ok, tx.Now())
	}
	return plan, nil
}

// one applies the act to one assignment.
func (p *actionPlan) one(id int64, a domain.Assignment, found bool, now time.Time) {
	result := domain.ActResult{ID: id, Outcome: domain.OutcomeUnchanged}
	before := a
	var detail string
	changed := false
	switch {
	case !found && p.act.Kind == domain.ActRestore:
		result.Outcome = domain.OutcomeChanged
	case !found:
		result.Err = domain.ErrAssignmentNotFound
	default:
		detail, changed, result.Err = p.act.Apply(&a, now)
	}
	switch {
	case result.Err != nil:
		result.Outcome = string(domain.CodeOf(result.Err))
	case changed:
		result.Outcome = domain.OutcomeDone
		p.changed = append(p.changed, actChange{Assignment: a, from: before.Status, detail: detail})
		if !a.Deadline.Equal(before.Deadline) && before.OwesOverdue(now) {
			p.events = append(p.events, domain.AssignmentEvent(domain.EventAssignmentOverdue, before, now))
		}
	}
	p.results = append(p.results, result)
}

// dropUnrestorable removes the revoked assignments that something has happened to
// since: the person has left, or the external id is used again.
func (s *Store) dropUnrestorable(ctx context.Context, tx db.Tx, found map[int64]domain.Assignment, left map[int64]bool) error {
	var names []string
	var company int64
	for id, a := range found {
		if left[id] || a.RevokedAt == nil || !a.UpdatedAt.Equal(*a.RevokedAt) {
			delete(found, id)
			continue
		}
		names, company = append(names, a.ExternalID), a.CompanyID
	}
	if len(names) == 0 {
		return nil
	}
	taken := map[string]bool{}
	isNamed, keys := s.db.In("a.external_id", 2, db.Texts("external_id", sortedUnique(names)))
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var name string
		err := r.Scan(&name)
		taken[name] = true
		return err
	}, `SELECT a.external_id FROM assignments a WHERE a.company_id = $1 AND `+isNamed+` AND a.revoked_at IS NULL`, company, keys)
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	for id, a := range found {
		if taken[a.ExternalID] {
			delete(found, id)
		}
		taken[a.ExternalID] = true // two revoked ones may have had the same name
	}
	return nil
}

func (s *Store) saveAction(ctx context.Context, tx db.Tx, box *outbox, plan *actionPlan, step *actionStep) error {
	b := &db.Batch{}
	if len(plan.events) > 0 { // rarely
		box.prepare(b, tx, len(plan.events), plan.caller.Company.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		b = &db.Batch{}
		box.events(b, tx.Now(), plan.events...)
	}
	if len(plan.changed) > 0 {
		s.updateActed(b, plan, tx.Now())
		s.insertActHistory(b, plan, tx.Now())
		box.audit(b, tx.Now(), plan.entry(step))
	}
	if step != nil {
		tally := decodeTally(step.job.Result)
		tally.Add(plan.results)
		step.progress.Result = tally
		s.noteOutcomes(b, step.job, plan.results, tx.Now())
		if err := queueJobProgress(b, tx.Now(), step.job, step.progress); err != nil {
			return err
		}
	}
	if b.Empty() {
		return nil
	}
	return tx.Send(ctx, b)
}

func (s *Store) updateActed(b *db.Batch, plan *actionPlan, now time.Time) {
	company := plan.caller.Company.ID
	rows, args := s.db.ValuesTable(3, db.Columns(plan.changed,
		db.IntColumn("key_id", func(a *actChange) int64 { return a.ID }),
		db.TimeColumn("new_deadline", func(a *actChange) time.Time { return a.Deadline }),
		db.BoolColumn("new_required", func(a *actChange) bool { return a.IsRequired }),
		db.TextColumn("new_status", func(a *actChange) domain.Status { return a.Status }),
		db.IntColumn("new_granted", func(a *actChange) int { return a.GrantedAttempts }),
		db.OptionalTimeColumn("new_completed", func(a *actChange) *time.Time { return a.CompletedAt }),
		db.OptionalTimeColumn("new_overdue", func(a *actChange) *time.Time { return a.OverdueAt }),
		db.OptionalTimeColumn("new_revoked", func(a *actChange) *time.Time { return a.RevokedAt }))...)
	b.Exec(`UPDATE assignments SET deadline = r.new_deadline, is_required = r.new_required, status = r.new_status,
			granted_attempts = r.new_granted, completed_at = r.new_completed, overdue_at = r.new_overdue, revoked_at = r.new_revoked,
			updated_at = $2
		FROM `+rows+` r WHERE assignments.company_id = $1 AND assignments.id = r.key_id`, append([]any{company, now}, args...)...)
	if plan.act.Kind == domain.ActRestore { // the bound of the live assignments no longer holds: see loadLiveAtMost
		rows, args := s.db.ValuesTable(2, db.Columns(plan.changed,
			db.IntColumn("key_employee", func(a *actChange) int64 { return a.EmployeeID }))...)
		b.Exec(`UPDATE assignments SET live_at_most = NULL WHERE company_id = $1 AND employee_id IN (SELECT r.key_employee FROM `+rows+` r)`,
			append([]any{company}, args...)...)
	}
}

func (s *Store) insertActHistory(b *db.Batch, plan *actionPlan, now time.Time) {
	rows, args := s.db.ValuesTable(6, db.Columns(plan.changed,
		db.IntColumn("key_id", func(a *actChange) int64 { return a.ID }),
		db.TextColumn("from_status", func(a *actChange) domain.Status { return a.from }),
		db.TextColumn("to_status", func(a *actChange) domain.Status { return a.Status }),
		db.TextColumn("detail", func(a *actChange) string { return a.detail }))...)
	by := plan.caller.Actor
	b.Exec(`INSERT INTO assignment_history (company_id, assignment_id, at, from_status, to_status, cause, actor_kind, actor, detail)
		SELECT $1, r.key_id, $2, r.from_status, r.to_status, CAST($3 AS text), CAST($4 AS text), CAST($5 AS text), r.detail FROM `+rows+` r`,
		append([]any{plan.caller.Company.ID, now, string(plan.act.Kind), string(by.Kind), by.Ref()}, args...)...)
}

// actActions are the actions of the audit log.
var actActions = map[domain.ActKind]string{
	domain.ActDeadline: "assignment.deadline_changed", domain.ActExtend: "assignment.deadline_changed",
	domain.ActRequired: "assignment.required_changed", domain.ActGrant: "assignment.attempt_granted",
	domain.ActRevoke: "assignment.revoked", domain.ActRestore: "assignment.restored",
}

// entry returns the one audit entry of an act, however many assignments it changed.
func (p *actionPlan) entry(step *actionStep) domain.AuditEntry {
	e := domain.AuditEntry{CompanyID: p.caller.Company.ID, Actor: p.caller.Actor, Action: actActions[p.act.Kind], RecordKind: "assignment"}
	if len(p.changed) == 1 {
		e.RecordID, e.EmployeeID, e.Detail = strconv.FormatInt(p.changed[0].ID, 10), p.changed[0].EmployeeID, p.changed[0].detail
		return e
	}
	e.RecordID = fmt.Sprintf("%d–%d", p.changed[0].ID, p.changed[len(p.changed)-1].ID)
	e.Detail = fmt.Sprintf("%d assignments.", len(p.changed))
	if step != nil {
		e.RecordKind, e.RecordID = "job", strconv.FormatInt(step.job.ID, 10)
	}
	return e
}
