package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func started(id string, assignment int64, at time.Time) domain.Activity {
	return domain.Activity{ID: id, AssignmentID: assignment, Type: domain.ActivityStarted, OccurredAt: at}
}

func progress(id string, assignment int64, at time.Time, percent domain.Points) domain.Activity {
	return domain.Activity{ID: id, AssignmentID: assignment, Type: domain.ActivityProgress, OccurredAt: at, Percent: &percent}
}

func ended(id string, assignment int64, at time.Time, score domain.Points) domain.Activity {
	return domain.Activity{ID: id, AssignmentID: assignment, Type: domain.ActivityAttemptFinished, OccurredAt: at, Score: &score}
}

// attempts returns the stored attempts of an assignment, one text for each.
func (f testCompany) attempts(id int64) []string {
	f.t.Helper()
	return texts(f.t, f.s, `SELECT CAST(number AS TEXT) || ' ' || coalesce(CAST(score AS TEXT), '-') || ' ' ||
		CASE WHEN passed IS NULL THEN 'open' WHEN passed THEN 'passed' ELSE 'not passed' END
		FROM assignment_attempts WHERE company_id = $1 AND assignment_id = $2 ORDER BY number`, f.c.Company.ID, id)
}

func (f testCompany) history(id int64) []string {
	f.t.Helper()
	return texts(f.t, f.s, `SELECT from_status || ' > ' || to_status || ' by ' || cause
		FROM assignment_history WHERE company_id = $1 AND assignment_id = $2 ORDER BY id`, f.c.Company.ID, id)
}

func TestActivities(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		a, noon := f.assign("A1", "E1", f.addAssessment()), before(s, time.Hour)
		at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
		waitUntil(t, s, a.UpdatedAt.Add(time.Millisecond))
		equal(t, "first attempt", f.report(started("1", a.ID, at(2)), progress("2", a.ID, at(3), 40_00), started("3", a.ID, at(1)), ended("4", a.ID, at(5), 79_99)),
			[]string{"started", "started", "started", "needs_retry"})
		got := f.assignment(a.ID)
		want := a
		want.Progress = domain.Progress{
			Status: domain.StatusNeedsRetry, Percent: 40_00, Score: ptr(domain.Points(79_99)), Attempts: 1,
			StartedAt: ptr(at(1)), AttemptAt: ptr(at(1)), EndedAt: ptr(at(5)), LastActivityAt: ptr(at(5)),
		}
		want.UpdatedAt = got.UpdatedAt
		equal(t, "after the first attempt", got, want)
		if !got.UpdatedAt.After(a.UpdatedAt) {
			t.Error("the change is not reported by updatedSince")
		}
		rows, stamp := f.attempts(a.ID), got.UpdatedAt
		waitUntil(t, s, stamp.Add(time.Millisecond))
		equal(t, "late, and repeated", f.report(progress("5", a.ID, at(4), 90_00), ended("4", a.ID, at(9), 100_00)), []string{"needs_retry", "needs_retry"})
		equal(t, "unchanged", f.assignment(a.ID), want)
		equal(t, "attempts", f.attempts(a.ID), rows)

		equal(t, "second attempt", f.report(started("6", a.ID, at(10)), ended("7", a.ID, at(11), 80_00)), []string{"started", "completed"})
		equal(t, "after the end", f.report(ended("8", a.ID, at(12), 1_00)), []string{"completed"})
		equal(t, "attempts", f.attempts(a.ID), []string{"1 7999 not passed", "2 8000 passed"})
		equal(t, "history", f.history(a.ID), []string{
			"assigned > started by started", "started > needs_retry by attempt_finished",
			"needs_retry > started by started", "started > completed by attempt_finished",
		})
		equal(t, "begun and ended", column[time.Time](t, s, `SELECT started_at FROM assignment_attempts UNION ALL SELECT ended_at FROM assignment_attempts ORDER BY 1`),
			[]time.Time{at(1), at(5), at(10), at(11)})
		equal(t, "events", f.events()[2:], []string{"assignment.completed A1"})
	})
}

