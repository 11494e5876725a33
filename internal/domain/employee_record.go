package domain

import "time"

// EmployeeRecord is what the page of one employee shows. Assignments holds the
// newest live ones; the figures count all of them.
type EmployeeRecord struct {
	EmployeeOverview
	Assigned    int64
	Completed   int64
	Leaving     *time.Time // when a planned offboarding is carried out
	Attributes  Attributes
	Assignments []Assignment
	History     []HistoryEntry
}

// HistoryEntry is something that happened to an employee or to one of their
// assignments.
type HistoryEntry struct {
	At           time.Time
	Via          string // an ActorKind, or ViaImport
	Actor        string // as it is shown
	Action       string // noun.verb
	AssignmentID int64  // 0 for the employee
	CourseName   string
	Detail       string
}

// ErasureEffects is what erasing an employee would remove.
type ErasureEffects struct {
	Assignments int64 // live and revoked ones
	Results     int64 // ended attempts that stay without the person
	Events      int64 // stored events whose content is emptied
}
