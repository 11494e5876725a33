package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// The totals of lists are kept, not counted: see docs/adr/0008-kept-totals.md.
// Triggers of the tables append what changes to total_changes, in the transaction of
// the change. FoldTotals adds the changes to totals. So a total is a few rows of
// totals plus the changes that are not folded yet, and both are read in the statement
// that reads the page.

// The kinds of totals. Each total has two keys, number_key and text_key, which the
// comments explain.
const (
	totalByStatus  = "status"   // live assignments, by course and status
	totalOverdue   = "overdue"  // those of them that are marked as overdue, by course
	totalUpdated   = "updated"  // live assignments, by the ten seconds in which they changed last
	totalEmployees = "employee" // live employees, by tag; all of them have the tag ""

	totalRequired   = "required"  // live assignments that are required, by course and status
	totalDue        = "due"       // live assignments that are not completed, by the hour of their deadline
	totalCompleted  = "completed" // live assignments that are completed, by the hour of their completion
	totalDaysTaken  = "days"      // completed assignments, by course and by the whole days that they took
	totalDayFigures = "day"       // the DayFigures of each day, by its start; they are written once a day
)

// updatedLevels are totalUpdated and its coarser sums, which FoldTotals derives, with
// the seconds that one total covers. With them a period is the sum of few totals.
var updatedLevels = []struct {
	kind    string
	seconds int64
}{{totalUpdated, 10}, {"updated_hour", 3600}, {"updated_day", 86400}}

// hasTotals reports whether the totals of a company are complete. Until then, lists
// count rows. It is asked before the list is read, because a statement that can do
// both would be planned for the count.
func (s *Store) hasTotals(ctx context.Context, company int64) (bool, error) {
	return s.isComplete(ctx, &s.keptTotals, "kept_at", company)
}

// isComplete reports whether a column of total_companies is set for a company. It
// never becomes null again, so that a true answer is cached.
func (s *Store) isComplete(ctx context.Context, cache *sync.Map, column string, company int64) (bool, error) {
	if _, known := cache.Load(company); known {
		return true, nil
	}
	complete := false
	b := &db.Batch{}
	b.Query(func(db.Rows) error { complete = true; return nil },
		`SELECT 1 FROM total_companies WHERE company_id = $1 AND `+column+` IS NOT NULL`, company)
	err := s.read(ctx, b)
	if err == nil && complete {
		cache.Store(company, true)
	}
	return complete, err
}

// keptTotal returns an expression for the sum of the totals of a kind whose keys meet
// the conditions.
func (c *conditions) keptTotal(company int64, kind string, keys ...string) string {
	where := fmt.Sprintf(" WHERE company_id = %s AND kind = '%s'", c.arg(company), kind)
	for _, key := range keys {
		where += " AND " + key
	}
	return fmt.Sprintf("CAST(coalesce((SELECT sum(n) FROM totals%s), 0) + coalesce((SELECT sum(n) FROM total_changes%[1]s), 0) AS bigint)", where)
}

// assignmentTotal returns an expression for the number of assignments that a filter
// matches. It counts rows while the totals are incomplete, for one employee (few rows),
// and for updatedSince combined with a status or a course (no such total): then along the
// index of the leading column.
func (c *conditions) assignmentTotal(company int64, f domain.AssignmentFilter, kept bool, by leadingColumn) string {
	switch {
	case !kept, f.EmployeeExternalID != "", f.UpdatedSince != nil && (f.Status != "" || f.CourseID != 0):
		filter := c.nested()
		filter.addAssignmentFilter(company, f, anyIndex, by)
		c.args = filter.args
		return `(SELECT count(*) FROM assignments a` + filter.where() + `)`
	case f.UpdatedSince != nil:
		return c.updatedTotal(company, *f.UpdatedSince)
	}
	var keys []string
	if f.CourseID != 0 {
		keys = append(keys, "number_key = "+c.arg(f.CourseID))
	}
	if f.Status != "" {
		keys = append(keys, "text_key = "+c.arg(string(f.Status)))
	}
	return c.keptTotal(company, totalByStatus, keys...)
}

// nested returns empty conditions whose arguments follow those of c.
func (c *conditions) nested() *conditions { return &conditions{args: c.args} }

