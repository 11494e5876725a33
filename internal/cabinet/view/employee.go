package view

import (
	"strings"
	"time"
)

// Employee is a row of the list of employees.
type Employee struct {
	ID             int64
	Name           string
	Email          string
	ExternalID     string // empty: no system has linked the person yet
	Tags           []string
	Open           int64
	Overdue        int64
	LastActivityAt *time.Time
	LeftAt         *time.Time
}

// EmployeeFilter is what the list is narrowed to, as it stands in the address.
type EmployeeFilter struct {
	Search string
	Tag    string
	Show   string // overdue, unassigned, left or empty
}

// EmployeeList is the page of all employees.
type EmployeeList struct {
	Filter    EmployeeFilter
	Employees []Employee
	Total     int64
	More      bool // there are more than Total
	Partial   bool // the list goes on, although the page is not full
	Capped    bool // the search has more matches than it looks for
	Pager     Pager
	Views     []SavedView
	CanChange bool
}

const cappedSearch = "More people match than a search shows. Type more of the name, e-mail or id."

var employeeChips = []Option{{"", "Everyone"}, {"overdue", "Has overdue"}, {"unassigned", "No assignments"}, {"left", "Left"}}

func (f EmployeeFilter) active() bool { return f.Search+f.Tag+f.Show != "" }

func (f EmployeeFilter) query() []string {
	return []string{"q", f.Search, "tag", f.Tag, "show", f.Show}
}

// Path is the list with the filter.
func (f EmployeeFilter) Path() string { return withQuery(PathEmployees, f.query()...) }

func (f EmployeeFilter) exportPath() string { return withQuery(PathEmployeeExport, f.query()...) }

func (f EmployeeFilter) withTag(tag string) string {
	f.Tag = tag
	return withQuery(PathEmployees, f.query()...)
}

// all labels the choice of everybody in the list, on all its pages.
func (l EmployeeList) all() string {
	if l.More || l.Partial {
		return "All that match"
	}
	return "All " + formatCount(l.Total)
}

// canPick reports whether rows can be ticked for a common action.
func (l EmployeeList) canPick() bool { return l.CanChange && l.Filter.Show != "left" }

func (l EmployeeList) total() string {
	if l.Partial {
		return plural(l.Total, "employee", "employees") + " so far"
	}
	if l.More {
		return "More than " + formatCount(l.Total) + " employees"
	}
	return plural(l.Total, "employee", "employees")
}

// separator follows the tag with the index i.
func (e Employee) separator(i int) string {
	if i == len(e.Tags)-1 {
		return ""
	}
	return ", "
}

func (e Employee) tagList() string { return strings.Join(e.Tags, ", ") }

// empty explains why the list is empty and offers the next step.
func (l EmployeeList) empty() empty {
	switch {
	case l.Pager.Next != "":
		return empty{"Nobody so far", "The employees looked at so far all have assignments. Go on with the next ones.", Link{"Continue", l.Pager.Next}}
	case l.Filter.Search+l.Filter.Tag != "":
		return empty{"Nobody matches", "No employee matches this filter. Search finds the beginning of a name, an e-mail or an id.", Link{"Clear the filter", PathEmployees}}
	case l.Filter.Show == "overdue":
		return empty{"Nobody is overdue", "Everybody has completed what was due so far.", Link{"Show everyone", PathEmployees}}
	case l.Filter.Show == "unassigned":
		return empty{"Everybody has an assignment", "Every employee has at least one course to work on or completed.", Link{"Show everyone", PathEmployees}}
	case l.Filter.Show == "left":
		return empty{"Nobody has left", "People you offboard are listed here until you erase them.", Link{"Show everyone", PathEmployees}}
	}
	if !l.CanChange {
		return empty{title: "No employees yet", sentence: "Employees appear here once somebody adds them or a system connects."}
	}
	return empty{"No employees yet", "Import a list from your HR system, or add people one by one.", Link{"Import people", PathImport}}
}
