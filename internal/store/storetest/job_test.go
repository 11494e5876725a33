package storetest_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func (f testCompany) addJob(items ...int64) domain.Job {
	f.t.Helper()
	job, err := f.s.AddJob(f.t.Context(), f.c, domain.NewJob{Kind: "test", Input: map[string]int{"n": 1}, Items: items})
	wantNoError(f.t, "add a job", err)
	return job
}

func (f testCompany) job(id int64) domain.Job {
	f.t.Helper()
	job, err := f.s.Job(f.t.Context(), f.c.Company.ID, id)
	wantNoError(f.t, "read a job", err)
	return job
}

// jobItems returns the records of a job with their outcomes.
func (f testCompany) jobItems(job domain.Job, after int64, limit int) []string {
	f.t.Helper()
	items, err := f.s.JobItems(f.t.Context(), job, after, limit)
	wantNoError(f.t, "read the items", err)
	out := []string{}
	for _, item := range items {
		out = append(out, strconv.FormatInt(item.ID, 10)+" "+item.Outcome)
	}
	return out
}

func TestJobsOfACompany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		t.Run("steps and failures", func(t *testing.T) { testJobs(t, s) })
		t.Run("cancellation", func(t *testing.T) { testJobsAreCanceled(t, s) })
	})
}

func testJobs(t *testing.T, s *store.Store) {
	f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
	theirs := other.addJob(1)
	made := f.addJob(30, 10, 20, 10)
	job := f.job(made.ID)
	equal(t, "the job", []string{string(job.Kind), string(job.Input), string(job.Result), job.RequestedBy}, []string{"test", `{"n":1}`, "null", "test"})
	equal(t, "its records, each once and in order", f.jobItems(job, 0, 10), []string{"10 ", "20 ", "30 "})
	equal(t, "the next of them", f.jobItems(job, 10, 1), []string{"20 "})
	_, err := s.Job(ctx, f.c.Company.ID, theirs.ID)
	wantCode(t, "the job of another company", err, domain.CodeNotFound)

	wantNoError(t, "a failure", s.RecordJobFailure(ctx, job, "no luck", 2))
	if got := f.job(job.ID); !got.Running() || got.Problem != "" {
		t.Errorf("after one failure: %+v", got)
	}
	wantNoError(t, "a step", s.AdvanceJob(ctx, job, domain.JobProgress{Cursor: "10", Done: 1}))
	wantNoError(t, "a failure after a step", s.RecordJobFailure(ctx, job, "no luck", 2))
	if got := f.job(job.ID); !got.Running() || got.Done != 1 {
		t.Errorf("after a failure, a step and a failure: %+v", got)
	}
	wantNoError(t, "the second failure in a row", s.RecordJobFailure(ctx, job, "no luck", 2))
	ended := f.job(job.ID)
	if ended.Running() || ended.Problem != "no luck" {
		t.Errorf("after two failures in a row: %+v", ended)
	}
	if err := s.AdvanceJob(ctx, ended, domain.JobProgress{Cursor: "20"}); !errors.Is(err, domain.ErrJobMoved) {
		t.Errorf("a step of a job that has ended: %v", err)
	}
	wantNoError(t, "a failure of a job that has ended", s.RecordJobFailure(ctx, job, "later", 1))
	equal(t, "its problem", f.job(job.ID).Problem, "no luck")
	if got := other.job(theirs.ID); !got.Running() {
		t.Errorf("the job of another company: %+v", got)
	}
}

func testJobsAreCanceled(t *testing.T, s *store.Store) {
	f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
	job, theirs := f.addJob(1, 2), other.addJob(1)
	wantCode(t, "cancel the job of another company", s.CancelJob(ctx, f.c, theirs.ID), domain.CodeNotFound)
	wantNoError(t, "cancel", s.CancelJob(ctx, f.c, job.ID))
	wantNoError(t, "cancel twice", s.CancelJob(ctx, f.c, job.ID))
	got := f.job(job.ID)
	if got.Running() || got.CanceledAt == nil || !got.CanceledAt.Equal(*got.FinishedAt) {
		t.Errorf("the canceled job is %+v", got)
	}
	if err := s.AdvanceJob(ctx, job, domain.JobProgress{Cursor: "1"}); !errors.Is(err, domain.ErrJobMoved) {
		t.Errorf("a step of a canceled job: %v", err)
	}
	if got = other.job(theirs.ID); !got.Running() || got.CanceledAt != nil {
		t.Errorf("the job of another company is %+v", got)
	}
	equal(t, "audit", f.audit(), []string{"job.canceled"})
	equal(t, "audit of the other company", other.audit(), []string{})
}

