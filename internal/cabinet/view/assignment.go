package view

import (
	"slices"
	"strconv"
	"time"
)

// Assignment is a course that was assigned to a person.
type Assignment struct {
	ID         int64
	ExternalID string
	PersonID   int64
	Person     string
	Email      string
	CourseID   int64
	Course     string
	Status     string // assigned, started, completed, needs_retry, failed
	Overdue    bool
	Percent    string // without the sign
	Score      string // empty: none yet
	Attempts   string // such as 2 of 3
	Required   bool
	AssignedAt time.Time
	Deadline   time.Time
	StartedAt  *time.Time
	EndedAt    *time.Time
	Summary    string
}

type statusWord struct {
	tone Tone
	word string
}

var assignmentStatuses = map[string]statusWord{
	"assigned": {ToneGrey, "Assigned"}, "started": {ToneBlue, "Started"}, "completed": {ToneGreen, "Completed"},
	"needs_retry": {ToneAmber, "Needs retry"}, "failed": {ToneRed, "Failed"},
}

func (a Assignment) finished() bool { return a.Status == "completed" }

func (a Assignment) requiredWord() string { return requiredWord(a.Required) }

func requiredWord(required bool) string {
	if required {
		return "Required"
	}
	return "Optional"
}

// AssignmentTab is a view of the list, with the number of assignments in it.
type AssignmentTab struct {
	Value string
	Label string
	Count int64
	More  bool // there may be more than Count
}

// count writes how many assignments the tab has.
func (t AssignmentTab) count() string {
	switch {
	case !t.More:
		return formatCount(t.Count)
	case t.Count == 0:
		return ""
	}
	return formatCount(t.Count) + "+"
}

// AssignmentFilter is what the list is narrowed to, as it stands in the address.
type AssignmentFilter struct {
	Tab      string
	Search   string
	Course   string
	Tag      string
	Required string // yes, no or empty
	Recent   string // 1: completed in the last 30 days, or empty
}

func (f AssignmentFilter) active() bool { return f.narrowed() || f.Search+f.Recent != "" }

func (f AssignmentFilter) narrowed() bool { return f.Course+f.Tag+f.Required != "" }

// query returns the filter as pairs of an address.
func (f AssignmentFilter) query() []string {
	return []string{"tab", f.Tab, "q", f.Search, "course", f.Course, "tag", f.Tag, "required", f.Required, "recent", f.Recent}
}

// hidden returns the filter as the hidden inputs of a form.
func (f AssignmentFilter) hidden() (out []HiddenInput) {
	for pair := range slices.Chunk(f.query(), 2) {
		if pair[1] != "" {
			out = append(out, HiddenInput{pair[0], pair[1]})
		}
	}
	return out
}

// Path returns the address of the list, narrowed by the filter.
func (f AssignmentFilter) Path() string { return withQuery(PathAssignments, f.query()...) }

func (f AssignmentFilter) inTab(tab string) string {
	if f.Tab != tab {
		f.Tab, f.Recent = tab, ""
	}
	return f.Path()
}

// cleared returns the address of the tab without any filter.
func (f AssignmentFilter) cleared() string { return withQuery(PathAssignments, "tab", f.Tab) }

// AssignmentList is the page of assignments.
type AssignmentList struct {
	Filter  AssignmentFilter
	Tabs    []AssignmentTab
	Courses []Option
	Tags    []Option
	Rows    []Assignment
	Pager   Pager
	Views   []SavedView
	Any     bool // the company has assignments at all

	CanChange bool
	Capped    bool // the search has more matches than it looks for
}

// open returns the tab that is shown.
func (l AssignmentList) open() AssignmentTab {
	for _, t := range l.Tabs {
		if t.Value == l.Filter.Tab {
			return t
		}
	}
	return AssignmentTab{}
}

// total describes how many assignments the open tab has.
func (l AssignmentList) total() string {
	t := l.open()
	switch {
	case t.More && t.Count == 0:
		return "Many assignments match the filter"
	case t.More:
		return "At least " + plural(t.Count, "assignment", "assignments")
	}
	return plural(t.Count, "assignment", "assignments")
}

