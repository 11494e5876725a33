package view

import (
	"slices"
	"strconv"
)

// MatrixReport is the table of people and courses.
type MatrixReport struct {
	Report
	Columns    []string // names of courses
	First      int      // the number of the first of them, from 1
	AllCourses int
	Earlier    string // the address of the courses before these; empty if there are none
	Later      string
	Rows       []MatrixRow
}

// MatrixRow is a person with a cell for each course.
type MatrixRow struct {
	PersonID int64
	Person   string
	Email    string
	Cells    []MatrixCell
}

// MatrixCell is what a person has done in a course. Status is empty if the course is
// not assigned.
type MatrixCell struct {
	AssignmentID int64
	Status       string
	Overdue      bool
}

// courses describes the range of courses that the page shows.
func (m MatrixReport) courses() string {
	if m.AllCourses <= len(m.Columns) {
		return plural(int64(m.AllCourses), "course", "courses")
	}
	return "Courses " + strconv.Itoa(m.First) + " to " + strconv.Itoa(m.First+len(m.Columns)-1) + " of " + strconv.Itoa(m.AllCourses)
}

// hasNamesake reports whether somebody else on the page has the same name, so that only
// the e-mail address tells them apart.
func (m MatrixReport) hasNamesake(r MatrixRow) bool {
	return slices.ContainsFunc(m.Rows, func(other MatrixRow) bool { return other.Person == r.Person && other.PersonID != r.PersonID })
}

// tone is red for what is overdue, whatever its status.
func (c MatrixCell) tone() Tone {
	if c.Overdue {
		return ToneRed
	}
	return assignmentStatuses[c.Status].tone
}

func (c MatrixCell) word() string {
	if c.Overdue && c.Status != "failed" && c.Status != "needs_retry" {
		return "Overdue"
	}
	return assignmentStatuses[c.Status].word
}

// PersonSearch finds the person whose record is wanted.
type PersonSearch struct {
	Report
	Rows []Employee
	More bool
}