func TestFinishedJobsExpire(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
		limit := before(s, 24*time.Hour)
		const step = 10
		for range step + 3 {
			wantNoError(t, "cancel", s.CancelJob(ctx, f.c, f.addJob(1, 2).ID))
		}
		change(t, s, `UPDATE jobs SET finished_at = $1`, limit.Add(-time.Millisecond))
		running, finished := f.addJob(1), other.addJob(1, 2)
		wantNoError(t, "cancel", s.CancelJob(ctx, other.c, finished.ID))
		change(t, s, `UPDATE jobs SET finished_at = $1 WHERE id = $2`, limit, finished.ID)
		for _, want := range []bool{true, false, false} {
			more, err := s.ExpireJobs(ctx, limit)
			if err != nil || more != want {
				t.Errorf("there are more: %v, %v; want %v", more, err, want)
			}
		}
		equal(t, "jobs that are left", column[int64](t, s, `SELECT id FROM jobs ORDER BY id`), []int64{running.ID, finished.ID})
		equal(t, "their records", texts(t, s, `SELECT job_id || ' ' || record_id FROM job_items ORDER BY job_id, record_id`),
			[]string{fmt.Sprint(running.ID, " 1"), fmt.Sprint(finished.ID, " 1"), fmt.Sprint(finished.ID, " 2")})
	})
}

// A revocation of many is undone where nothing has happened since.
func TestRevokedAreRestored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
		f.provisionAll("E1", "E2", "E3")
		other.provisionAll("E1")
		exam := f.addAssessment()
		elsewhere := other.assign("A0", "E1", other.addAssessment())
		a := f.assign("A1", "E1", exam)
		left, taken, kept := f.assign("A2", "E2", exam), f.assign("A3", "E3", exam), f.assign("A4", "E3", exam)
		run := func(act domain.AssignmentAction, job domain.Job) domain.Job {
			t.Helper()
			for job.Running() {
				wantNoError(t, "step", s.StepAction(ctx, f.c, act, job, 2))
				job = f.job(job.ID)
			}
			return job
		}
		revoke, restore := domain.AssignmentAction{Kind: domain.ActRevoke}, domain.AssignmentAction{Kind: domain.ActRestore}
		equal(t, "one that is revoked before", f.outcomes(revoke, kept.ID), []string{domain.OutcomeDone})
		job, err := s.AddJob(ctx, f.c, domain.NewJob{Kind: "act", Input: revoke, Items: []int64{a.ID, left.ID, taken.ID, kept.ID, elsewhere.ID}})
		wantNoError(t, "add", err)
		job = run(revoke, job)
		equal(t, "what was revoked", f.jobItems(job, 0, 10), []string{
			fmt.Sprint(elsewhere.ID, " assignment_not_found"), fmt.Sprint(a.ID, " done"), fmt.Sprint(left.ID, " done"),
			fmt.Sprint(taken.ID, " done"), fmt.Sprint(kept.ID, " unchanged"),
		})
		f.offboard("E2")
		again := f.assign("A3", "E3", exam)

		undo, err := s.AddUndoJob(ctx, f.c, domain.NewJob{Kind: "act", Input: restore}, job)
		wantNoError(t, "add the undoing", err)
		equal(t, "records to restore", undo.Total, int64(3))
		undo = run(restore, undo)
		equal(t, "what was restored", f.jobItems(undo, 0, 10), []string{fmt.Sprint(a.ID, " done"), fmt.Sprint(left.ID, " changed"), fmt.Sprint(taken.ID, " changed")})
		equal(t, "the tally", string(undo.Result), `{"changed":2,"done":1}`)
		live := column[int64](t, s, `SELECT id FROM assignments WHERE revoked_at IS NULL ORDER BY id`)
		equal(t, "live assignments", live, []int64{elsewhere.ID, a.ID, again.ID})
		if bound := column[*int64](t, s, `SELECT live_at_most FROM assignments WHERE id = $1`, a.ID); bound[0] != nil {
			t.Errorf("the bound of the employee's live assignments is still %d", *bound[0])
		}
		equal(t, "assigning to who has some restored", f.assign("A5", "E1", exam).ExternalID, "A5")
	})
}
