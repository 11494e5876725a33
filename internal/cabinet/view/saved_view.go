package view

import (
	"net/url"
	"strings"
	"time"
)

// Paths of saved views.
const (
	PathViews   = "/cabinet/reports/views"
	PathViewNew = "/cabinet/reports/views/new"
)

// PathView is an action (rename, remove) on a saved view.
func PathView(id int64, verb string) string {
	return itemPath(PathViews, formatInt(id), []string{verb})
}

// ViewFilters maps the pages whose filter can be saved to the parameters of their
// addresses that a view keeps.
var ViewFilters = map[string][]string{
	"employees": {"show", "tag"}, "assignments": {"tab", "course", "tag", "required", "recent"},
	"matrix": {"course", "tag"}, "overdue": {"course", "tag", "required"}, "courses": {"course", "tag", "required"},
	"tags": {"course", "required"}, "compliance": {"on", "course", "tag"},
}

// SavedView is a page with a filter that somebody has named.
type SavedView struct {
	ID      int64
	Page    string // employees, assignments or the kind of a report
	Filter  url.Values
	Name    string
	SavedBy string
	SavedAt time.Time
	Courses map[string]string // names by id, to describe the filter
}

// PageViews is what a page offers about its own saved views.
type PageViews struct {
	Page    string
	Query   []string // its filter, as pairs of an address
	Saved   []SavedView
	CanSave bool
}

// SavedViewForm names a view.
type SavedViewForm struct {
	View   SavedView
	Errors Errors
}

// Path returns the address of the page with the filter.
func (v SavedView) Path() string {
	path := PathReport(v.Page)
	switch v.Page {
	case "employees":
		path = PathEmployees
	case "assignments":
		path = PathAssignments
	}
	if len(v.Filter) == 0 {
		return path
	}
	return path + "?" + v.Filter.Encode()
}

// page names the page that the view opens.
func (v SavedView) page() string {
	switch v.Page {
	case "employees":
		return "Employees"
	case "assignments":
		return "Assignments"
	}
	return reportTexts[v.Page].question
}

// everything describes a filter that leaves nothing out.
const everything = "Everything"

// words describes the filter.
func (v SavedView) words() string {
	var out []string
	for _, name := range ViewFilters[v.Page] {
		value := v.Filter.Get(name)
		switch {
		case value == "":
		case name == "course" && v.Courses[value] != "":
			out = append(out, v.Courses[value])
		case name == "course":
			out = append(out, "One course")
		case name == "required" && value == "yes":
			out = append(out, "Required")
		case name == "required":
			out = append(out, "Optional")
		case name == "recent":
			out = append(out, "In the last 30 days")
		case name == "on":
			out = append(out, "On "+value)
		case name == "tab" || name == "show":
			if words := viewSelections[value]; words != "" {
				out = append(out, words)
			}
		default:
			out = append(out, "Tag "+value)
		}
	}
	if len(out) == 0 {
		return everything
	}
	return strings.Join(out, ", ")
}

// viewSelections are the words for the tabs and the chips of the lists.
var viewSelections = map[string]string{
	"overdue": "Overdue", "due_soon": "Due soon", "in_progress": "In progress", "needs_retry": "Needs retry", "failed": "Failed",
	"completed": "Completed", "unassigned": "No assignments", "left": "Left",
}

func viewCrumbs() []Link { return []Link{{"Reports", PathReports}} }

// saveViewPath returns the address of the form that saves a page's filter.
func saveViewPath(page string, query ...string) string {
	return withQuery(PathViewNew, append([]string{"page", page}, query...)...)
}

// followed returns the parameters that a link to the form takes from the address.
func followed(page string) string { return strings.Join(ViewFilters[page], " ") }

// SavedViewRemove asks whether to remove a view.
func SavedViewRemove(v SavedView) Confirm {
	return Confirm{
		Section: SectionReports, Crumbs: viewCrumbs(), Title: "Remove the view “" + v.Name + "”?",
		Effects: []string{"It disappears for everybody in your company. The people and assignments that it shows stay as they are."},
		Action:  PathView(v.ID, "remove"), Verb: "Remove view", Danger: true, Cancel: PathReports,
	}
}
