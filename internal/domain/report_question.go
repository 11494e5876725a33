package domain

import (
	"slices"
	"time"
)

// ReportKind names one of the cabinet's reports.
type ReportKind string

// The reports in their order.
const (
	ReportOverdue    ReportKind = "overdue"
	ReportCourses    ReportKind = "courses"
	ReportTags       ReportKind = "tags"
	ReportCompliance ReportKind = "compliance"
	ReportMatrix     ReportKind = "matrix"
)

// Requirement narrows a report to required or to optional assignments.
type Requirement string

// The requirements; any other, such as the empty one, narrows nothing.
const (
	RequiredOnly Requirement = "yes"
	OptionalOnly Requirement = "no"
)

// Flag returns the value of the required flag that a requirement asks for, nil if
// both are fine.
func (r Requirement) Flag() *bool {
	switch r {
	case RequiredOnly, OptionalOnly:
		required := r == RequiredOnly
		return &required
	}
	return nil
}

// ReportQuestion narrows what a report counts; zero fields do not. Two questions that
// are equal have the same answer.
type ReportQuestion struct {
	CourseID int64
	Tag      string
	Required Requirement
	Search   string    // the people of ReportOverdue
	On       time.Time // the end of the day that ReportCompliance looks at
}

// Completion counts the live assignments of a course or of a tag.
type Completion struct {
	CourseID   int64  // of a report by course
	Tag        string // of a report by tag
	People     int64  // who have the tag
	Assigned   int64  // all of them, whatever their status
	Started    int64
	Completed  int64
	NeedsRetry int64
	Failed     int64
	Overdue    int64
}

// CompletionOf returns the completion of a course from its totals.
func CompletionOf(course int64, t *CourseTotals) Completion {
	n := func(s Status) int64 { return int64(t.ByStatus[s]) }
	return Completion{
		CourseID: course, Assigned: int64(t.Count()), Started: n(StatusStarted), Completed: n(StatusCompleted),
		NeedsRetry: n(StatusNeedsRetry), Failed: n(StatusFailed), Overdue: int64(t.Overdue),
	}
}

// Compliance counts the required assignments of a course that were due on a day.
type Compliance struct {
	CourseID int64
	InTime   int64 // completed by their deadline
	Late     int64 // completed after it, by that day
	Missing  int64 // not completed on that day
}

// Due returns how many assignments were due.
func (c Compliance) Due() int64 { return c.InTime + c.Late + c.Missing }

// LateSteps are the numbers of days that divide overdue assignments by how late they
// are: up to a week, a month, a quarter, or longer.
var LateSteps = [3]int{7, 30, 90}

// Lateness counts overdue assignments by how late they are. The last counts those
// beyond the last of LateSteps.
type Lateness [len(LateSteps) + 1]int64

// MatrixQuery narrows the people and the courses of the matrix.
type MatrixQuery struct {
	People   EmployeeListFilter
	CourseID int64 // 0: all courses, in parts
	Part     int   // which part of the courses; 0 is the first
}

// MatrixColumns is how many courses one part of the matrix has.
const MatrixColumns = 8

// Matrix is a page of people with what they have done in some courses.
type Matrix struct {
	Courses    []NamedCourse
	Part       int // which part of the courses they are
	AllCourses int // of all parts
	People     EmployeePage
	Cells      map[MatrixKey]MatrixCell
}

// NamedCourse is a course that has assignments.
type NamedCourse struct {
	ID   int64
	Name string
}

// MatrixKey names a cell of the matrix.
type MatrixKey struct{ EmployeeID, CourseID int64 }

// MatrixCell is the newest live assignment of a person in a course.
type MatrixCell struct {
	AssignmentID int64
	Status       Status
	Deadline     time.Time
}

// Overdue reports whether the assignment is late at an instant.
func (c MatrixCell) Overdue(now time.Time) bool {
	return c.Status != StatusCompleted && !c.Deadline.After(now)
}

// CoursesPart returns the courses of a part, and the number of the part that was
// taken: the last one if there are fewer.
func CoursesPart(courses []NamedCourse, part int) ([]NamedCourse, int) {
	last := max(0, (len(courses)-1)/MatrixColumns)
	part = min(max(part, 0), last)
	return slices.Clone(courses[part*MatrixColumns : min(len(courses), (part+1)*MatrixColumns)]), part
}
