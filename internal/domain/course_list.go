package domain

import (
	"cmp"
	"maps"
	"slices"
)

// CourseOverview is a course of a company with its figures there.
type CourseOverview struct {
	Course      // without its modules
	ModuleCount int
	Totals      CourseTotals
}

// Assigned returns how many live assignments the course has.
func (o CourseOverview) Assigned() int64 { return int64(o.Totals.Count()) }

// Completed returns how many of them are completed.
func (o CourseOverview) Completed() int64 { return int64(o.Totals.ByStatus[StatusCompleted]) }

// Tried returns how many of them have ended an attempt: the pass rate is the share of
// these that are completed.
func (o CourseOverview) Tried() int64 {
	return o.Completed() + int64(o.Totals.ByStatus[StatusFailed]+o.Totals.ByStatus[StatusNeedsRetry])
}

// CourseSelection is which courses a list shows.
type CourseSelection string

// The selections.
const (
	CoursesActive      CourseSelection = ""
	CoursesAssessments CourseSelection = "assessments"
	CoursesSlices      CourseSelection = "slices"
	CoursesArchived    CourseSelection = "archived"
	CoursesAll         CourseSelection = "all" // archived ones too; no list of the cabinet shows it
)

// CourseOrder is how a list of courses is sorted.
type CourseOrder string

// The orders: by name, or the largest figure first, for completion the smallest.
const (
	CoursesByName       CourseOrder = ""
	CoursesByAssigned   CourseOrder = "assigned"
	CoursesByOverdue    CourseOrder = "overdue"
	CoursesByCompletion CourseOrder = "completion"
)

// CourseQuery narrows and sorts the cabinet's list of courses.
type CourseQuery struct {
	Search string // the beginning of a word of the name, or of the external id
	Show   CourseSelection
	Order  CourseOrder
}

// Normalize turns what is unknown into the default.
func (q *CourseQuery) Normalize() {
	if !slices.Contains([]CourseSelection{CoursesAssessments, CoursesSlices, CoursesArchived}, q.Show) {
		q.Show = CoursesActive
	}
	if !slices.Contains([]CourseOrder{CoursesByAssigned, CoursesByOverdue, CoursesByCompletion}, q.Order) {
		q.Order = CoursesByName
	}
}

// Select returns the courses that the query matches, in its order. A company has few
// enough of them to be held in memory.
func (q CourseQuery) Select(all []CourseOverview) []CourseOverview {
	var out []CourseOverview
	for _, o := range all {
		if q.matches(o) {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b CourseOverview) int {
		byName := cmp.Or(cmp.Compare(FoldName(a.Name), FoldName(b.Name)), cmp.Compare(a.ID, b.ID))
		switch q.Order {
		case CoursesByAssigned:
			return cmp.Or(cmp.Compare(b.Assigned(), a.Assigned()), byName)
		case CoursesByOverdue:
			return cmp.Or(cmp.Compare(b.Totals.Overdue, a.Totals.Overdue), byName)
		case CoursesByCompletion: // what nobody has is last
			return cmp.Or(cmp.Compare(min(b.Assigned(), 1), min(a.Assigned(), 1)),
				cmp.Compare(a.Completed()*b.Assigned(), b.Completed()*a.Assigned()), byName)
		}
		return byName
	})
	return out
}

func (q CourseQuery) matches(o CourseOverview) bool {
	if q.Show != CoursesAll && o.Archived() != (q.Show == CoursesArchived) {
		return false
	}
	if q.Show == CoursesAssessments && !o.IsAssessment || q.Show == CoursesSlices && o.ParentID == 0 {
		return false
	}
	return q.Search == "" || MatchesSearch(q.Search, o.Name, o.ExternalID)
}

// MedianDays returns the median of days that are counted; ok is false if there is none.
func MedianDays(counts map[int]int64) (days int, ok bool) {
	var all, seen int64
	for _, n := range counts {
		all += n
	}
	for _, days := range slices.Sorted(maps.Keys(counts)) {
		if seen += counts[days]; seen*2 >= all && all > 0 {
			return max(0, days), true
		}
	}
	return 0, false
}