// updatedTotal returns an expression for the number of assignments that changed at
// or after an instant. Only those of the ten seconds that it lies in are counted.
func (c *conditions) updatedTotal(company int64, since time.Time) string {
	whole := roundUp(since, updatedLevels[0].seconds)
	sum := fmt.Sprintf(`CAST((SELECT count(*) FROM assignments WHERE company_id = %s AND revoked_at IS NULL AND updated_at >= %s AND updated_at < %s)`,
		c.arg(company), c.arg(since), c.arg(whole))
	sum += fmt.Sprintf(` + coalesce((SELECT sum(n) FROM total_changes WHERE company_id = %s AND kind = '%s' AND number_key >= %s), 0)`,
		c.arg(company), totalUpdated, c.arg(whole.Unix()))
	for i, level := range updatedLevels {
		condition := ""
		from := whole
		if i+1 < len(updatedLevels) {
			whole = roundUp(whole, updatedLevels[i+1].seconds)
			condition = " AND number_key < " + c.arg(whole.Unix())
		}
		sum += fmt.Sprintf(` + coalesce((SELECT sum(n) FROM totals WHERE company_id = %s AND kind = '%s' AND number_key >= %s%s), 0)`,
			c.arg(company), level.kind, c.arg(from.Unix()), condition)
	}
	return sum + " AS bigint)"
}

// roundUp returns the first multiple of some seconds since 1970 that is not before t.
func roundUp(t time.Time, seconds int64) time.Time {
	over := t.Unix() % seconds
	if over < 0 {
		over += seconds
	}
	if over == 0 && t.Nanosecond() == 0 {
		return t
	}
	return time.Unix(t.Unix()-over+seconds, 0).UTC()
}

// employeeTotal returns an expression for the number of employees that a filter
// matches. At most one employee has an address or an external id, so these filters
// are counted.
func (c *conditions) employeeTotal(company int64, f domain.EmployeeFilter, kept bool) string {
	if !kept || f.Email != "" || f.ExternalID != "" {
		filter := c.nested()
		filter.addEmployeeFilter(company, f, anyIndex, 0)
		c.args = filter.args
		return `(SELECT count(*) FROM employees e` + filter.where() + `)`
	}
	return c.keptTotal(company, totalEmployees, "number_key = 0", "text_key = "+c.arg(f.Tag))
}

// listBatch returns a batch for the statement of a list. With keepPlan, one plan is
// used for all arguments: that is for statements that always read one page along one
// index.
func (s *Store) listBatch(keepPlan bool) *db.Batch {
	b := &db.Batch{}
	if sql := s.db.KeepPlan(); keepPlan && sql != "" {
		b.Query(ignoreRow, sql)
	}
	return b
}

// readTotal reads a total on its own, for a page without rows. Otherwise the total is
// a column of each row.
func (s *Store) readTotal(ctx context.Context, expression string, args []any) (int64, error) {
	var n int64
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&n) }, `SELECT `+expression, args...)
	err := s.read(ctx, b)
	return n, err
}

// AssignmentTotals returns how many live assignments the company has, by course. A
// course without any is missing. An empty status stands for overdue. Assignments that
// became overdue after the last sweep are not in the totals yet; they are counted.
func (s *Store) AssignmentTotals(ctx context.Context, company int64) (domain.AssignmentTotals, error) {
	const (
		kinds           = `kind IN ('` + totalByStatus + `', '` + totalOverdue + `')`
		live            = ` FROM assignments WHERE company_id = $1 AND revoked_at IS NULL AND `
		markedOverdue   = `overdue_at IS NOT NULL AND status <> 'completed'`
		unmarkedOverdue = `overdue_at IS NULL AND status <> 'completed' AND deadline <= $2`
		kept            = `SELECT number_key AS course_id, text_key AS status, n FROM totals WHERE company_id = $1 AND ` + kinds + `
			UNION ALL SELECT number_key, text_key, n FROM total_changes WHERE company_id = $1 AND ` + kinds
		counted = `SELECT course_id, status, count(*) AS n` + live + `1 = 1 GROUP BY course_id, status
			UNION ALL SELECT course_id, '', count(*)` + live + markedOverdue + ` GROUP BY course_id`
	)
	complete, err := s.hasTotals(ctx, company)
	if err != nil {
		return nil, err
	}
	// PostgreSQL would compile (JIT) a statement with both, which takes longer than
	// running it.
	source := counted
	if complete {
		source = kept
	}
	out := domain.AssignmentTotals{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var course int64
		var status domain.Status
		var n int
		if err := r.Scan(&course, &status, &n); err != nil {
			return err
		}
		out.Add(course, status, n)
		return nil
	}, `SELECT k.course_id, k.status, CAST(sum(k.n) AS bigint) FROM (`+source+`
			UNION ALL SELECT course_id, '', count(*)`+live+unmarkedOverdue+` GROUP BY course_id
		) k GROUP BY k.course_id, k.status`, company, s.Now())
	err = s.read(ctx, b)
	return out, err
}
