package service

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// PeopleActStore is what acts on many employees need of the database.
type PeopleActStore interface {
	CountPeople(ctx context.Context, company int64, who domain.People) (domain.PeopleCount, error)
	AddPeopleJob(ctx context.Context, c domain.Caller, in domain.NewJob, who domain.People) (domain.Job, error)
	StepPeople(ctx context.Context, c domain.Caller, act domain.PeopleAction, job domain.Job, limit int) error
}

// JobPeople is the kind of background work that acts on employees.
const JobPeople domain.JobKind = "employees.act"

// peopleStep is how many employees one step works on.
const peopleStep = 200

// PeopleActions does acts to many employees as background work.
type PeopleActions struct {
	store Store
	jobs  *Jobs
}

// NewPeopleActions registers the work with the jobs.
func NewPeopleActions(store Store, jobs *Jobs) *PeopleActions {
	a := &PeopleActions{store: store, jobs: jobs}
	jobs.Register(JobPeople, a.step)
	return a
}

// Count returns how many employees are picked, and their open assignments.
func (a *PeopleActions) Count(ctx context.Context, c domain.Caller, who domain.People) (domain.PeopleCount, error) {
	return a.store.CountPeople(ctx, c.Company.ID, who)
}

// Start does the act to the employees who are picked now. Codes: invalid_request,
// insufficient_role, company_suspended, idempotency_conflict when too many jobs are
// open.
func (a *PeopleActions) Start(ctx context.Context, c domain.Caller, act domain.PeopleAction, who domain.People) (domain.Job, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Job{}, err
	}
	if err := act.Normalize(a.store.Now()); err != nil {
		return domain.Job{}, err
	}
	job, err := a.store.AddPeopleJob(ctx, c, domain.NewJob{Kind: JobPeople, Input: act}, who)
	if err == nil {
		a.jobs.Wake()
	}
	return job, err
}

// PeopleActOf returns the act of a job of kind JobPeople.
func PeopleActOf(job domain.Job) (act domain.PeopleAction, err error) {
	if err := json.Unmarshal(job.Input, &act); err != nil {
		return act, fmt.Errorf("read the act of a job: %w", err)
	}
	return act, nil
}

func (a *PeopleActions) step(ctx context.Context, c domain.Caller, job domain.Job) (domain.JobProgress, error) {
	act, err := PeopleActOf(job)
	if err != nil {
		return domain.JobProgress{}, err
	}
	return domain.JobProgress{Saved: true}, a.store.StepPeople(ctx, c, act, job, peopleStep)
}
