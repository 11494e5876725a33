package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// addPast adds the next employee with their past: they joined within the last
// fourteen months, were assigned courses after that, and learned after each
// assignment.
func (w *World) addPast(ctx context.Context) error {
	n := w.hired
	employee, err := w.hire(ctx)
	if err != nil {
		return err
	}
	now := w.learning.Now()
	joined := w.between(now.Add(-420*day), now.Add(-3*day))
	made := make([]domain.Assignment, 2+w.rand.IntN(4))
	assigned := make([]domain.PastRecord, len(made))
	for k := range made {
		at := w.between(joined, now.Add(-day))
		if k == 0 {
			at = joined.Add(time.Hour) // everybody is welcomed first
		}
		deadline := domain.NormalizeTime(at.Add(time.Duration(20+w.rand.IntN(5)*10) * day))
		made[k], err = w.assign(ctx, newAssignment{
			employee: n, course: (n*k + k) % len(w.courses), externalID: fmt.Sprintf("A-%04d-%d", 1001+n, k+1), deadline: &deadline,
		})
		if err != nil {
			return err
		}
		assigned[k] = domain.PastRecord{ID: made[k].ID, At: at}
	}
	if err := w.past.Backdate(ctx, w.caller.Company.ID, []domain.PastRecord{{ID: employee.ID, At: joined}}, assigned); err != nil {
		return fmt.Errorf("move the past of %s: %w", employee.ExternalID, err)
	}
	var activities []domain.ActivityItem
	for k, a := range made {
		activities = append(activities, w.learn(a, assigned[k].At, now)...)
	}
	_, err = w.learning.RecordActivities(ctx, w.platform, activities)
	return err
}

// learn returns what a learner did with an assignment until now. One in eight never
// begins, one in eight stops halfway, and the others go on until they pass or have
// no attempt left.
func (w *World) learn(a domain.Assignment, assigned, now time.Time) []domain.ActivityItem {
	temper := w.rand.IntN(8)
	if temper == 0 {
		return nil
	}
	var out []domain.ActivityItem
	at := assigned.Add(time.Duration(2+w.rand.IntN(14*24)) * time.Hour)
	for percent, attempt := 0, 1; at.Before(now); attempt++ {
		percent = min(100, percent+15+w.rand.IntN(40))
		item := w.newActivity(a, domain.NormalizeTime(at), percent)
		out = append(out, item)
		done := percent == 100
		if a.Rule.IsAssessment {
			done = *item.Activity.Score >= a.Rule.PassMark || attempt == a.Rule.AllowedAttempts
		}
		if done || temper == 1 && len(out) == 2 {
			break
		}
		at = at.Add(time.Duration(1+w.rand.IntN(72)) * time.Hour)
	}
	return out
}

// between returns a random instant after from and before to.
func (w *World) between(from, to time.Time) time.Time {
	return domain.NormalizeTime(from.Add(time.Duration(w.rand.Int64N(max(1, int64(to.Sub(from)))))))
}