// An activity that skips a step implies it, so the history holds no forbidden change.
func TestImpliedMoves(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		a, c := f.assign("A1", "E1", f.addAssessment()), f.assign("A2", "E1", f.addCourse(domain.Course{Name: "Course"}))
		// Without an instant both attempts end in the same millisecond; they are still two.
		equal(t, "two ends at once", f.report(ended("1", a.ID, time.Time{}, 10_00), ended("2", a.ID, time.Time{}, 10_00), progress("3", c.ID, time.Time{}, 100_00)),
			[]string{"needs_retry", "failed", "completed"})
		equal(t, "history of the exam", f.history(a.ID), []string{
			"assigned > started by attempt_finished", "started > needs_retry by attempt_finished",
			"needs_retry > started by attempt_finished", "started > failed by attempt_finished",
		})
		equal(t, "history of the course", f.history(c.ID), []string{"assigned > started by progress", "started > completed by progress"})
		equal(t, "attempts of the exam", f.attempts(a.ID), []string{"1 1000 not passed", "2 1000 not passed"})
		equal(t, "attempts of the course", f.attempts(c.ID), []string{"1 10000 passed"})
		equal(t, "events", f.events()[3:], []string{"assignment.failed A1", "assignment.completed A2"})
		if got := f.assignment(a.ID); got.CompletedAt == nil || got.CompletedAt.Before(a.AssignedAt) {
			t.Errorf("an activity without an instant happened at %v, want now", got.CompletedAt)
		}
	})
}

func TestActivitiesRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		exam := f.addAssessment()
		a, revoked := f.assign("A1", "E1", exam), f.assign("A2", "E1", exam)
		if err := s.Revoke(t.Context(), f.c, revoked.ID); err != nil {
			t.Fatal(err)
		}
		results, err := s.RecordActivities(t.Context(), []domain.ActivityItem{
			{Activity: started("1", 1<<40, s.Now())}, {Activity: started("2", revoked.ID, s.Now())},
			{Err: domain.Errorf(domain.CodeInvalid, "bad")}, {Activity: started("4", a.ID, s.Now())},
		})
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, "no such assignment", results[0].Err, domain.CodeAssignmentNotFound)
		wantCode(t, "a revoked assignment", results[1].Err, domain.CodeAssignmentRevoked)
		wantCode(t, "a bad item", results[2].Err, domain.CodeInvalid)
		if results[3].Err != nil || results[3].Status != domain.StatusStarted {
			t.Errorf("the valid item next to refused ones: %+v", results[3])
		}
		equal(t, "kept", texts(t, s, `SELECT id FROM activities`), []string{"4"})
		equal(t, "an id that was refused before", f.report(progress("1", a.ID, s.Now(), 5_00)), []string{"started"})
		equal(t, "counts now", f.assignment(a.ID).Percent, domain.Points(5_00))
		equal(t, "nothing at all", f.report(), []string{})
	})
}

// An id is applied once, whatever the assignment and the request.
func TestActivityIDsCountOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1")
		other.join("E1", "e1")
		unlimited := domain.Course{Name: "Unlimited", IsAssessment: true, PassMark: 80_00}
		a, b := f.assign("A1", "E1", f.addCourse(unlimited)), other.assign("A1", "E1", other.addCourse(unlimited))
		now := s.Now()
		equal(t, "twice in one request", f.report(ended("1", a.ID, now, 10_00), ended("1", a.ID, now, 10_00)), []string{"needs_retry", "needs_retry"})
		equal(t, "for another assignment", f.report(ended("1", b.ID, now, 90_00)), []string{"assigned"})
		race(16, func(i int) {
			id := []int64{a.ID, b.ID}[i%2]
			f.report(ended("race", id, now, 20_00), ended(fmt.Sprint("own", i), id, now, 30_00))
		})
		first, second := f.assignment(a.ID).Attempts, other.assignment(b.ID).Attempts
		equal(t, "attempts of both", first+second, 1+1+16)
		equal(t, "rows of attempts", number(t, s, `SELECT count(*) FROM assignment_attempts`), 18)
		equal(t, "activities", number(t, s, `SELECT count(*) FROM activities`), 18)
	})
}

func TestActivitiesTakeAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		seen, r := recordStatements(s)
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1")
		other.join("E1", "e1")
		ids := []int64{}
		for _, c := range []testCompany{f, other} {
			_, results := c.bulk(keys(numbered("A%d", 0, 50), []string{"E1"}, c.addAssessment())...)
			for _, res := range results {
				ids = append(ids, res.Assignment.ID)
			}
		}
		count := func(name string, n int) int {
			var items []domain.ActivityItem
			for i := range n {
				items = append(items, domain.ActivityItem{Activity: ended(fmt.Sprint(name, i), ids[i%len(ids)], time.Time{}, 90_00)})
			}
			return len(r.during(t, func() error {
				_, err := seen.RecordActivities(t.Context(), items)
				return err
			}))
		}
		if few, many := count("few", 2), count("many", 1000); few != many || many > 12 {
			t.Errorf("2 activities take %d statements, 1000 take %d", few, many)
		}
		equal(t, "completed", number(t, s, `SELECT count(*) FROM assignments WHERE status = 'completed'`), 100)
		equal(t, "events", number(t, s, `SELECT count(*) FROM events WHERE kind = 'assignment.completed'`), 100)
		equal(t, "activities", number(t, s, `SELECT count(*) FROM activities`), 1002)
	})
}
