package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

const (
	peopleCount = 60         // employees at the start
	seed        = 20_261_114 // fixed, so that every demo starts with the same data
	day         = 24 * time.Hour
)

// Past moves the instants at which records came into being.
type Past interface {
	Backdate(ctx context.Context, company int64, joined, assigned []domain.PastRecord) error
}

// World is a company with its simulated employees.
type World struct {
	learning   *service.Learning
	past       Past
	caller     domain.Caller // acts for the company
	platform   domain.Actor  // reports the activity of the learners
	rand       *rand.Rand
	courses    []domain.Course
	hired      int // employees so far; they are numbered from 0
	activities int // activities so far
}

// New returns a world without courses and employees for the caller's company.
func New(learning *service.Learning, past Past, caller domain.Caller) *World {
	return &World{
		learning: learning, past: past, caller: caller, rand: rand.New(rand.NewPCG(seed, seed)), //nolint:gosec // The random values are not secrets.
		platform: domain.Actor{Kind: domain.ActorPlatform, Label: "demo learners"},
	}
}

// Seed adds courses, employees and their assignments to the company. It calls
// progress after each step with the kind of record that was added, such as "people".
func (w *World) Seed(ctx context.Context, progress func(done, total int, what string)) error {
	total := len(catalogue) + 1 + peopleCount
	done := 0
	stepDone := func(what string) {
		done++
		progress(done, total, what)
	}
	for _, c := range catalogue {
		id, err := w.learning.AddCourse(ctx, w.caller, c)
		if err != nil {
			return fmt.Errorf("add the course %s: %w", c.Name, err)
		}
		c.ID = id
		w.courses = append(w.courses, c)
		stepDone("courses")
	}
	sliceID, err := w.learning.CutSlice(ctx, w.caller, w.courses[1].ID, domain.SliceInput{Name: "Workplace safety: office staff", Modules: []int{1, 3}})
	if err != nil {
		return fmt.Errorf("cut a slice: %w", err)
	}
	w.courses = append(w.courses, domain.Course{ID: sliceID, Name: "Workplace safety: office staff", PassMark: 80_00, AllowedAttempts: 3})
	stepDone("courses")
	for range peopleCount {
		if err := w.addPast(ctx); err != nil {
			return err
		}
		stepDone("people")
	}
	return nil
}

// hire adds the next employee.
func (w *World) hire(ctx context.Context) (domain.Employee, error) {
	in, tags := person(w.rand, w.hired)
	w.hired++
	if _, _, err := w.learning.Provision(ctx, w.caller, in); err != nil {
		return domain.Employee{}, fmt.Errorf("provision %s: %w", in.ExternalID, err)
	}
	changed, err := w.learning.PatchEmployee(ctx, w.caller, in.ExternalID, domain.EmployeePatch{Tags: &tags})
	return changed.Employee, err
}

// newAssignment is an assignment of a course to an employee, both by number.
type newAssignment struct {
	employee, course int
	externalID       string
	deadline         *time.Time
}

func (w *World) assign(ctx context.Context, n newAssignment) (domain.Assignment, error) {
	required := w.rand.IntN(2) == 0
	a, err := w.learning.Assign(ctx, w.caller, domain.NewAssignment{
		EmployeeExternalID: employeeExternalID(n.employee), CourseID: w.courses[n.course].ID,
		ExternalID: n.externalID, Deadline: n.deadline, IsRequired: &required,
	})
	if err != nil {
		return a, fmt.Errorf("assign %s: %w", n.externalID, err)
	}
	return a, nil
}

// newActivity returns a finished attempt with a random score for an assessment, or
// progress to percent for any other course. A zero time means now.
func (w *World) newActivity(a domain.Assignment, at time.Time, percent int) domain.ActivityItem {
	w.activities++
	act := domain.Activity{ID: fmt.Sprintf("demo-%d", w.activities), AssignmentID: a.ID, OccurredAt: at}
	if a.Rule.IsAssessment {
		score := domain.Points(50_00 + w.rand.IntN(51)*100)
		act.Type, act.Score = domain.ActivityAttemptFinished, &score
	} else {
		done := domain.Points(percent * 100)
		act.Type, act.Percent = domain.ActivityProgress, &done
	}
	return domain.ActivityItem{Activity: act}
}

// Simulate simulates one action per interval until ctx ends: a learner's activity, a new
// assignment or a new employee.
func (w *World) Simulate(ctx context.Context, interval time.Duration) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := w.simulate(ctx, n); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// simulate performs action n. Of 20 actions in a row, one hires an employee, three
// assign a course and the others record the activity of a random learner.
func (w *World) simulate(ctx context.Context, n int) error {
	switch {
	case n%20 == 19:
		_, err := w.hire(ctx)
		return err
	case n%5 == 4:
		employee := w.rand.IntN(w.hired)
		_, err := w.assign(ctx, newAssignment{employee: employee, course: w.rand.IntN(len(w.courses)), externalID: fmt.Sprintf("L-%06d", n)})
		return err
	}
	page, err := w.learning.Assignments(ctx, w.caller, domain.AssignmentFilter{}, domain.PageRequest{Number: 1, Limit: domain.MaxLimit})
	if err != nil || len(page.Items) == 0 {
		return err
	}
	a := page.Items[w.rand.IntN(len(page.Items))]
	percent := int(a.Percent/100) + 10 + w.rand.IntN(40)
	_, err = w.learning.RecordActivities(ctx, w.platform, []domain.ActivityItem{w.newActivity(a, time.Time{}, min(100, percent))})
	return err
}
