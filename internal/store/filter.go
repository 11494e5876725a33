package store

import "github.com/coursebridge/coursebridge/internal/domain"

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

// ofEmployee returns a column of assignments a, as it is compared and sorted by in a
// list that may be one employee's. No index holds the expression then: SQLite, which
// counts no rows, would otherwise walk along the index of the column instead of reading
// the few rows of the employee.
func ofEmployee(f domain.AssignmentFilter, column string) string {
	if f.EmployeeExternalID == "" {
		return column
	}
	return "coalesce(" + column + ", " + column + ")"
}
