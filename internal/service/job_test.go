package service_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

const countJob domain.JobKind = "test.count"

// countingStep notes the items of a job, two at a time.
func countingStep(s *store.Store, seen *[]int64) service.JobStep {
	return func(ctx context.Context, _ domain.Caller, job domain.Job) (domain.JobProgress, error) {
		after, _ := strconv.ParseInt(job.Cursor, 10, 64)
		items, err := s.JobItems(ctx, job, after, 2)
		if err != nil || len(items) == 0 {
			return domain.JobProgress{Cursor: job.Cursor, Finished: true}, err
		}
		for _, item := range items {
			*seen = append(*seen, item.ID)
			after = item.ID
		}
		return domain.JobProgress{Cursor: strconv.FormatInt(after, 10), Done: int64(len(items)), Result: len(*seen)}, nil
	}
}

func newJobs(s *store.Store) *service.Jobs { return service.NewJobs(s, slog.New(slog.DiscardHandler)) }

func TestJobContinuesWhereAnotherProcessStopped(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Acme")
		var seen []int64
		whole := countingStep(s, &seen)
		first := newJobs(s)
		steps := 0
		stopped := errors.New("the process was killed")
		first.Register(countJob, func(ctx context.Context, c domain.Caller, job domain.Job) (domain.JobProgress, error) {
			if steps++; steps > 1 {
				return domain.JobProgress{}, stopped
			}
			return whole(ctx, c, job)
		})
		job, err := first.Start(t.Context(), c, domain.NewJob{Kind: countJob, Items: []int64{5, 3, 1, 4, 2}})
		must(t, "start", err)
		must(t, "run", first.RunOpen(t.Context()))
		second := newJobs(s)
		second.Register(countJob, whole)
		must(t, "run again", second.RunOpen(t.Context()))
		if diff := cmp.Diff([]int64{1, 2, 3, 4, 5}, seen); diff != "" {
			t.Errorf("the items (-want +got):\n%s", diff)
		}
		job, err = second.Get(t.Context(), c, job.ID)
		must(t, "read the job", err)
		if job.Done != 5 || job.Total != 5 || job.Running() || string(job.Result) != "5" || job.RequestedBy != "test" {
			t.Errorf("the job is %+v, want it finished with 5 of 5", job)
		}
	})
}

func TestJobIsCanceledOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c, other := storetest.Company(t, s, "Acme"), storetest.Company(t, s, "Other")
		var seen []int64
		jobs := newJobs(s)
		jobs.Register(countJob, countingStep(s, &seen))
		job, err := jobs.Start(t.Context(), c, domain.NewJob{Kind: countJob, Items: []int64{1, 2, 3}})
		must(t, "start", err)
		if err := jobs.Cancel(t.Context(), other, job.ID); domain.CodeOf(err) != domain.CodeNotFound {
			t.Errorf("another company cancels: %v, want not_found", err)
		}
		must(t, "cancel", jobs.Cancel(t.Context(), c, job.ID))
		must(t, "cancel again", jobs.Cancel(t.Context(), c, job.ID))
		must(t, "run", jobs.RunOpen(t.Context()))
		if job, err = jobs.Get(t.Context(), c, job.ID); err != nil || len(seen) != 0 || job.CanceledAt == nil {
			t.Errorf("a canceled job: %+v, %v; worked on %v", job, err, seen)
		}
		if err := s.AdvanceJob(t.Context(), job, domain.JobProgress{Cursor: "9"}); !errors.Is(err, domain.ErrJobMoved) {
			t.Errorf("a step of a canceled job is saved: %v", err)
		}
		if _, err := jobs.Get(t.Context(), other, job.ID); domain.CodeOf(err) != domain.CodeNotFound {
			t.Errorf("another company reads it: %v, want not_found", err)
		}
	})
}

func TestJobThatKeepsFailingEnds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Acme")
		jobs := newJobs(s)
		jobs.Register(countJob, func(context.Context, domain.Caller, domain.Job) (domain.JobProgress, error) {
			return domain.JobProgress{}, errors.New("a defect")
		})
		job, err := jobs.Start(t.Context(), c, domain.NewJob{Kind: countJob, Total: 3})
		must(t, "start", err)
		for range 5 {
			must(t, "run", jobs.RunOpen(t.Context()))
		}
		if job, err = jobs.Get(t.Context(), c, job.ID); err != nil || job.Running() || job.Problem == "" {
			t.Errorf("after five failures: %+v, %v; want it ended with a problem", job, err)
		}
	})
}

func TestOpenJobsOfACompanyAreLimited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c, other := storetest.Company(t, s, "Acme"), storetest.Company(t, s, "Other")
		var seen []int64
		jobs := newJobs(s)
		jobs.Register(countJob, countingStep(s, &seen))
		for range domain.MaxOpenJobs {
			_, err := jobs.Start(t.Context(), c, domain.NewJob{Kind: countJob, Items: []int64{1}})
			must(t, "start", err)
		}
		if _, err := jobs.Start(t.Context(), c, domain.NewJob{Kind: countJob, Items: []int64{1}}); !errors.Is(err, domain.ErrTooManyJobs) {
			t.Errorf("one job too many: %v, want %v", err, domain.ErrTooManyJobs)
		}
		_, err := jobs.Start(t.Context(), other, domain.NewJob{Kind: countJob, Items: []int64{1}})
		must(t, "start a job of another company", err)
		must(t, "run", jobs.RunOpen(t.Context()))
		_, err = jobs.Start(t.Context(), c, domain.NewJob{Kind: countJob, Items: []int64{1}})
		must(t, "start after the others have finished", err)
	})
}

func TestJobsThatStartAtOnceStayWithinTheLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Acme")
		jobs := newJobs(s)
		var started, refused atomic.Int64
		var wg sync.WaitGroup
		for range domain.MaxOpenJobs + 10 {
			wg.Go(func() {
				_, err := jobs.Start(t.Context(), c, domain.NewJob{Kind: countJob, Items: []int64{1}})
				switch {
				case err == nil:
					started.Add(1)
				case errors.Is(err, domain.ErrTooManyJobs):
					refused.Add(1)
				default:
					t.Errorf("start: %v", err)
				}
			})
		}
		wg.Wait()
		if started.Load() != domain.MaxOpenJobs || refused.Load() != 10 {
			t.Errorf("%d jobs started and %d were refused, want %d and 10", started.Load(), refused.Load(), domain.MaxOpenJobs)
		}
	})
}
