package storetest_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// outcomes does an act and returns what became of each assignment.
func (f testCompany) outcomes(act domain.AssignmentAction, ids ...int64) []string {
	f.t.Helper()
	results, err := f.s.ActOnAssignments(f.t.Context(), f.c, act, ids)
	if err != nil {
		f.t.Fatal(err)
	}
	out := make([]string, len(results))
	for i, r := range results {
		out[i] = r.Outcome
	}
	return out
}

func TestActsStayWithinTheCompany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1")
		other.provisionAll("E1")
		mine, theirs := f.assign("A", "E1", f.addAssessment()), other.assign("A", "E1", other.addAssessment())
		revoke := domain.AssignmentAction{Kind: domain.ActRevoke}
		job, err := s.AddActJob(t.Context(), f.c, domain.NewJob{Kind: "act", Input: revoke}, domain.AssignmentPick{All: true})
		wantNoError(t, "start an act on all", err)
		equal(t, "what the act is on", column[int64](t, s, `SELECT record_id FROM job_items WHERE job_id = $1`, job.ID), []int64{mine.ID})
		equal(t, "outcomes", f.outcomes(revoke, mine.ID, theirs.ID, 1<<40), []string{"done", "assignment_not_found", "assignment_not_found"})
		equal(t, "again", f.outcomes(revoke, mine.ID), []string{"unchanged"})
		equal(t, "the other company's", other.assignment(theirs.ID).RevokedAt, (*time.Time)(nil))
		count, err := f.s.CountMatching(t.Context(), f.c.Company.ID, domain.AssignmentPick{IDs: []int64{theirs.ID}}, revoke)
		if err != nil || count.Matching != 0 {
			t.Errorf("%+v, %v: another company's assignments are counted", count, err)
		}
	})
}

// An attempt granted to several takes each that has failed to needs_retry, and leaves
// the others as they are.
func TestGrantedAttemptsOfMany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1", "E2", "E3", "E4")
		exam := f.addCourse(domain.Course{Name: "Exam", IsAssessment: true, PassMark: 80_00, AllowedAttempts: 1})
		var ids []int64
		for n, score := range []domain.Points{10_00, 20_00, 95_00} {
			a := f.assign("A"+strconv.Itoa(n), "E"+strconv.Itoa(n+1), exam)
			f.report(domain.Activity{ID: "t" + strconv.Itoa(n), AssignmentID: a.ID, Type: domain.ActivityAttemptFinished, Score: &score, OccurredAt: s.Now()})
			ids = append(ids, a.ID)
		}
		ids = append(ids, f.assign("A3", "E4", exam).ID)
		statuses := func() (out []domain.Status) {
			for _, id := range ids {
				out = append(out, f.assignment(id).Status)
			}
			return out
		}
		equal(t, "statuses before", statuses(), []domain.Status{domain.StatusFailed, domain.StatusFailed, domain.StatusCompleted, domain.StatusAssigned})
		grant := domain.AssignmentAction{Kind: domain.ActGrant}
		count, err := s.CountMatching(t.Context(), f.c.Company.ID, domain.AssignmentPick{IDs: ids}, grant)
		if err != nil || count.Matching != 4 || count.Affected != 2 {
			t.Errorf("the preview is %+v, %v; want 2 of 4", count, err)
		}
		equal(t, "outcomes", f.outcomes(grant, ids...), []string{"done", "done", "idempotency_conflict", "idempotency_conflict"})
		equal(t, "statuses after", statuses(), []domain.Status{domain.StatusNeedsRetry, domain.StatusNeedsRetry, domain.StatusCompleted, domain.StatusAssigned})
		equal(t, "the time of completion", f.assignment(ids[0]).CompletedAt, (*time.Time)(nil))
		equal(t, "again", f.outcomes(grant, ids[0]), []string{"idempotency_conflict"})
		passed := domain.Points(95_00)
		f.report(domain.Activity{ID: "again", AssignmentID: ids[0], Type: domain.ActivityAttemptFinished, Score: &passed, OccurredAt: s.Now()})
		equal(t, "the status after another attempt", f.assignment(ids[0]).Status, domain.StatusCompleted)
		history, err := s.AssignmentHistory(t.Context(), f.c.Company.ID, ids[1])
		if err != nil || len(history) == 0 || history[len(history)-1].Cause != string(domain.ActGrant) {
			t.Errorf("the history is %+v, %v; want it to end with the grant", history, err)
		}
	})
}

// A deadline that moves into the future un-marks overdue, and passes again.
func TestMovedDeadlineBecomesOverdueAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		a := f.assign("A", "E1", f.addAssessment())
		past, future := s.Now().Add(-time.Hour), s.Now().Add(time.Hour)
		for round := range 2 {
			f.outcomes(domain.AssignmentAction{Kind: domain.ActDeadline, Deadline: &past}, a.ID)
			if n, err := s.MarkOverdue(t.Context(), 10); err != nil || n != 1 {
				t.Fatalf("round %d: %d became overdue, %v; want 1", round, n, err)
			}
			f.outcomes(domain.AssignmentAction{Kind: domain.ActDeadline, Deadline: &future}, a.ID)
			equal(t, "the mark", f.assignment(a.ID).OverdueAt, (*time.Time)(nil))
		}
		history, err := s.AssignmentHistory(t.Context(), f.c.Company.ID, a.ID)
		if err != nil || len(history) != 4 || history[3].By != "test" {
			t.Errorf("history %+v, %v; want 4 changes by the token", history, err)
		}
		for _, h := range f.record(a.EmployeeID).History {
			if h.Via == string(domain.ActorPlatform) {
				t.Errorf("the person's history has %q by the platform, which did nothing", h.Action)
			}
		}
	})
}

