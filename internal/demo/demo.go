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
	peopleCount   = 60                  // employees at the start
	historyLength = 90 * 24 * time.Hour // how far back the activity of the learners goes
	seed          = 20_261_114          // fixed, so that every demo starts with the same data
)

// World is a company with its simulated employees.
type World struct {
	learning   *service.Learning
	caller     domain.Caller // acts for the company
	platform   domain.Actor  // reports the activity of the learners
	rand       *rand.Rand
	courses    []domain.Course
	hired      int // employees so far; they are numbered from 0
	activities int // activities so far
}

// New returns a world without courses and employees for the caller's company.
func New(learning *service.Learning, caller domain.Caller) *World {
	return &World{
		learning: learning, caller: caller, rand: rand.New(rand.NewPCG(seed, seed)), //nolint:gosec // The random values are not secrets.
		platform: domain.Actor{Kind: domain.ActorPlatform, Label: "demo learners"},
	}
}

// Seed adds courses, employees and their assignments to the company. It calls
// progress after each step with the kind of record that was added, such as "people".
func (w *World) Seed(ctx context.Context, progress func(done, total int, what string)) error {
	total := len(catalogue) + 1 + 2*peopleCount
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
	sliceID, err := w.learning.CutSlice(ctx, w.caller, w.courses[1].ID, "Workplace safety: office staff", []int{1, 3})
	if err != nil {
		return fmt.Errorf("cut a slice: %w", err)
	}
	w.courses = append(w.courses, domain.Course{ID: sliceID, Name: "Workplace safety: office staff", PassMark: 80_00, AllowedAttempts: 3})
	stepDone("courses")
	for range peopleCount {
		if err := w.hire(ctx); err != nil {
			return err
		}
		stepDone("people")
	}
	for n := range peopleCount {
		if err := w.assignHistory(ctx, n); err != nil {
			return err
		}
		stepDone("assignments")
	}
	return nil
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

// assignHistory assigns a few courses to employee n and records past activity for
// most of them.
func (w *World) assignHistory(ctx context.Context, n int) error {
	now := w.learning.Now()
	for k := range 2 + w.rand.IntN(3) {
		began := now.Add(-time.Duration(w.rand.Int64N(int64(historyLength))))
		deadline := domain.NormalizeTime(began.AddDate(0, 0, 20+w.rand.IntN(100)))
		a, err := w.assign(ctx, n, (n+k)%len(w.courses), fmt.Sprintf("A-%04d-%d", 1001+n, k+1), &deadline)
		if err != nil {
			return err
		}
		if w.rand.IntN(5) == 0 {
			continue // not started
		}
		if err := w.learn(ctx, a, began, 1+w.rand.IntN(4)); err != nil {
			return err
		}
	}
	return nil
}

// assign assigns w.courses[course] to an employee, given by number.
func (w *World) assign(ctx context.Context, employee, course int, externalID string, deadline *time.Time) (domain.Assignment, error) {
	required := w.rand.IntN(2) == 0
	a, err := w.learning.Assign(ctx, w.caller, domain.NewAssignment{
		EmployeeExternalID: employeeExternalID(employee), CourseID: w.courses[course].ID,
		ExternalID: externalID, Deadline: deadline, IsRequired: &required,
	})
	if err != nil {
		return a, fmt.Errorf("assign %s: %w", externalID, err)
	}
	return a, nil
}

// learn records up to count activities of a learner, the first at the time began and
// none in the future.
func (w *World) learn(ctx context.Context, a domain.Assignment, began time.Time, count int) error {
	var items []domain.ActivityItem
	at, percent := domain.NormalizeTime(began), 0
	for range count {
		percent = min(100, percent+20+w.rand.IntN(50))
		items = append(items, w.newActivity(a, at, percent))
		at = domain.NormalizeTime(at.Add(time.Duration(1+w.rand.IntN(48)) * time.Hour))
		if at.After(w.learning.Now()) {
			break
		}
	}
	_, err := w.learning.RecordActivities(ctx, w.platform, items)
	return err
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

// Live simulates one action per interval until ctx ends: a learner's activity, a new
// assignment or a new employee.
func (w *World) Live(ctx context.Context, interval time.Duration) error {
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
		return w.hire(ctx)
	case n%5 == 4:
		employee := w.rand.IntN(w.hired)
		_, err := w.assign(ctx, employee, w.rand.IntN(len(w.courses)), fmt.Sprintf("L-%06d", n), nil)
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
