package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// The values of a demo for which none are chosen.
const (
	DefaultEmployees = 60
	DefaultSeed      = 20_261_114
)

const day = 24 * time.Hour

// Past adds records that came into being in the past, and returns how many rows of
// the database employees and assignments take.
type Past interface {
	AddPastEmployees(ctx context.Context, c domain.Caller, people []domain.Employee) (rows int, err error)
	AddPastAssignments(ctx context.Context, c domain.Caller, items []domain.PastAssignment) (rows int, err error)
	AddPastDeliveries(ctx context.Context, c domain.Caller, since time.Time, events []domain.PastEvent) error
}

// Options are the number of records that the company has and the seed of its random
// values.
type Options struct {
	Employees   int
	Assignments int    // 0 for two to five per employee
	RandomSeed  uint64 // the same seed makes the same company
}

// maxPerEmployee is below the limit of live assignments, so that the simulated
// learners can be assigned more.
const maxPerEmployee = domain.MaxLiveAssignments / 2

// Check reports a size that no company can have.
func (o Options) Check() error {
	switch {
	case o.Employees < 1 || o.Employees > 10_000_000:
		return fmt.Errorf("--employees must be from 1 to 10,000,000, got %d", o.Employees)
	case o.Assignments < 0 || o.Assignments > o.Employees*maxPerEmployee:
		return fmt.Errorf("--assignments must be from 0 to %d for %d employees, got %d", o.Employees*maxPerEmployee, o.Employees, o.Assignments)
	}
	return nil
}

// assignmentsOf returns how many assignments employee n has.
func (o Options) assignmentsOf(n int) int {
	if o.Assignments == 0 {
		return 2 + n%4
	}
	count := o.Assignments / o.Employees
	if n < o.Assignments%o.Employees {
		count++
	}
	return count
}

// records returns the number of employees and assignments.
func (o Options) records() int {
	if o.Assignments > 0 {
		return o.Employees + o.Assignments
	}
	total := o.Employees
	for n := range o.Employees {
		total += o.assignmentsOf(n)
	}
	return total
}

// World is a company with its simulated employees.
type World struct {
	learning   *service.Learning
	past       Past
	caller     domain.Caller // acts for the company
	platform   domain.Actor  // reports the activity of the learners
	options    Options
	rand       *rand.Rand
	now        time.Time // when the past ends
	courses    []domain.Course
	hired      int // employees so far; they are numbered from 0
	activities int // activities so far
	steps      int // steps of the simulation so far
	lastDay    []domain.Event
}

// New returns a world without courses and employees for the caller's company.
func New(learning *service.Learning, past Past, caller domain.Caller, options Options) *World {
	return &World{
		learning: learning, past: past, caller: caller, options: options, now: learning.Now(),
		rand:     rand.New(rand.NewPCG(options.RandomSeed, options.RandomSeed)), //nolint:gosec // The random values are not secrets.
		platform: domain.Actor{Kind: domain.ActorPlatform, Label: "demo learners"},
	}
}

// hire adds the next employee.
func (w *World) hire(ctx context.Context) error {
	in, tags := person(w.rand, w.hired)
	w.hired++
	if _, _, err := w.learning.Provision(ctx, w.caller, in); err != nil {
		return fmt.Errorf("provision %s: %w", in.ExternalID, err)
	}
	_, err := w.learning.PatchEmployee(ctx, w.caller, in.ExternalID, domain.EmployeePatch{Tags: &tags})
	return err
}

// assign assigns a random course to a random employee.
func (w *World) assign(ctx context.Context) error {
	required := w.rand.IntN(2) == 0
	in := domain.NewAssignment{
		EmployeeExternalID: employeeExternalID(w.rand.IntN(w.hired)), CourseID: w.courses[w.rand.IntN(len(w.courses))].ID,
		ExternalID: fmt.Sprintf("L-%06d", w.steps), IsRequired: &required,
	}
	if w.rand.IntN(4) == 0 { // becomes overdue while one watches
		soon := w.learning.Now().Add(time.Minute)
		in.Deadline = &soon
	}
	_, err := w.learning.Assign(ctx, w.caller, in)
	return err
}

// newActivity returns a finished attempt with a random score for an assessment, or
// progress to percent for any other course. A zero time means now.
func (w *World) newActivity(a domain.Assignment, at time.Time, percent int) domain.Activity {
	w.activities++
	act := domain.Activity{ID: fmt.Sprintf("demo-%d-%d", w.caller.Company.ID, w.activities), AssignmentID: a.ID, OccurredAt: at}
	if a.Rule.IsAssessment {
		score := domain.Points(50_00 + w.rand.IntN(51)*100)
		act.Type, act.Score = domain.ActivityAttemptFinished, &score
	} else {
		done := domain.Points(percent * 100)
		act.Type, act.Percent = domain.ActivityProgress, &done
	}
	return act
}

// Step simulates one step. Of 20 steps in a row, one hires an employee, four assign a
// course and the others record the activity of a learner. If no assignment has the
// status that was drawn, a course is assigned instead.
func (w *World) Step(ctx context.Context) error {
	w.steps++
	switch {
	case w.steps%20 == 10:
		return w.hire(ctx)
	case w.steps%5 == 1:
		return w.assign(ctx)
	}
	status := []domain.Status{domain.StatusStarted, domain.StatusAssigned, domain.StatusNeedsRetry}[w.rand.IntN(3)]
	page, err := w.learning.Assignments(ctx, w.caller, domain.AssignmentFilter{Status: status}, domain.PageRequest{Number: 1, Limit: 50})
	if err != nil {
		return err
	}
	if len(page.Items) == 0 {
		return w.assign(ctx)
	}
	a := page.Items[w.rand.IntN(len(page.Items))]
	percent := int(a.Percent/100) + 30 + w.rand.IntN(50)
	_, err = w.learning.RecordActivities(ctx, w.platform, []domain.ActivityItem{{Activity: w.newActivity(a, time.Time{}, min(100, percent))}})
	return err
}
