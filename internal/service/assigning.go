package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// AssigningStore is what assigning courses to many people needs of the database.
type AssigningStore interface {
	CountAssign(ctx context.Context, company int64, who domain.People, in domain.AssignCourses) (domain.AssignCount, error)
	AddAssignJob(ctx context.Context, c domain.Caller, in domain.NewJob, who domain.People) (domain.Job, error)
	StepAssign(ctx context.Context, c domain.Caller, in domain.AssignCourses, job domain.Job, limit int) error
	Tags(ctx context.Context, company int64) ([]string, error)
	FindPeople(ctx context.Context, company int64, search string, ids []int64, limit int) (found, chosen []domain.Employee, err error)
}

// assignStep is how many assignments one step creates at most.
const assignStep = 400

// Assigning assigns courses to many people as background work.
type Assigning struct {
	store Store
	jobs  *Jobs
}

// NewAssigning registers the work with the jobs.
func NewAssigning(store Store, jobs *Jobs) *Assigning {
	a := &Assigning{store: store, jobs: jobs}
	jobs.Register(JobAssign, a.step)
	return a
}

// Count returns what assigning the courses would do.
func (a *Assigning) Count(ctx context.Context, c domain.Caller, who domain.People, in domain.AssignCourses) (domain.AssignCount, error) {
	return a.store.CountAssign(ctx, c.Company.ID, who, in)
}

// Start assigns the courses to the people. Codes: invalid_request, course_not_found,
// course_archived, wrong_company, insufficient_role, company_suspended.
func (a *Assigning) Start(ctx context.Context, c domain.Caller, who domain.People, in domain.AssignCourses) (domain.Job, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Job{}, err
	}
	if err := in.Check(); err != nil {
		return domain.Job{}, err
	}
	if who.Empty() {
		var checks domain.Checks
		checks.Add("who", errors.New("choose at least one person"))
		return domain.Job{}, checks.Err()
	}
	for _, id := range in.CourseIDs {
		course, err := a.store.Course(ctx, c.Company.ID, id)
		if err != nil {
			return domain.Job{}, err
		}
		if course.Archived() {
			return domain.Job{}, domain.ErrCourseArchived
		}
	}
	job, err := a.store.AddAssignJob(ctx, c, domain.NewJob{Kind: JobAssign, Input: in}, who)
	if err == nil {
		a.jobs.Wake()
	}
	return job, err
}

func (a *Assigning) step(ctx context.Context, c domain.Caller, job domain.Job) (domain.JobProgress, error) {
	var in domain.AssignCourses
	if err := json.Unmarshal(job.Input, &in); err != nil {
		return domain.JobProgress{}, fmt.Errorf("read what a job assigns: %w", err)
	}
	return domain.JobProgress{Saved: true}, a.store.StepAssign(ctx, c, in, job, max(1, assignStep/len(in.CourseIDs)))
}

// Tags lists the tags of the company's employees.
func (l *Learning) Tags(ctx context.Context, c domain.Caller) ([]string, error) {
	return l.store.Tags(ctx, c.Company.ID)
}

// foundPeople is how many people a search offers.
const foundPeople = 8

// FindPeople returns some employees whose name, e-mail address or external id begins
// with the text, and those with the ids.
func (l *Learning) FindPeople(ctx context.Context, c domain.Caller, search string, ids []int64) (found, chosen []domain.Employee, err error) {
	return l.store.FindPeople(ctx, c.Company.ID, search, ids, foundPeople)
}

// TallyOf returns the counted outcomes of a job.
func TallyOf(job domain.Job) domain.Tally {
	tally := domain.Tally{}
	_ = json.Unmarshal(job.Result, &tally) // a job without a result has counted nothing
	return tally
}
