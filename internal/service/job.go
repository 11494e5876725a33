package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// JobStore keeps background work.
type JobStore interface {
	LeaseStore
	AddJob(ctx context.Context, c domain.Caller, in domain.NewJob) (domain.Job, error)
	Job(ctx context.Context, company, id int64) (domain.Job, error)
	OpenJobs(ctx context.Context) ([]domain.Job, error)
	RecentJobs(ctx context.Context, company int64, since time.Time, limit int) ([]domain.Job, error)
	AdvanceJob(ctx context.Context, j domain.Job, p domain.JobProgress) error
	RecordJobFailure(ctx context.Context, j domain.Job, problem string, maxFailures int) error
	CancelJob(ctx context.Context, c domain.Caller, id int64) error
	ExpireJobs(ctx context.Context, before time.Time) (more bool, err error)
	Company(ctx context.Context, id int64) (domain.Company, error)
	Now() time.Time
}

// JobStep does the next part of a job for the caller who started it, in a few
// seconds at most, and returns how far it came. A step runs again after a crash that
// came before its progress was saved. So it either may be repeated without a second
// effect, or it saves its progress in the transaction that does its work.
type JobStep func(ctx context.Context, c domain.Caller, job domain.Job) (domain.JobProgress, error)

const (
	jobPoll        = 10 * time.Second // how often to look for jobs that another process started or left unfinished
	maxJobFailures = 5                // failures of a step in a row that end its job
	jobRetention   = 30 * 24 * time.Hour
)

// Jobs runs the background work of companies. Each kind of work registers its step; one
// replica at a time does the steps of all open jobs in turn.
type Jobs struct {
	store JobStore
	steps map[domain.JobKind]JobStep
	wake  chan struct{}
	owner string
	log   *slog.Logger
}

// NewJobs returns Jobs that know no kind of work yet: see Register.
func NewJobs(store JobStore, log *slog.Logger) *Jobs {
	return &Jobs{store: store, steps: map[domain.JobKind]JobStep{}, wake: make(chan struct{}, 1), owner: uuid.NewString(), log: log}
}

// Register sets the step of a kind of work. It must be called before Run.
func (j *Jobs) Register(kind domain.JobKind, step JobStep) { j.steps[kind] = step }

// Start starts a job. Codes: insufficient_role, company_suspended, idempotency_conflict
// when too many are open.
func (j *Jobs) Start(ctx context.Context, c domain.Caller, in domain.NewJob) (domain.Job, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Job{}, err
	}
	job, err := j.store.AddJob(ctx, c, in)
	if err == nil {
		j.Wake()
	}
	return job, err
}

// Wake makes this process look for open jobs at once.
func (j *Jobs) Wake() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// Get returns a job with its progress. Codes: not_found.
func (j *Jobs) Get(ctx context.Context, c domain.Caller, id int64) (domain.Job, error) {
	return j.store.Job(ctx, c.Company.ID, id)
}

// Recent lists the jobs of the company that are under way or ended after since, the newest
// first.
func (j *Jobs) Recent(ctx context.Context, c domain.Caller, since time.Time, limit int) ([]domain.Job, error) {
	return j.store.RecentJobs(ctx, c.Company.ID, since, limit)
}

// Cancel ends a job before its next step; what was done stays. Codes: not_found,
// insufficient_role, company_suspended.
func (j *Jobs) Cancel(ctx context.Context, c domain.Caller, id int64) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	return j.store.CancelJob(ctx, c, id)
}

// Run does the steps of open jobs until ctx ends.
func (j *Jobs) Run(ctx context.Context) {
	Periodic{Name: "background jobs", Every: jobPoll, Wake: j.wake, Log: j.log, Do: j.RunOpen}.Run(ctx)
}

// RunOpen removes expired jobs and then does the open ones, one step of each in turn,
// until none is left or none advances. It does no steps while another replica does.
func (j *Jobs) RunOpen(ctx context.Context) error {
	if _, err := j.store.ExpireJobs(ctx, j.store.Now().Add(-jobRetention)); err != nil {
		return err
	}
	return runRoundRobin(ctx, roundRobin[domain.Job]{
		store: j.store, lease: "jobs", owner: j.owner, list: j.store.OpenJobs, step: j.advance,
	})
}

// advance does one step of a job and reports whether the job should be continued at
// once. A job of an unknown kind waits for a newer replica.
func (j *Jobs) advance(ctx context.Context, job domain.Job) bool {
	step, known := j.steps[job.Kind]
	if !known {
		return false
	}
	err := j.step(ctx, step, job)
	if err == nil || errors.Is(err, domain.ErrJobMoved) {
		return true
	}
	if ctx.Err() != nil || domain.CodeOf(err) == domain.CodeUnavailable || domain.CodeOf(err) == domain.CodeCompanySuspended {
		return false // not the job's fault: try again later
	}
	j.log.Warn("a step of a background job failed", "job", job.ID, "kind", job.Kind, "company", job.CompanyID, "error", err)
	if err := j.store.RecordJobFailure(ctx, job, jobProblem(err), maxJobFailures); err != nil {
		j.log.Warn("record the failure of a background job", "job", job.ID, "error", err)
	}
	return false
}

func (j *Jobs) step(ctx context.Context, step JobStep, job domain.Job) error {
	company, err := j.store.Company(ctx, job.CompanyID)
	if err != nil {
		return err
	}
	c := domain.Caller{Company: company, Actor: job.Actor, Role: job.Role}
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	progress, err := step(ctx, c, job)
	if err != nil || progress.Saved {
		return err
	}
	return j.store.AdvanceJob(ctx, job, progress)
}

// jobProblem returns what a person is shown about a job that failed.
func jobProblem(err error) string {
	var known *domain.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return "The work stopped because of an internal error. What was done so far is kept. Start it again to do the rest."
}
