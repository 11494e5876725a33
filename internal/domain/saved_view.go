package domain

import (
	"errors"
	"slices"
	"time"
)

// ViewPage names a page of the cabinet whose filter can be saved.
type ViewPage string

// The pages: two lists and the reports that have a filter.
const (
	ViewEmployees   ViewPage = "employees"
	ViewAssignments ViewPage = "assignments"
	ViewMatrix               = ViewPage(ReportMatrix)
	ViewOverdue              = ViewPage(ReportOverdue)
	ViewByCourse             = ViewPage(ReportCourses)
	ViewByTag                = ViewPage(ReportTags)
	ViewCompliance           = ViewPage(ReportCompliance)
)

// ViewPages are all pages whose filter can be saved.
var ViewPages = []ViewPage{ViewEmployees, ViewAssignments, ViewMatrix, ViewOverdue, ViewByCourse, ViewByTag, ViewCompliance}

// SavedView is a page with a filter that somebody has named. Everybody in the
// company sees it.
type SavedView struct {
	ID      int64
	Page    ViewPage
	Filter  string // the query of the page's address, without a search: that may name a person
	Name    string
	SavedBy string
	SavedAt time.Time
}

const (
	// MaxSavedViews is how many views a company may save.
	MaxSavedViews = 100
	// MaxViewName is the longest name of a view, in characters.
	MaxViewName = 80

	maxViewFilter = 2000 // bytes
)

// Errors about saved views.
var (
	ErrViewNotFound  = Errorf(CodeNotFound, "There is no such view. Somebody may have removed it.")
	ErrTooManyViews  = Errorf(CodeConflict, "Your company has saved %d views already. Remove one that you no longer need.", MaxSavedViews)
	ErrViewNameTaken = Invalid(FieldError{Field: "name", Message: "another view has this name; choose a different one"})
)

// NormalizeViewName trims a name and checks it.
func NormalizeViewName(name string) (string, error) {
	var c Checks
	name, err := normalizeLabel(name, MaxViewName)
	c.Add("name", err)
	return name, c.Err()
}

// Normalize normalises the name of a new view and reports every field that is wrong.
func (v *SavedView) Normalize() error {
	var c Checks
	if !slices.Contains(ViewPages, v.Page) {
		c.Add("page", errors.New("must be a page whose filter can be saved"))
	}
	if len(v.Filter) > maxViewFilter {
		c.Add("name", errors.New("the filter is too long to be saved; choose fewer values"))
	}
	if err := c.Err(); err != nil {
		return err
	}
	var err error
	v.Name, err = NormalizeViewName(v.Name)
	return err
}
