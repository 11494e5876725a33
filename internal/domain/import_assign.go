package domain

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The fields of an import that assign a course to the person of the row.
const (
	ImportCourse   ImportField = "course"
	ImportDeadline ImportField = "deadline"
	ImportRequired ImportField = "required"
)

// ImportCourseOutcome is what an import does, or did, with the course that a row names;
// empty if it names none.
type ImportCourseOutcome string

// The outcomes for courses.
const (
	CourseAssigned ImportCourseOutcome = "assigned"
	CourseHeld     ImportCourseOutcome = "already" // the person has the course
)

// Assigns reports whether a column names courses.
func (i Import) Assigns() bool { return slices.Contains(i.Fields, ImportCourse) }

// ImportAssignment is the course that a row assigns. CourseID is 0 if it names none.
type ImportAssignment struct {
	CourseID int64
	Deadline *time.Time // nil: the company's default
	Required bool
}

// ImportCourses finds courses by what a cell says: the id, the external id or the
// name, whatever its case.
type ImportCourses map[string]int64

// ambiguousCourse stands for a name that several courses have.
const ambiguousCourse = -1

// NewImportCourses indexes the courses of a company that can be assigned.
func NewImportCourses(courses []Course) ImportCourses {
	out := ImportCourses{}
	for _, c := range courses {
		if c.Archived() {
			continue
		}
		name := FoldName(c.Name)
		if _, taken := out[name]; taken {
			out[name] = ambiguousCourse
		} else {
			out[name] = c.ID
		}
	}
	for _, c := range courses {
		if !c.Archived() && c.ExternalID != "" {
			out[FoldName(c.ExternalID)] = c.ID
		}
	}
	for _, c := range courses {
		if id := strconv.FormatInt(c.ID, 10); !c.Archived() && out[id] == 0 {
			out[id] = c.ID
		}
	}
	return out
}

// Assignment reads the course that a row assigns. Dates are days of the zone; the
// deadline is the end of the day.
func (i Import) Assignment(cells []string, courses ImportCourses, zone *time.Location) (ImportAssignment, error) {
	var out ImportAssignment
	var c Checks
	for n, field := range i.Fields {
		if n >= len(cells) || cells[n] == "" {
			continue
		}
		switch field {
		case ImportCourse:
			out.CourseID = courses[FoldName(cells[n])]
			switch out.CourseID {
			case 0:
				c.Add("course", fmt.Errorf("%q is not one of your courses; write a name or an id from the page Courses", cells[n]))
			case ambiguousCourse:
				c.Add("course", fmt.Errorf("%q is the name of several courses; write the id of one", cells[n]))
			}
		case ImportDeadline:
			day, err := parseImportDay(cells[n], zone)
			c.Add("deadline", err)
			out.Deadline = &day
		case ImportRequired:
			var err error
			out.Required, err = parseYesNo(cells[n])
			c.Add("required", err)
		}
	}
	return out, c.Err()
}

// parseImportDay reads a date as people and spreadsheets write it and returns the end
// of that day.
func parseImportDay(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, "2.1.2006", "2 Jan 2006", time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05"} {
		if day, err := time.ParseInLocation(layout, text, zone); err == nil {
			end := endOfDay(day, zone)
			return end, CheckInstant(end)
		}
	}
	// XLSX stores a date as the days since 30 December 1899.
	if days, err := strconv.ParseFloat(text, 64); err == nil && days > 30_000 && days < 80_000 {
		return endOfDay(time.Date(1899, 12, 30+int(days), 0, 0, 0, 0, zone), zone), nil
	}
	return time.Time{}, errors.New("must be a date such as 2027-01-31 or 31.01.2027")
}

func endOfDay(day time.Time, zone *time.Location) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), 23, 59, 59, 0, zone).UTC()
}

// yesWords and noWords are what people write into a column of flags.
var (
	yesWords = []string{"yes", "y", "true", "1", "x", "required", "да", "ja"}
	noWords  = []string{"no", "n", "false", "0", "-", "optional", "нет", "nein"}
)

func parseYesNo(text string) (bool, error) {
	word := strings.ToLower(text)
	if slices.Contains(yesWords, word) || slices.Contains(noWords, word) {
		return slices.Contains(yesWords, word), nil
	}
	return false, errors.New("must be yes or no")
}

// PersonCourse asks to assign a course to an employee who does not have it yet.
type PersonCourse struct {
	EmployeeID           int64
	AssignmentExternalID string // of the new assignment
	ImportAssignment
}

// PersonCourseOutcome is what became of a PersonCourse. Its zero value: the course was
// assigned.
type PersonCourseOutcome struct {
	IsHeld  bool // the employee has the course already
	Refused Code // why the course can't be assigned; empty otherwise
}
