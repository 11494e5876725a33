package domain

import (
	"errors"
	"fmt"
	"time"
)

// AssignCourses is a request of the cabinet to assign courses to people. Without a
// deadline and days the company's default holds.
type AssignCourses struct {
	CourseIDs []int64    `json:"courseIds"`
	Deadline  *time.Time `json:"deadline,omitempty"`
	Days      int        `json:"days,omitempty"`
	Required  bool       `json:"required,omitempty"`
	Again     bool       `json:"again,omitempty"` // also to people who have completed the course
}

// MaxAssignCourses is the most courses that one request assigns.
const MaxAssignCourses = 20

// Check reports every field that is wrong.
func (in AssignCourses) Check() error {
	var c Checks
	if len(in.CourseIDs) == 0 {
		c.Add("course", errors.New("choose at least one course"))
	}
	if len(in.CourseIDs) > MaxAssignCourses {
		c.Add("course", fmt.Errorf("choose at most %d courses", MaxAssignCourses))
	}
	if in.Days < 0 || in.Days > MaxDeadlineDays {
		c.Add("days", fmt.Errorf("enter a number of days from 1 to %d", MaxDeadlineDays))
	}
	if in.Deadline != nil {
		c.Add("date", CheckInstant(*in.Deadline))
	}
	return c.Err()
}

// Request returns the request to assign a course to an employee. The deadline of one
// that names days is reckoned by the caller.
func (in AssignCourses) Request(externalID string, e Employee, course int64) NewAssignment {
	return NewAssignment{EmployeeExternalID: e.ExternalID, CourseID: course, ExternalID: externalID, Deadline: in.Deadline, IsRequired: &in.Required}
}

// People picks employees: all of them, or those with one of the ids, tags, external
// ids or e-mail addresses, and those that the cabinet's list shows.
type People struct {
	All    bool
	IDs    []int64
	Tags   []string
	Lines  []string            // external ids or e-mail addresses
	Listed *EmployeeListFilter // nil picks nobody
}

// Empty reports whether nobody is picked.
func (p People) Empty() bool {
	return !p.All && p.Listed == nil && len(p.IDs)+len(p.Tags)+len(p.Lines) == 0
}

// AssignCount is what an AssignCourses would do.
type AssignCount struct {
	People  int64
	Courses int64
	Already int64    // pairs of person and course that exist and are skipped
	Unknown []string // lines that name nobody
	// Many is set for more than MaxAssignCount people: Already is not counted then.
	Many bool
	// AtLeast is set if there are more people than People says.
	AtLeast bool
}

// MaxAssignCount is how many people are looked at to count what assigning would do.
const MaxAssignCount = 5_000

// New returns how many assignments would be made, at most if there are many people.
func (c AssignCount) New() int64 { return c.People*c.Courses - c.Already }
