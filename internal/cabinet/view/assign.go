package view

import "strconv"

// The choices of when an assignment is due.
const (
	WhenDefault = "default"
	WhenDays    = "days"
	WhenDate    = "date"
)

// PersonOption is a person who can be chosen.
type PersonOption struct {
	ID    int64
	Name  string
	Email string
}

// AssignForm assigns courses to people: who, what, when, and what that would do.
type AssignForm struct {
	Everyone      bool
	Listed        *EmployeeFilter // everybody whom the list of employees shows with it
	Search        string
	Found, Chosen []PersonOption
	Tags          []Option
	ChosenTags    map[string]bool
	Pasted        string

	Courses       []Option
	ChosenCourses map[string]bool

	When        string
	Days, Date  string
	DefaultDays int
	Required    bool
	Again       bool

	People, Already, New int64
	Many                 bool // too many people to count what they have already
	AtLeast              bool // there are more people than People says
	Unknown              []string
	Problem              string // why nothing is counted: the people are too many, or one of them is not an id
	Errors               Errors
}

// sum describes what the form would do: 36 people × 2 courses = 72 assignments.
func (f AssignForm) sum() string {
	courses := int64(len(f.ChosenCourses))
	switch {
	case f.People == 0 && courses == 0:
		return "Choose people and courses."
	case f.People == 0:
		return "Choose people."
	case courses == 0:
		return f.people() + ". Choose at least one course."
	}
	sum := f.people() + " × " + plural(courses, "course", "courses")
	if f.AtLeast {
		return sum + "."
	}
	return sum + " = " + plural(f.People*courses, "assignment.", "assignments.")
}

func (f AssignForm) people() string {
	if f.AtLeast {
		return "More than " + formatCount(f.People) + " people"
	}
	return plural(f.People, "person", "people")
}

// skipped describes how many people have the courses already and are left out.
func (f AssignForm) skipped() string {
	switch {
	case f.Many && len(f.ChosenCourses) > 0:
		return "Those who already have it are skipped."
	case f.Already == 0:
		return ""
	}
	if f.Already == 1 {
		return "1 exists already and is skipped."
	}
	return formatCount(f.Already) + " exist already and are skipped."
}

func (f AssignForm) verb() string {
	switch {
	case f.Many:
		return "Assign to all of them"
	case f.New > 0:
		return "Assign " + formatCount(f.New)
	}
	return "Assign"
}

func (f AssignForm) defaultLabel() string {
	return "In " + strconv.Itoa(f.DefaultDays) + " days, as set for the company"
}

// listedLabel describes the people whom the list of employees shows.
func (f AssignForm) listedLabel() string {
	text := "Everyone in the list of employees"
	for _, chip := range employeeChips[1:] {
		if chip.Value == f.Listed.Show {
			text += ", " + chip.Label
		}
	}
	if f.Listed.Tag != "" {
		text += ", tag: " + f.Listed.Tag
	}
	if f.Listed.Search != "" {
		text += ", search: " + f.Listed.Search
	}
	return text
}
