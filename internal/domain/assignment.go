package domain

import (
	"strings"
	"time"
)

// Status is the state of an assignment.
type Status string

// The statuses, in the order of the contract.
const (
	StatusAssigned   Status = "assigned"
	StatusStarted    Status = "started"
	StatusCompleted  Status = "completed"
	StatusFailed     Status = "failed"
	StatusNeedsRetry Status = "needs_retry"
)

// Statuses lists every status.
var Statuses = []Status{StatusAssigned, StatusStarted, StatusCompleted, StatusFailed, StatusNeedsRetry}

// ParseStatus reads a status filter.
func ParseStatus(s string) (Status, error) {
	for _, status := range Statuses {
		if string(status) == s {
			return status, nil
		}
	}
	return "", Errorf(CodeInvalid, "must be one of assigned, started, completed, failed, needs_retry")
}

// Category groups statuses the way a person would.
type Category string

// The categories.
const (
	CategoryNotStarted Category = "not_started"
	CategoryInProgress Category = "in_progress"
	CategoryCompleted  Category = "completed"
	CategoryOverdue    Category = "overdue"
)

// Assignment is a course assigned to an employee, with the learner's progress.
type Assignment struct {
	CompanyID          int64
	ID                 int64
	ExternalID         string
	EmployeeID         int64
	EmployeeExternalID string
	EmployeeEmail      string
	EmployeeName       string
	CourseID           int64
	CourseName         string
	Rule               CourseRule
	IsRequired         bool
	AssignedAt         time.Time
	Deadline           time.Time
	// AskedDeadline and AskedRequired are the values of the creating request. A
	// repeated request is compared with them, whatever changed since.
	AskedDeadline time.Time
	AskedRequired bool
	OverdueAt     *time.Time
	RevokedAt     *time.Time
	UpdatedAt     time.Time
	Progress
}

// Overdue reports whether the deadline has passed uncompleted at now.
func (a Assignment) Overdue(now time.Time) bool {
	return a.Status != StatusCompleted && !now.Before(a.Deadline)
}

// OwesOverdue reports whether the deadline has passed uncompleted, but no event has been
// written about that: a sweep has not come by yet. A change after which the sweep would
// not find the assignment writes the event itself, before its own.
func (a Assignment) OwesOverdue(now time.Time) bool { return a.OverdueAt == nil && a.Overdue(now) }

// Category sorts the assignment at now.
func (a Assignment) Category(now time.Time) Category {
	switch {
	case a.Status == StatusCompleted:
		return CategoryCompleted
	case a.Overdue(now):
		return CategoryOverdue
	case a.Status == StatusAssigned:
		return CategoryNotStarted
	}
	return CategoryInProgress
}

// LastActivity is the latest activity, the assignment itself before any.
func (a Assignment) LastActivity() time.Time {
	if a.LastActivityAt != nil {
		return *a.LastActivityAt
	}
	return a.AssignedAt
}

// AssignmentFilter narrows a list; zero fields do not.
type AssignmentFilter struct {
	EmployeeExternalID string
	Status             Status
	CourseID           int64
	UpdatedSince       *time.Time
}

// Single reports whether the filter has at most one condition.
func (f AssignmentFilter) Single() bool {
	n := 0
	for _, set := range []bool{f.EmployeeExternalID != "", f.Status != "", f.CourseID != 0, f.UpdatedSince != nil} {
		if set {
			n++
		}
	}
	return n <= 1
}

// MaxLiveAssignments is the most assignments that an employee can have at a time:
// an answer that shows all of them stays below 5 MB.
const MaxLiveAssignments = 10_000

// NewAssignment is a request to assign a course. Deadline and IsRequired are nil
// when the caller left them out.
type NewAssignment struct {
	EmployeeExternalID string
	CourseID           int64
	ExternalID         string
	Deadline           *time.Time
	IsRequired         *bool
}

// Check reports every field that is wrong.
func (n NewAssignment) Check() error {
	var c Checks
	c.Add("employeeExternalId", CheckExternalID(n.EmployeeExternalID))
	c.Add("externalId", CheckExternalID(n.ExternalID))
	return c.Err()
}

// Make returns the assignment that the request creates, without an id.
func (n NewAssignment) Make(e Employee, course Course, now time.Time, defaultDays int) Assignment {
	a := Assignment{
		CompanyID: e.CompanyID, ExternalID: n.ExternalID,
		EmployeeID: e.ID, EmployeeExternalID: e.ExternalID, EmployeeEmail: e.Email, EmployeeName: e.Name,
		CourseID: course.ID, CourseName: course.Name, Rule: course.Rule(),
		IsRequired: n.IsRequired != nil && *n.IsRequired,
		AssignedAt: now, UpdatedAt: now, Deadline: now.AddDate(0, 0, defaultDays),
		Progress: Progress{Status: StatusAssigned},
	}
	if n.Deadline != nil {
		a.Deadline = *n.Deadline
	}
	a.AskedDeadline, a.AskedRequired = a.Deadline, a.IsRequired
	return a
}

// CheckRepeat compares a repeated request with the assignment that has its
// externalId. It returns nil if both ask for the same, else a conflict that names
// the differing fields.
func (n NewAssignment) CheckRepeat(a Assignment) error {
	var differing []string
	if n.EmployeeExternalID != a.EmployeeExternalID {
		differing = append(differing, "employeeExternalId")
	}
	if n.CourseID != a.CourseID {
		differing = append(differing, "courseId")
	}
	if n.Deadline != nil && !n.Deadline.Equal(a.AskedDeadline) {
		differing = append(differing, "deadline")
	}
	if n.IsRequired != nil && *n.IsRequired != a.AskedRequired {
		differing = append(differing, "isRequired")
	}
	if len(differing) == 0 {
		return nil
	}
	err := Errorf(CodeConflict, "An assignment with the externalId %q exists and differs in %s. Send the same values again, or use another externalId.", n.ExternalID, strings.Join(differing, ", "))
	for _, f := range differing {
		err.Fields = append(err.Fields, FieldError{Field: f, Message: "differs from the existing assignment"})
	}
	return err
}

// Errors about assignments.
var (
	ErrTooManyAssignments     = Errorf(CodeTooManyAssignments, "The employee has %d assignments, which is the most. Revoke some first.", MaxLiveAssignments)
	ErrAssignmentNotFound     = Errorf(CodeAssignmentNotFound, "There is no assignment with this id or externalId. The list of assignments has those of the company.")
	ErrAssignmentRevoked      = Errorf(CodeAssignmentRevoked, "This assignment was revoked. Assign the course again if it is still wanted; the externalId is free.")
	ErrAssignmentWrongCompany = Errorf(CodeWrongCompany, "This assignment belongs to another company than the token. Check the id, or use a token of that company.")
)

// BulkItem is one item of a bulk request: an assignment to make, or why it can't be.
type BulkItem struct {
	New NewAssignment
	Err error
}

// BulkResult is the answer to one item: the assignment, or why there is none.
type BulkResult struct {
	Assignment Assignment
	Err        error
}
