package storetest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func (f testCompany) record(id int64) domain.EmployeeRecord {
	f.t.Helper()
	out, err := f.s.EmployeeRecord(f.t.Context(), f.c.Company.ID, id)
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// did returns the actions of a history, the oldest first.
func did(e domain.EmployeeRecord) []string {
	out := []string{}
	for i := range e.History {
		out = append(out, e.History[len(e.History)-1-i].Action)
	}
	return out
}

func TestEmployeeRecordShowsTheHistory(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		exam, id := f.addAssessment(), f.employee("E1").ID
		step := func() { waitUntil(t, s, s.Now().Add(2*time.Millisecond)) }
		step()
		f.bulk(keys([]string{"A1", "A2"}, []string{"E1"}, exam)...)
		step()
		f.mustPatch("E1", domain.EmployeePatch{Tags: ptr([]string{"night"})})
		step()
		list := f.record(id).Assignments
		f.report(started("1", list[0].ID, s.Now()))
		step()
		if err := s.Revoke(t.Context(), f.c, list[1].ID); err != nil {
			t.Fatal(err)
		}
		e := f.record(id)
		equal(t, "history", did(e), []string{"employee.provisioned", "assignment.created", "assignment.created", "employee.changed", "assignment.started", "assignment.revoked"})
		if e.Assigned != 1 || e.Open != 1 || e.History[0].Via != string(f.c.Actor.Kind) || e.History[0].CourseName == "" {
			t.Errorf("the record is %+v", e)
		}
		if err := s.ExpireAudit(t.Context(), s.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		equal(t, "history after the retention", len(f.record(id).History), 6)
		if err := s.DeleteEmployeeByID(t.Context(), f.c, id); err != nil {
			t.Fatal(err)
		}
		if err := s.ExpireAudit(t.Context(), s.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		left := column[int64](t, s, `SELECT count(*) FROM audit_entries WHERE company_id = $1`, f.c.Company.ID)
		equal(t, "entries of an erased person after the retention", left, []int64{0})
	})
}

// An act on several assignments has one entry in the audit log, and one in the history of
// each of their people.
func TestEmployeeRecordShowsWhatWasDoneTogether(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1", "E2")
		exam, id := f.addAssessment(), f.employee("E1").ID
		f.bulk(keys([]string{"A1", "A2"}, []string{"E1"}, exam)...)
		other := f.assign("A3", "E2", exam)
		first := f.record(id).Assignments
		act := func(kind domain.ActKind, days int, ids ...int64) {
			waitUntil(t, s, s.Now().Add(2*time.Millisecond))
			if _, err := s.ActOnAssignments(t.Context(), f.c, domain.AssignmentAction{Kind: kind, Days: days}, ids); err != nil {
				t.Fatal(err)
			}
		}
		act(domain.ActExtend, 3, first[0].ID, first[1].ID, other.ID)
		act(domain.ActExtend, 3, first[1].ID)
		act(domain.ActRevoke, 0, first[0].ID, other.ID)
		e := f.record(id)
		equal(t, "history", did(e)[3:], []string{
			"assignment.deadline_changed", "assignment.deadline_changed", "assignment.deadline_changed", "assignment.revoked",
		})
		for _, h := range e.History[:4] {
			if h.Via != string(f.c.Actor.Kind) || h.Actor != f.c.Actor.Label || h.CourseName == "" {
				t.Errorf("the entry is %+v", h)
			}
		}
	})
}

func TestPlannedOffboardingHappensOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1", "E2")
		id, other := f.employee("E1").ID, f.employee("E2").ID
		past, future := before(s, time.Minute), s.Now().Add(time.Hour)
		for _, plan := range []struct {
			id int64
			at *time.Time
		}{{id, &future}, {id, &past}, {other, &past}, {other, nil}} {
			if err := s.PlanOffboarding(t.Context(), f.c, plan.id, plan.at); err != nil {
				t.Fatal(err)
			}
		}
		events := len(f.events())
		var replicas sync.WaitGroup
		for range 4 {
			replicas.Go(func() {
				if _, err := s.OffboardDue(t.Context(), 10); err != nil {
					t.Error(err)
				}
			})
		}
		replicas.Wait()
		equal(t, "events", f.events()[events:], []string{"employee.removed E1"})
		if e := f.record(id); e.LeftAt == nil || e.Leaving != nil {
			t.Errorf("the employee left at %v, plan %v", e.LeftAt, e.Leaving)
		}
		if e := f.record(other); e.LeftAt != nil {
			t.Error("a canceled plan was carried out")
		}
		wantCode(t, "plan for a former employee", s.PlanOffboarding(t.Context(), f.c, id, &future), domain.CodeEmployeeOffboarded)
		wantCode(t, "plan for nobody", s.PlanOffboarding(t.Context(), f.c, 1<<40, &future), domain.CodeEmployeeNotFound)
	})
}
