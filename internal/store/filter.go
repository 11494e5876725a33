package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// accessPath describes how the conditions of a filter are written, and thereby which
// way to the rows PostgreSQL may plan.
type accessPath int

const (
	// anyIndex lets the planner use whatever index serves the filter.
	anyIndex accessPath = iota
	// primaryKeyWalk leaves only the walk along the primary key: see report.go.
	primaryKeyWalk
	// alongTags is for statements that begin with employee_tags t, in the order of the
	// employees. SQLite would read all who have the tag before the first row of a page.
	alongTags
)

// isNull returns the condition that a column is NULL. With primaryKeyWalk no
// partial index matches it.
func (p accessPath) isNull(column string) string {
	if p == primaryKeyWalk {
		return "CASE WHEN " + column + " IS NULL THEN 1 ELSE 0 END <> 0"
	}
	return column + " IS NULL"
}

// isAmong returns the condition that a column has one of the values that another
// table has. With primaryKeyWalk the other table is searched for each row, instead
// of leading to the rows.
func (p accessPath) isAmong(column, values, from string) string {
	if p == primaryKeyWalk {
		return "(SELECT count(*) FROM " + from + " AND " + values + " = " + column + ") > 0"
	}
	return column + " IN (SELECT " + values + " FROM " + from + ")"
}

// leadingColumn is the column of assignments a by whose index a list finds its rows. With
// anyColumn the planner chooses. That is good for a single filter, but SQLite, which
// counts no rows, always prefers the order of the result, and PostgreSQL may keep a plan
// that was made for other arguments.
type leadingColumn string

const (
	anyColumn  leadingColumn = ""
	byEmployee leadingColumn = "a.employee_id"
	byStatus   leadingColumn = "a.status"
	byCourse   leadingColumn = "a.course_id"
	byUpdate   leadingColumn = "a.updated_at"
)

// column returns a column as it is compared and sorted by. Unless it is the leading one,
// this is an expression that no index holds.
func (l leadingColumn) column(name leadingColumn) string {
	if l == anyColumn || l == name {
		return string(name)
	}
	return fmt.Sprintf("coalesce(%s, %[1]s)", name)
}

// from returns the tables of a list of assignments. Where a filter was chosen, its
// assignments are found first: a planner that believes a company to have few employees
// would look for assignments once per employee.
func (l leadingColumn) from(d db.Dialect) string {
	if l == anyColumn || l == byEmployee {
		return assignmentFrom
	}
	return assignmentsFirst(d)
}

// leadingColumns are those of a list of assignments: for the count of its total, if it is
// counted, and for a page.
type leadingColumns struct{ total, page leadingColumn }

// pageByUpdate is how many times as many assignments may have changed as the smallest
// filter matches for a page to be read in the order of the changes. That reads a page's
// rows and those between them, instead of sorting all that the smallest filter matches, for
// each page. There are five statuses, so that where each has its share, a walk over one of
// them follows the changes.
const pageByUpdate = 8

// chooseLeading chooses the filter that matches the fewest assignments. How many each
// matches is asked only where several are combined.
func (s *Store) chooseLeading(ctx context.Context, company int64, f domain.AssignmentFilter, kept bool) (leadingColumns, error) {
	switch {
	case f.EmployeeExternalID != "":
		return leadingColumns{byEmployee, byEmployee}, nil
	case !kept || f.Single():
		return leadingColumns{anyColumn, anyColumn}, nil
	}
	c := &conditions{}
	var by []leadingColumn
	var totals []string
	for _, single := range []struct {
		column leadingColumn
		filter domain.AssignmentFilter
	}{
		{byStatus, domain.AssignmentFilter{Status: f.Status}},
		{byCourse, domain.AssignmentFilter{CourseID: f.CourseID}},
		{byUpdate, domain.AssignmentFilter{UpdatedSince: f.UpdatedSince}},
	} {
		if single.filter != (domain.AssignmentFilter{}) {
			by = append(by, single.column)
			totals = append(totals, c.assignmentTotal(company, single.filter, kept, anyColumn))
		}
	}
	matched := make([]int64, len(by))
	dest := make([]any, len(by))
	for i := range matched {
		dest[i] = &matched[i]
	}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(dest...) }, `SELECT `+strings.Join(totals, ", "), c.args...)
	if err := s.read(ctx, b); err != nil {
		return leadingColumns{}, err
	}
	fewest := slices.Index(matched, slices.Min(matched))
	out := leadingColumns{by[fewest], by[fewest]}
	if i := slices.Index(by, byUpdate); i >= 0 && matched[i] <= pageByUpdate*matched[fewest] {
		out.page = byUpdate
	}
	return out, nil
}
