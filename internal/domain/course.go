package domain

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Defaults of a course.
const (
	DefaultPassMark        = 80_00
	DefaultAllowedAttempts = 3
)

// MaxModules is the most modules that a course may have.
const MaxModules = 500

// Course is something that can be assigned to employees. A slice is a course cut from another
// one: ParentID names that one, and the slice belongs to the company that cut it.
type Course struct {
	ID              int64
	OwnerCompanyID  int64 // 0: the platform's own
	ParentID        int64 // 0: not a slice
	ExternalID      string
	Name            string
	IsAssessment    bool
	PassMark        Points
	AllowedAttempts int // 0: unlimited
	Modules         []string
	Sources         []int      // of a slice: the position of each module in its course, 0 where it is not known
	ArchivedAt      *time.Time // nil: it can be assigned
}

// Archived reports whether the course can no longer be assigned.
func (c Course) Archived() bool { return c.ArchivedAt != nil }

// CourseRule is the part of a course that decides about attempts.
type CourseRule struct {
	IsAssessment    bool
	PassMark        Points
	AllowedAttempts int
}

// Rule returns the part that decides about attempts.
func (c Course) Rule() CourseRule {
	return CourseRule{IsAssessment: c.IsAssessment, PassMark: c.PassMark, AllowedAttempts: c.AllowedAttempts}
}

// Normalize trims and checks a course. The error names every field that is wrong.
func (c *Course) Normalize() error {
	var checks Checks
	c.normalize(&checks)
	return checks.Err()
}

func (c *Course) normalize(checks *Checks) {
	var err error
	c.Name, err = NormalizeName(c.Name)
	checks.Add("name", err)
	if c.ExternalID != "" {
		checks.Add("externalId", CheckExternalID(c.ExternalID))
	}
	if c.PassMark < 0 || c.PassMark > FullPoints {
		checks.Add("passMark", errors.New("must be a number from 0 to 100"))
	}
	if c.AllowedAttempts < 0 || c.AllowedAttempts > 1000 {
		checks.Add("attempts", errors.New("must be from 0 (unlimited) to 1000"))
	}
	if len(c.Modules) > MaxModules {
		checks.Add("modules", fmt.Errorf("must be at most %d", MaxModules))
	}
	c.Modules = slices.Clone(c.Modules) // the caller's own stay as they are
	for i, m := range c.Modules {
		if c.Modules[i], err = NormalizeName(m); err != nil {
			checks.Add("modules", err)
			break
		}
	}
}

// SliceInput is what a slice is made of: modules of its course, named by their
// positions from 1, in the order in which they are to be done.
type SliceInput struct {
	Name       string
	ExternalID string // optional
	Modules    []int
}

// Cut returns the slice of parent that the input describes. The error names every field that
// is wrong. Codes: invalid_request.
func (in SliceInput) Cut(parent Course) (Course, error) {
	slice := Course{
		ParentID: parent.ID, Name: in.Name, ExternalID: in.ExternalID, IsAssessment: parent.IsAssessment,
		PassMark: parent.PassMark, AllowedAttempts: parent.AllowedAttempts,
	}
	err := in.pickModules(&slice, parent)
	var checks Checks
	slice.normalize(&checks)
	checks.Add("modules", err)
	return slice, checks.Err()
}

// pickModules copies the modules of parent that the input names.
func (in SliceInput) pickModules(slice *Course, parent Course) error {
	if len(in.Modules) == 0 {
		return errors.New("must name at least one module")
	}
	for _, position := range in.Modules {
		if position < 1 || position > len(parent.Modules) {
			return errors.New("must be positions of the course's modules, counted from 1")
		}
		slice.Modules = append(slice.Modules, parent.Modules[position-1])
		slice.Sources = append(slice.Sources, position)
	}
	return nil
}

// Errors about courses.
var (
	ErrCourseNotFound     = Errorf(CodeCourseNotFound, "There is no course with this id. GET /courses lists the courses of the company.")
	ErrCourseWrongCompany = Errorf(CodeWrongCompany, "This course is not among the courses of the token's company. GET /courses lists them.")
	ErrCourseArchived     = Errorf(CodeCourseArchived, "This course is archived, so it can't be assigned any more. Choose another one.")
	ErrSliceInUse         = Errorf(CodeConflict, "This slice is assigned to people, so it can't be edited. Make another slice, or archive this one.")
	ErrNotASlice          = Errorf(CodeConflict, "Only slices can be edited here. The learning platform changes its own courses.")
	ErrCourseIDTaken      = Errorf(CodeExternalIDTaken, "Another course already has this external id. Choose another one.")
)
