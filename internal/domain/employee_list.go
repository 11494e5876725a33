package domain

import "time"

// EmployeeOverview is an employee as the cabinet's list shows one: with the number
// of assignments that are not completed, how many of them are overdue, and the
// latest activity in any of them.
type EmployeeOverview struct {
	Employee
	Open           int64
	Overdue        int64
	LastActivityAt *time.Time
}

// EmployeePage is a page of the cabinet's list. Its total is set for a list that is
// not narrowed.
type EmployeePage struct {
	Page[EmployeeOverview]
	// Next leads to the next page, nil after the last. A page of EmployeesUnassigned
	// may end early, even empty: see LookedAtPerRow.
	Next *Cursor
	// Capped means that the search has more matches than it looks for.
	Capped bool
}

const (
	// MaxMatches is how many records a search finds by each of their fields.
	MaxMatches = 500
	// LookedAtPerRow is how many employees a page of EmployeesUnassigned looks at for
	// each of its rows: most people have assignments.
	LookedAtPerRow = 100
)

// EmployeeSelection names the employees that a list shows.
type EmployeeSelection string

// The selections. All but EmployeesLeft select people who work in the company.
const (
	EmployeesWorking    EmployeeSelection = ""
	EmployeesOverdue    EmployeeSelection = "overdue"
	EmployeesUnassigned EmployeeSelection = "unassigned"
	EmployeesLeft       EmployeeSelection = "left"
)

// EmployeeListFilter narrows the cabinet's list. Search matches the beginning of a
// word of the name, of the e-mail or of the externalId.
type EmployeeListFilter struct {
	Search string
	Tag    string
	Select EmployeeSelection
}

// Check refuses a selection that does not exist.
func (f EmployeeListFilter) Check() error {
	switch f.Select {
	case EmployeesWorking, EmployeesOverdue, EmployeesUnassigned, EmployeesLeft:
		return nil
	}
	return Invalid(FieldError{Field: "show", Message: "must be overdue, unassigned or left"})
}