// A step that was done but whose process died before it knew is not done again.
func TestAssignJobIsDoneOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		for n := range 7 {
			f.provisionAll("E" + strconv.Itoa(n))
		}
		in := domain.AssignCourses{CourseIDs: []int64{f.addAssessment(), f.addAssessment()}}
		job, err := s.AddAssignJob(t.Context(), f.c, domain.NewJob{Kind: "assign", Input: in}, domain.People{All: true})
		if err != nil || job.Total != 7 {
			t.Fatalf("%+v, %v; want 7 people", job, err)
		}
		for job.Running() {
			if err := s.StepAssign(t.Context(), f.c, in, job, 3); err != nil {
				t.Fatal(err)
			}
			if err := s.StepAssign(t.Context(), f.c, in, job, 3); domain.CodeOf(err) != domain.CodeConflict {
				t.Fatalf("a step runs twice: %v", err)
			}
			if job, err = s.Job(t.Context(), f.c.Company.ID, job.ID); err != nil {
				t.Fatal(err)
			}
		}
		counts, err := s.TabCounts(t.Context(), f.c.Company.ID, domain.AssignmentQuery{})
		if err != nil || counts.N[domain.TabAll] != 14 || string(job.Result) != `{"done":14}` {
			t.Errorf("%v assignments, result %s, %v; want 14", counts, job.Result, err)
		}
	})
}

// The assignment itself names who made it, so that the answer stays when the audit
// log has been emptied. One that an older program made is looked up there.
func TestAssignedByOutlivesTheAuditLog(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1", "E2", "E3")
		course := f.addAssessment()
		byToken, old := f.assign("A1", "E1", course), f.assign("A2", "E2", course)
		imported := f
		imported.c.Actor.RequestID = domain.ImportRequest(7)
		byImport := imported.assign("A3", "E3", course)
		change(t, s, `UPDATE assignments SET assigned_by = NULL, assigned_via = NULL WHERE id = $1`, old.ID)
		want := func(a domain.Assignment, by, via string) {
			t.Helper()
			gotBy, gotVia, err := s.AssignedBy(t.Context(), a)
			if err != nil || gotBy != by || gotVia != via {
				t.Errorf("assignment %s was made by %q via %q, %v; want %q via %q", a.ExternalID, gotBy, gotVia, err, by, via)
			}
		}
		want(old, f.c.Actor.Label, string(f.c.Actor.Kind))
		change(t, s, `DELETE FROM audit_entries WHERE company_id = $1`, f.c.Company.ID)
		want(byToken, f.c.Actor.Label, string(f.c.Actor.Kind))
		want(byImport, f.c.Actor.Label, domain.ViaImport)
		want(old, "", "")
	})
}

// A deadline that has passed is moved before a sweep has come by: its event is sent all
// the same, with the old deadline, and another one only if the new deadline passes later.
func TestMovedDeadlineKeepsItsOverdueEvent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		exam, passed, past := f.addAssessment(), before(s, time.Minute), before(s, time.Hour)
		moved, extended := f.assignWithDeadline("moved", "E1", exam, passed), f.assignWithDeadline("extended", "E1", exam, passed)
		still := f.assignWithDeadline("still late", "E1", exam, passed)
		f.assignWithDeadline("swept", "E1", exam, passed)
		optional := f.assignWithDeadline("optional", "E1", exam, passed)
		ahead := f.assignWithDeadline("ahead", "E1", exam, before(s, -time.Hour))
		events := len(f.events())
		later := before(s, -2*time.Hour)
		f.outcomes(domain.AssignmentAction{Kind: domain.ActDeadline, Deadline: &later}, moved.ID, ahead.ID)
		f.outcomes(domain.AssignmentAction{Kind: domain.ActExtend, Days: 1}, extended.ID)
		f.outcomes(domain.AssignmentAction{Kind: domain.ActDeadline, Deadline: &past}, still.ID)
		f.outcomes(domain.AssignmentAction{Kind: domain.ActRequired, Required: true}, optional.ID)
		equal(t, "events of the moves", f.events()[events:],
			[]string{"assignment.overdue moved", "assignment.overdue extended", "assignment.overdue still late"})
		old := `"deadline":"` + domain.FormatInstant(passed) + `"`
		if bodies := eventBodies(t, s, "assignment.overdue"); len(mentions(bodies, old)) != 3 || len(mentions(bodies, `"isOverdue":true`)) != 3 {
			t.Errorf("the events do not show the assignments with their old deadlines: %v", bodies)
		}
		equal(t, "swept", f.sweep(10), 2)
		soon := s.Now().Add(200 * time.Millisecond)
		f.outcomes(domain.AssignmentAction{Kind: domain.ActDeadline, Deadline: &soon}, moved.ID, ahead.ID)
		waitUntil(t, s, soon)
		equal(t, "swept after the new deadline", f.sweep(10), 2)
		equal(t, "all events", mentions(f.events(), "overdue moved"), []string{"assignment.overdue moved", "assignment.overdue moved"})
		if f.assignment(extended.ID).OverdueAt != nil || f.assignment(still.ID).OverdueAt == nil {
			t.Error("the assignment with a new deadline is marked as overdue, or the late one is not")
		}
	})
}
