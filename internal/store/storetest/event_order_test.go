package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// An employee and their assignments are one record. In the order of its events,
// occurredAt never falls, although the transactions that write them wait for one
// another.
func TestOccurredAtNeverFallsWithinARecord(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		exam, late := f.addAssessment(), before(s, time.Hour)
		for round := range 15 {
			id := fmt.Sprintf("E%d", round)
			f.provisionAll(id)
			var assignments []int64
			for i := range 4 {
				assignments = append(assignments, f.assignWithDeadline(fmt.Sprintf("%s-%d", id, i), id, exam, late).ID)
			}
			acts := []func() error{
				func() error { _, err := f.tryAssign(item(id+"-x", id, exam).New); return err },
				func() error { return f.erase(id) },
				func() error { f.sweep(3); return nil },
				func() error {
					_, err := f.patch(id, domain.EmployeePatch{Active: ptr(false)})
					return err
				},
			}
			for _, a := range assignments {
				acts = append(acts, func() error {
					f.report(ended(fmt.Sprintf("%s/%d", id, a), a, s.Now(), 90_00))
					return nil
				})
			}
			race(len(acts), func(i int) { _ = acts[i]() })
		}
		type event struct {
			employee int64
			kind     string
			at       time.Time
		}
		var events []event
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			var e event
			err := r.Scan(&e.employee, &e.kind, &e.at)
			events = append(events, e)
			return err
		}, `SELECT employee_id, kind, occurred_at FROM events WHERE company_id = $1 ORDER BY employee_id, id`, f.c.Company.ID)
		if err := s.Engine().Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
			t.Fatal(err)
		}
		if len(events) < 15*6 {
			t.Errorf("only %d events were written", len(events))
		}
		for i, e := range events {
			if i > 0 && events[i-1].employee == e.employee && e.at.Before(events[i-1].at) {
				t.Errorf("employee %d: %s at %v follows %s at %v", e.employee, e.kind, e.at, events[i-1].kind, events[i-1].at)
			}
		}
	})
}
