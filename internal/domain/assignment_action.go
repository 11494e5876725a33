package domain

import (
	"fmt"
	"time"
)

// ActKind names what an administrator can do to an assignment.
type ActKind string

// The acts.
const (
	ActDeadline ActKind = "deadline" // move the deadline to an instant
	ActExtend   ActKind = "extend"   // move the deadline by days
	ActRequired ActKind = "required" // set or clear the required flag
	ActGrant    ActKind = "grant"    // allow another attempt
	ActRevoke   ActKind = "revoke"
	ActRestore  ActKind = "restore" // undo a revocation
)

// AssignmentAction is what to do to assignments.
type AssignmentAction struct {
	Kind     ActKind    `json:"kind"`
	Deadline *time.Time `json:"deadline,omitempty"` // of ActDeadline
	Days     int        `json:"days,omitempty"`     // of ActExtend
	Required bool       `json:"required,omitempty"` // of ActRequired
}

// Check reports what is wrong with the act.
func (act AssignmentAction) Check() error {
	var c Checks
	switch act.Kind {
	case ActDeadline:
		if act.Deadline == nil {
			c.Add("deadline", fmt.Errorf("choose a date"))
		} else {
			c.Add("deadline", CheckInstant(*act.Deadline))
		}
	case ActExtend:
		if act.Days < 1 || act.Days > MaxDeadlineDays {
			c.Add("days", fmt.Errorf("enter a number of days from 1 to %d", MaxDeadlineDays))
		}
	case ActRequired, ActGrant, ActRevoke, ActRestore:
	default:
		c.Add("kind", fmt.Errorf("is not an action on assignments"))
	}
	return c.Err()
}

// Apply changes the assignment and describes the change; detail is empty where the
// act says it all. It reports false if the assignment is already as asked. Codes:
// assignment_completed, idempotency_conflict, assignment_revoked.
func (act AssignmentAction) Apply(a *Assignment, now time.Time) (detail string, changed bool, err error) {
	if a.RevokedAt != nil && act.Kind != ActRestore {
		if act.Kind == ActRevoke {
			return "", false, nil
		}
		return "", false, ErrAssignmentRevoked
	}
	switch act.Kind {
	case ActDeadline:
		return a.moveDeadline(*act.Deadline, now)
	case ActExtend:
		return a.moveDeadline(a.Deadline.AddDate(0, 0, act.Days), now)
	case ActRequired:
		changed = a.IsRequired != act.Required
		a.IsRequired = act.Required
		if act.Required {
			return "Required", changed, nil
		}
		return "Optional", changed, nil
	case ActGrant:
		err = a.Grant()
		return "", err == nil, err
	case ActRevoke:
		a.RevokedAt = &now
		return "", true, nil
	case ActRestore:
		changed = a.RevokedAt != nil
		a.RevokedAt = nil
		return "", changed, nil
	}
	return "", false, fmt.Errorf("there is no act %q", act.Kind)
}

// moveDeadline sets the deadline. An assignment that is no longer late loses its
// overdue mark and can become overdue again. One whose old deadline has passed before a
// sweep came by owes the event of that deadline, see OwesOverdue; if the new one has
// passed too, it owes no second event.
func (a *Assignment) moveDeadline(to, now time.Time) (string, bool, error) {
	if a.Status == StatusCompleted {
		return "", false, ErrAssignmentCompleted
	}
	if to.Equal(a.Deadline) {
		return "", false, nil
	}
	if err := CheckInstant(to); err != nil {
		return "", false, Invalid(FieldError{Field: "deadline", Message: err.Error()})
	}
	detail := fmt.Sprintf("%s → %s", FormatInstant(a.Deadline), FormatInstant(to))
	owed := a.OwesOverdue(now)
	a.Deadline = to
	switch {
	case to.After(now):
		a.OverdueAt = nil
	case owed:
		a.OverdueAt = &now
	}
	return detail, true, nil
}

// ErrAssignmentCompleted refuses to change an assignment that is completed.
var ErrAssignmentCompleted = Errorf(CodeAssignmentCompleted, "This assignment is completed, so its deadline can't be changed. Assign the course again with another deadline.")

// Outcomes of an act on one assignment; any other outcome is an error code.
const (
	OutcomeDone      = "done"
	OutcomeUnchanged = "unchanged" // it was already as asked
	OutcomeChanged   = "changed"   // it has changed since, so it was left alone
)

// ActResult is what became of one assignment.
type ActResult struct {
	ID      int64
	Outcome string
	Err     error
}

// Tally counts outcomes.
type Tally map[string]int64

// Add counts the results.
func (t Tally) Add(results []ActResult) {
	for _, r := range results {
		t[r.Outcome]++
	}
}

// AssignmentPick picks assignments for an act: those with the ids or, with All, all
// that match the query.
type AssignmentPick struct {
	All   bool
	IDs   []int64
	Query AssignmentQuery
}

// Normalize turns an unknown tab into TabAll.
func (p *AssignmentPick) Normalize() { p.Query.Normalize() }

// ActCount is how many assignments an act meets.
type ActCount struct {
	Matching  int64
	Affected  int64 // those that the act can change
	Employees int64
	More      bool // only MaxActCount were counted
}

// MaxActCount is how many records are counted before an act on many.
const MaxActCount = 10_000
