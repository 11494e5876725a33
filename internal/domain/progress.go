package domain

import (
	"fmt"
	"time"
)

// ActivityType is the kind of a learner's activity.
type ActivityType string

// The activity types.
const (
	ActivityStarted         ActivityType = "started"
	ActivityProgress        ActivityType = "progress"
	ActivityAttemptFinished ActivityType = "attempt_finished"
)

// Activity is one report of the learning platform.
type Activity struct {
	ID           string
	AssignmentID int64
	Type         ActivityType
	OccurredAt   time.Time
	Percent      *Points
	Score        *Points
}

// Progress is the part of an assignment that learners change.
type Progress struct {
	Status          Status
	Percent         Points
	Score           *Points
	Attempts        int // begun
	GrantedAttempts int // beyond what the course allows
	StartedAt       *time.Time
	AttemptAt       *time.Time // when the latest attempt began
	EndedAt         *time.Time // when the latest ended attempt ended
	CompletedAt     *time.Time
	LastActivityAt  *time.Time
}

// Apply applies one activity to p and reports whether anything changed. Activity on
// a finished assignment, and activity that belongs to an attempt already over,
// changes nothing.
func (p *Progress) Apply(rule CourseRule, act Activity) bool {
	if p.Status == StatusCompleted || p.Status == StatusFailed || p.late(act.OccurredAt) {
		return false
	}
	before := *p
	p.begin(rule, act.OccurredAt)
	p.touch(act.OccurredAt)
	if act.Percent != nil && *act.Percent > p.Percent {
		p.Percent = *act.Percent
	}
	if rule.IsAssessment {
		if act.Type == ActivityAttemptFinished {
			p.endAttempt(rule, act)
		}
	} else {
		p.advanceCourse(act)
	}
	return !p.equal(before)
}

// late reports whether something happened before the latest attempt ended (or,
// from the second attempt on, before it began): news of an attempt that is over.
func (p *Progress) late(at time.Time) bool {
	switch p.Status {
	case StatusNeedsRetry:
		return at.Before(*p.EndedAt)
	case StatusStarted:
		return p.Attempts > 1 && at.Before(*p.AttemptAt)
	}
	return false
}

func (p *Progress) begin(rule CourseRule, at time.Time) {
	if p.Status == StatusStarted {
		return
	}
	p.Status = StatusStarted
	p.Attempts++
	p.AttemptAt = &at
	if rule.IsAssessment {
		p.Percent = 0
	}
}

func (p *Progress) touch(at time.Time) {
	if p.StartedAt == nil || at.Before(*p.StartedAt) {
		// Only the first attempt can turn out to have begun earlier: see late.
		p.StartedAt, p.AttemptAt = &at, &at
	}
	if p.LastActivityAt == nil || at.After(*p.LastActivityAt) {
		p.LastActivityAt = &at
	}
}

func (p *Progress) endAttempt(rule CourseRule, act Activity) {
	at := act.OccurredAt
	p.Score, p.EndedAt = act.Score, &at
	switch {
	case *act.Score >= rule.PassMark:
		p.Status, p.Percent, p.CompletedAt = StatusCompleted, FullPoints, &at
	case rule.AllowedAttempts == 0 || p.Attempts < rule.AllowedAttempts+p.GrantedAttempts:
		p.Status = StatusNeedsRetry
	default:
		p.Status, p.CompletedAt = StatusFailed, &at
	}
}

// advanceCourse handles a course without a pass mark: reaching 100 completes it,
// and a score is only kept.
func (p *Progress) advanceCourse(act Activity) {
	at := act.OccurredAt
	if act.Type == ActivityAttemptFinished && (p.EndedAt == nil || !at.Before(*p.EndedAt)) {
		p.Score, p.EndedAt = act.Score, &at
	}
	if p.Percent < FullPoints {
		return
	}
	p.Status, p.CompletedAt, p.EndedAt = StatusCompleted, &at, &at
	if act.Score != nil {
		p.Score = act.Score
	}
	if p.Score == nil {
		full := FullPoints
		p.Score = &full
	}
}

// Grant allows one more attempt after the last one failed.
func (p *Progress) Grant() error {
	if p.Status != StatusFailed {
		return Errorf(CodeConflict, "Only a failed assignment can be given another attempt; this one is %s. Assign the course again instead.", p.Status)
	}
	p.Status, p.CompletedAt = StatusNeedsRetry, nil
	p.GrantedAttempts++
	return nil
}

func (p *Progress) equal(o Progress) bool {
	return p.Status == o.Status && p.Percent == o.Percent && p.Attempts == o.Attempts &&
		p.GrantedAttempts == o.GrantedAttempts && equalPointers(p.Score, o.Score) &&
		equalPointers(p.StartedAt, o.StartedAt) && equalPointers(p.AttemptAt, o.AttemptAt) && equalPointers(p.EndedAt, o.EndedAt) &&
		equalPointers(p.CompletedAt, o.CompletedAt) && equalPointers(p.LastActivityAt, o.LastActivityAt)
}

func equalPointers[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// CompletionState is the outcome of the latest ended attempt.
type CompletionState string

// The completion states.
const (
	CompletionNotStarted CompletionState = "not_started"
	CompletionInProgress CompletionState = "in_progress"
	CompletionSuccess    CompletionState = "success"
	CompletionFailure    CompletionState = "failure"
)

// Passed reports whether the assignment was passed.
func (p Progress) Passed() bool { return p.Status == StatusCompleted }

// Completion describes the latest ended attempt.
func (a Assignment) Completion() CompletionState {
	switch {
	case a.Passed():
		return CompletionSuccess
	case a.Status == StatusFailed, a.EndedAt != nil && a.Rule.IsAssessment:
		return CompletionFailure // failed stays failed, also if the course no longer is an assessment
	case a.Status == StatusAssigned:
		return CompletionNotStarted
	}
	return CompletionInProgress
}

// Summary describes the progress in one English sentence.
func (a Assignment) Summary() string {
	attempt := fmt.Sprintf("attempt %d", a.EndedAttempts())
	if most := a.Rule.AllowedAttempts; most > 0 {
		attempt += fmt.Sprintf(" of %d", most+a.GrantedAttempts)
	}
	switch a.Completion() {
	case CompletionSuccess:
		if a.Rule.IsAssessment {
			return fmt.Sprintf("Passed with %s on %s.", a.Score, attempt)
		}
		return fmt.Sprintf("Completed with %s.", a.Score)
	case CompletionFailure:
		if a.Status == StatusFailed {
			return fmt.Sprintf("Failed with %s on %s.", a.Score, attempt)
		}
		return fmt.Sprintf("Not passed yet: %s on %s, %s is needed.", a.Score, attempt, a.Rule.PassMark)
	case CompletionNotStarted:
		return "Not started yet."
	}
	return fmt.Sprintf("In progress, %s percent complete.", a.Percent)
}

// EndedAttempts is the number of the latest attempt that ended.
func (p Progress) EndedAttempts() int {
	if p.Status == StatusStarted && p.EndedAt != nil && p.Attempts > 1 {
		return p.Attempts - 1
	}
	return p.Attempts
}
