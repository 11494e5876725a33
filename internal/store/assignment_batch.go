package store

import (
	"context"
	"errors"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Assign creates assignments in one transaction, whose number of statements does not
// depend on the number of items. An item that fails does not affect the others. The
// results are in the order of the items. Error codes of an item: employee_not_found,
// employee_offboarded, course_not_found, wrong_company, course_archived,
// idempotency_conflict, too_many_assignments.
//
// Concurrent calls with a single item share a transaction if they come from the same
// caller: that takes about half of the time (BenchmarkAssignBatching).
func (s *Store) Assign(ctx context.Context, c domain.Caller, items []domain.BulkItem) ([]domain.BulkResult, error) {
	request := assignRequest{c, items}
	if len(items) == 1 {
		return s.assigns.Do(ctx, assignKey{c.Company.ID, c.Actor.Ref(), c.Actor.Via()}, request)
	}
	results, err := s.assign(ctx, []assignRequest{request})
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// assignKey identifies a caller. Only requests with the same key share a transaction,
// because all rows that it writes name the same caller.
type assignKey struct {
	company int64
	by, via string // domain.Actor.Ref and Via
}

type assignRequest struct {
	domain.Caller
	items []domain.BulkItem
}

// assign carries out requests, at least one, with the same assignKey in one transaction.
func (s *Store) assign(ctx context.Context, requests []assignRequest) ([][]domain.BulkResult, error) {
	out := make([][]domain.BulkResult, len(requests))
	company := requests[0].Company.ID
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		plan := newAssignPlan(requests)
		b := &db.Batch{}
		limitLockWait(b, s.db, len(requests))
		plan.load(b, s.db, company)
		tx.IDs(b, "assignment_ids", plan.validItems, &plan.ids)
		box.prepare(b, tx, plan.validItems, company)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if err := plan.findFormer(ctx, tx, s.db, company); err != nil {
			return err
		}
		if err := plan.countNearLimit(ctx, tx, s.db, company); err != nil {
			return err
		}
		var entries []domain.AuditEntry
		for i, r := range requests {
			before := len(plan.created)
			out[i] = plan.decide(r.items, tx.Now())
			if created := plan.created[before:]; len(created) > 0 {
				entries = append(entries, assignEntry(r.Caller, created))
			}
		}
		if len(plan.created) > 0 {
			last := &db.Batch{}
			s.insertAssignments(last, plan, requests[0].Actor)
			box.audit(last, tx.Now(), entries...)
			box.events(last, tx.Now(), plan.events(tx.Now())...)
			tx.SendAndCommit(last)
		}
		return nil
	})
	if len(requests) > 1 && errors.Is(err, db.ErrLocked) {
		return nil, batch.ErrSplit // a lock that one request waits for must not hold up the others
	}
	return out, err
}
