package domain

import (
	"errors"
	"time"
)

// MaxFuture is how far ahead of our clock an activity may be dated.
const MaxFuture = 24 * time.Hour

// Check reports every field of an activity that is wrong.
func (a Activity) Check(now time.Time) error {
	var c Checks
	c.Add("id", CheckIdentifier(a.ID))
	if a.AssignmentID < 1 {
		c.Add("assignmentId", errors.New("must be the id of an assignment"))
	}
	switch a.Type {
	case ActivityStarted:
	case ActivityProgress:
		if a.Percent == nil {
			c.Add("completionPercent", errors.New("is required for progress"))
		}
	case ActivityAttemptFinished:
		if a.Score == nil {
			c.Add("score", errors.New("is required for attempt_finished"))
		}
	default:
		c.Add("type", errors.New("must be started, progress or attempt_finished"))
	}
	if a.OccurredAt.After(now.Add(MaxFuture)) {
		c.Add("occurredAt", errors.New("must not lie in the future"))
	}
	return c.Err()
}

// MayFinish reports whether the activity can complete or fail an assignment.
func (a Activity) MayFinish() bool {
	return a.Type == ActivityAttemptFinished || a.Percent != nil && *a.Percent >= FullPoints
}

// ActivityItem is one item of a report: an activity, or why it is not valid. A
// zero OccurredAt means now.
type ActivityItem struct {
	Activity Activity
	Err      error
}

// ActivityResult is the answer to one item: the assignment's status, or an error.
type ActivityResult struct {
	Status Status
	Err    error
}
