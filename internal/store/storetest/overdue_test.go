package storetest_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// assignWithDeadline creates an assignment with a deadline.
func (f testCompany) assignWithDeadline(externalID, employee string, course int64, deadline time.Time) domain.Assignment {
	f.t.Helper()
	a, err := f.tryAssign(domain.NewAssignment{ExternalID: externalID, EmployeeExternalID: employee, CourseID: course, Deadline: &deadline})
	if err != nil {
		f.t.Fatalf("assign %s: %v", externalID, err)
	}
	return a
}

func (f testCompany) sweep(limit int) int {
	f.t.Helper()
	n, err := f.s.MarkOverdue(f.t.Context(), limit)
	if err != nil {
		f.t.Error("sweep:", err)
	}
	return n
}

func TestOverdue(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1", "leaves")
		other.join("E1", "e1")
		exam, past := f.addAssessment(), before(s, time.Hour)
		deadline := s.Now().Add(40 * time.Millisecond)
		soon := f.assignWithDeadline("soon", "E1", exam, deadline)
		later := f.assignWithDeadline("later", "E1", exam, before(s, -time.Hour))
		done, revoked := f.assign("done", "E1", exam), f.assignWithDeadline("revoked", "E1", exam, deadline)
		f.assignWithDeadline("leaves", "leaves", exam, deadline)
		theirs := other.assignWithDeadline("theirs", "E1", other.addAssessment(), past)
		f.report(ended("1", done.ID, s.Now(), 90_00))
		change(t, s, `UPDATE assignments SET deadline = $1 WHERE id = $2`, deadline, done.ID)
		if err := s.Revoke(t.Context(), f.c, revoked.ID); err != nil {
			t.Fatal(err)
		}
		f.offboard("leaves")
		waitUntil(t, s, deadline)
		// Every read reports it from that instant on, whether a sweep has run or not.
		if got := f.assignment(soon.ID); !got.Overdue(s.Now()) || got.OverdueAt != nil || got.Overdue(deadline.Add(-time.Millisecond)) {
			t.Errorf("the assignment at its deadline: %+v", got)
		}
		watermark, err := s.Engine().Watermark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		events := len(f.events())
		equal(t, "swept", f.sweep(10), 2)
		equal(t, "swept again", f.sweep(10), 0)
		equal(t, "events", f.events()[events:], []string{"assignment.overdue soon"})
		equal(t, "the other company's", mentions(other.events(), "overdue"), []string{"assignment.overdue theirs"})
		list, err := s.Assignments(t.Context(), f.c.Company.ID, domain.AssignmentFilter{UpdatedSince: &watermark}, domain.PageRequest{Number: 1, Limit: 10})
		if err != nil || len(list.Items) == 0 || list.Items[len(list.Items)-1].ID != soon.ID {
			t.Errorf("the list of changes: %+v, %v", list, err)
		}
		marked := f.assignment(soon.ID)
		if marked.OverdueAt == nil || *marked.OverdueAt != marked.UpdatedAt || !marked.UpdatedAt.After(soon.UpdatedAt) {
			t.Errorf("the marked assignment: %+v", marked)
		}
		equal(t, "not due yet", f.assignment(later.ID), later)
		equal(t, "the other company's is marked", other.assignment(theirs.ID).OverdueAt != nil, true)

		// A deadline that is moved and passes again sends another event.
		change(t, s, `UPDATE assignments SET deadline = $1, overdue_at = NULL WHERE id = $2`, past, soon.ID)
		equal(t, "swept after the move", f.sweep(10), 1)
		equal(t, "events", mentions(f.events(), "overdue"), []string{"assignment.overdue soon", "assignment.overdue soon"})
	})
}

func TestManySweepers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		past := before(s, time.Minute)
		for _, c := range []testCompany{f, other} {
			c.join("E1", "e1")
			items := keys(numbered("A%02d", 0, 60), []string{"E1"}, c.addAssessment())
			for i := range items {
				items[i].New.Deadline = &past
			}
			c.bulk(items...)
			storetest.Endpoint(t, s, c.c.Company.ID)
		}
		equal(t, "no more than asked for", f.sweep(7), 7)
		marked := make([]int, 6)
		race(len(marked), func(i int) {
			// A sweep that finds all rows locked ends; the others go on.
			for n := f.sweep(10); n > 0; n = f.sweep(10) {
				marked[i] += n
			}
		})
		total := 7
		for _, n := range marked {
			total += n
		}
		for n := f.sweep(10); n > 0; n = f.sweep(10) {
			total += n
		}
		equal(t, "marked", total, 120)
		equal(t, "events", number(t, s, `SELECT count(*) FROM events WHERE kind = 'assignment.overdue'`), 120)
		equal(t, "of as many assignments", number(t, s, `SELECT count(DISTINCT assignment_id) FROM events WHERE kind = 'assignment.overdue'`), 120)
		equal(t, "deliveries", number(t, s, `SELECT count(*) FROM deliveries`), 120)
	})
}

// An assignment that is completed after its deadline, but before a sweep, was overdue.
func TestOverdueIsSentBeforeCompleted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		exam := f.addAssessment()
		a := f.assignWithDeadline("late", "E1", exam, before(s, time.Minute))
		onTime := f.assignWithDeadline("on time", "E1", exam, before(s, -time.Hour))
		events := len(f.events())
		f.report(started("1", a.ID, s.Now()), ended("2", a.ID, s.Now(), 90_00), ended("3", onTime.ID, s.Now(), 90_00))
		equal(t, "events", f.events()[events:],
			[]string{"assignment.overdue late", "assignment.completed late", "assignment.completed on time"})
		equal(t, "swept afterwards", f.sweep(10), 0)
		body := eventBodies(t, s, "assignment.overdue")
		equal(t, "the overdue event shows the assignment before its completion",
			len(mentions(body, `"status":"started","statusCategory":"overdue","isOverdue":true`)), 1)
		got := f.assignment(a.ID)
		if got.OverdueAt == nil || got.Status != domain.StatusCompleted || got.Overdue(s.Now()) {
			t.Errorf("the assignment: %+v", got)
		}
	})
}