// everTab returns the address of the open tab without the limit to recent assignments.
func (f AssignmentFilter) everTab() string {
	f.Recent = ""
	return f.Path()
}

// all labels the choice of everything in the open tab, on all its pages.
func (l AssignmentList) all() string {
	if t := l.open(); !t.More {
		return "All " + formatCount(t.Count)
	}
	return "All that match"
}

// emptyTab describes what it means that a tab has no rows.
func (l AssignmentList) emptyTab() empty {
	words := map[string][2]string{
		"overdue":     {"Nothing is overdue", "Everything that is due has been completed in time."},
		"due_soon":    {"Nothing is due soon", "No deadline lies within the next 7 days."},
		"in_progress": {"Nothing is in progress", "Nobody is working on a course right now."},
		"needs_retry": {"Nobody needs to retry", "Nobody is waiting for another attempt."},
		"failed":      {"Nobody has failed", "Nobody has used up all attempts."},
		"completed":   {"Nothing is completed yet", "Completed assignments will be listed here."},
	}[l.Filter.Tab]
	return empty{words[0], words[1], Link{"Show all assignments", PathAssignments}}
}

var requiredChoices = []Option{{"", "Any"}, {"yes", "Required"}, {"no", "Optional"}}

// AssignmentDetail is the page of one assignment.
type AssignmentDetail struct {
	Assignment
	History   []AssignmentChange
	CanChange bool
}

// AssignmentChange is one entry of an assignment's history.
type AssignmentChange struct {
	At     time.Time
	Title  string
	Detail string
	By     string
	Tone   Tone
}

// DeadlineForm moves the deadline of one assignment.
type DeadlineForm struct {
	Assignment
	Date   string
	Errors Errors
}

func assignmentCrumbs() []Link { return []Link{{"Assignments", PathAssignments}} }

func (a Assignment) crumbs() []Link {
	return append(assignmentCrumbs(), Link{a.Person + ", " + a.Course, PathAssignment(a.ID)})
}

// AssignmentRevoke asks whether to revoke an assignment.
func AssignmentRevoke(a Assignment) Confirm {
	return Confirm{
		Section: SectionAssignments, Crumbs: a.crumbs(), Title: "Revoke this assignment?",
		Effects: []string{a.Person + " will no longer have to do “" + a.Course + "”.", "The progress made so far will be kept but no longer shown."},
		Action:  PathAssignment(a.ID, "revoke"), Verb: "Revoke assignment", Danger: true, Cancel: PathAssignment(a.ID),
	}
}

// AssignmentGrant asks whether to allow another attempt.
func AssignmentGrant(a Assignment) Confirm {
	return Confirm{
		Section: SectionAssignments, Crumbs: a.crumbs(), Title: "Grant another attempt?",
		Effects: []string{a.Person + " has failed “" + a.Course + "” and will be able to try once more."},
		Action:  PathAssignment(a.ID, "grant"), Verb: "Grant attempt", Cancel: PathAssignment(a.ID),
	}
}

// AssignmentRequire asks whether to change the required flag.
func AssignmentRequire(a Assignment) Confirm {
	c := Confirm{
		Section: SectionAssignments, Crumbs: a.crumbs(), Title: "Make this assignment required?",
		Effects: []string{"It will count towards the completion of required courses."},
		Action:  PathAssignment(a.ID, "required"), Verb: "Make required", Cancel: PathAssignment(a.ID), Hidden: []HiddenInput{{"required", "yes"}},
	}
	if a.Required {
		c.Title, c.Effects[0] = "Make this assignment optional?", "It will no longer count towards the completion of required courses."
		c.Verb, c.Hidden[0].Value = "Make optional", "no"
	}
	return c
}

// formatDays writes a number of days with its noun.
func formatDays(n int) string {
	return strconv.Itoa(n) + map[bool]string{true: " day", false: " days"}[n == 1]
}
