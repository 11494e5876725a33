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
	peopleCount = 60
	history     = 90 * 24 * time.Hour
	seed        = 20_261_114
)

// World is a company and the simulated people in it.
type World struct {
	learning *service.Learning
	caller   domain.Caller
	platform domain.Actor
	rand     *rand.Rand
	courses  []domain.Course
	next     int
	activity int
}

// New returns a world for the company.
func New(learning *service.Learning, caller domain.Caller) *World {
	return &World{
		learning: learning, caller: caller, rand: rand.New(rand.NewPCG(seed, seed)), //nolint:gosec // Simulated people need no secrets.
		platform: domain.Actor{Kind: domain.ActorPlatform, Label: "demo learners"},
	}
}

// Seed fills the company and reports its progress.
func (w *World) Seed(ctx context.Context, progress func(done, total int, what string)) error {
	total := len(catalogue) + 1 + 2*peopleCount
	done := 0
	step := func(what string) {
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
		step("courses")
	}
	slice, err := w.learning.CutSlice(ctx, w.caller, w.courses[1].ID, "Workplace safety: office staff", []int{1, 3})
	if err != nil {
		return fmt.Errorf("cut a slice: %w", err)
	}
	w.courses = append(w.courses, domain.Course{ID: slice, Name: "Workplace safety: office staff", PassMark: 80_00, AllowedAttempts: 3})
	step("courses")
	for range peopleCount {
		if err := w.hire(ctx); err != nil {
			return err
		}
		step("people")
	}
	for n := range peopleCount {
		if err := w.assignHistory(ctx, n); err != nil {
			return err
		}
		step("assignments")
	}
	return nil
}

func (w *World) hire(ctx context.Context) error {
	in, tags := person(w.rand, w.next)
	w.next++
	if _, _, err := w.learning.Provision(ctx, w.caller, in); err != nil {
		return fmt.Errorf("provision %s: %w", in.ExternalID, err)
	}
	_, err := w.learning.PatchEmployee(ctx, w.caller, in.ExternalID, domain.EmployeePatch{Tags: &tags})
	return err
}

// assignHistory assigns a few courses to the n-th person, with activity in the past.
func (w *World) assignHistory(ctx context.Context, n int) error {
	now := w.learning.Now()
	for k := range 2 + w.rand.IntN(3) {
		began := now.Add(-time.Duration(w.rand.Int64N(int64(history))))
		deadline := domain.NormalizeTime(began.AddDate(0, 0, 20+w.rand.IntN(100)))
		a, err := w.assign(ctx, n, (n+k)%len(w.courses), fmt.Sprintf("A-%04d-%d", 1001+n, k+1), &deadline)
		if err != nil {
			return err
		}
		if w.rand.IntN(5) == 0 {
			continue
		}
		if err := w.learn(ctx, a, began, 1+w.rand.IntN(4)); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) assign(ctx context.Context, person, course int, externalID string, deadline *time.Time) (domain.Assignment, error) {
	required := w.rand.IntN(2) == 0
	a, err := w.learning.Assign(ctx, w.caller, domain.NewAssignment{
		EmployeeExternalID: fmt.Sprintf("HR-%04d", 1001+person), CourseID: w.courses[course].ID,
		ExternalID: externalID, Deadline: deadline, IsRequired: &required,
	})
	if err != nil {
		return a, fmt.Errorf("assign %s: %w", externalID, err)
	}
	return a, nil
}

// learn reports a few steps of a learner, the first at began.
func (w *World) learn(ctx context.Context, a domain.Assignment, began time.Time, steps int) error {
	var items []domain.ActivityItem
	at, percent := domain.NormalizeTime(began), 0
	for range steps {
		percent = min(100, percent+20+w.rand.IntN(50))
		items = append(items, w.step(a, at, percent))
		at = domain.NormalizeTime(at.Add(time.Duration(1+w.rand.IntN(48)) * time.Hour))
		if at.After(w.learning.Now()) {
			break
		}
	}
	_, err := w.learning.RecordActivities(ctx, w.platform, items)
	return err
}

// step is progress in a course, or a finished attempt of an assessment.
func (w *World) step(a domain.Assignment, at time.Time, percent int) domain.ActivityItem {
	w.activity++
	act := domain.Activity{ID: fmt.Sprintf("demo-%d", w.activity), AssignmentID: a.ID, OccurredAt: at}
	if a.Rule.IsAssessment {
		score := domain.Points(50_00 + w.rand.IntN(51)*100)
		act.Type, act.Score = domain.ActivityAttemptFinished, &score
	} else {
		done := domain.Points(percent * 100)
		act.Type, act.Percent = domain.ActivityProgress, &done
	}
	return domain.ActivityItem{Activity: act}
}

// Live simulates learning, hiring and assigning until ctx ends.
func (w *World) Live(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := w.moment(ctx, n); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func (w *World) moment(ctx context.Context, n int) error {
	switch {
	case n%20 == 19:
		return w.hire(ctx)
	case n%5 == 4:
		person := w.rand.IntN(w.next)
		_, err := w.assign(ctx, person, w.rand.IntN(len(w.courses)), fmt.Sprintf("L-%06d", n), nil)
		return err
	}
	page, err := w.learning.Assignments(ctx, w.caller, domain.AssignmentFilter{}, domain.PageRequest{Number: 1, Limit: domain.MaxLimit})
	if err != nil || len(page.Items) == 0 {
		return err
	}
	a := page.Items[w.rand.IntN(len(page.Items))]
	percent := int(a.Percent/100) + 10 + w.rand.IntN(40)
	_, err = w.learning.RecordActivities(ctx, w.platform, []domain.ActivityItem{w.step(a, time.Time{}, min(100, percent))})
	return err
}
