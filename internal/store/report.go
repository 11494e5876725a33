package store

import (
	"context"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// headRows is how many assignments are read as a list would be, with employees
// joined: small reports need no more, and large ones begin without waiting for
// the directory that the rest of them is read with.
const headRows = 2000

// unlimited lets every row through, but PostgreSQL can't know that and plans for
// the first tenth of them: it follows an index, whose first row is there at once,
// where it would else sort everything, and does not compile the statement first.
const unlimited = ` LIMIT (SELECT 9223372036854775807)`

// AssignmentReport reads the live assignments in ascending id from one snapshot.
// They carry what a report shows, and are valid until yield returns; meanwhile the
// next ones are read. Reading ends with ctx, and when yield fails.
func (s *Store) AssignmentReport(ctx context.Context, company int64, f domain.AssignmentFilter, yield func([]domain.Assignment) error) error {
	return known(pipe(ctx, newAssignmentBatch,
		func(ctx context.Context, swap func(*assignmentBatch) (*assignmentBatch, error)) error {
			return s.db.Snapshot(ctx, func(c db.Conn) error { return readAssignments(ctx, c, company, f, newDirectory(), swap) })
		},
		func(b *assignmentBatch) error { return yield(b.rows) }))
}

func readAssignments(ctx context.Context, c db.Conn, company int64, f domain.AssignmentFilter, dir *directory, swap func(*assignmentBatch) (*assignmentBatch, error)) error {
	walk, err := manyUpdated(ctx, c, company, f)
	if err != nil {
		return err
	}
	if err := dir.readCourses(ctx, c, company); err != nil {
		return err
	}
	r := &assignmentReader{dir: dir, swap: swap}
	if r.batch, err = swap(nil); err != nil {
		return err
	}
	cond := reportConditions(company, f, walk)
	n, err := r.read(ctx, c, cond, fmt.Sprintf(" LIMIT %d", headRows))
	if err == nil && n == headRows {
		if err = dir.readPeople(ctx, c, company); err != nil {
			return err
		}
		cond = reportConditions(company, f, walk)
		cond.add("a.id > ?", r.id)
		_, err = r.read(ctx, c, cond, unlimited)
	}
	if err != nil {
		return err
	}
	return r.finish()
}

// manyUpdated says whether a filter by update time lets so much through that
// reading along its index, and sorting by id, would delay the first row (and on
// SQLite take memory for all of them).
func manyUpdated(ctx context.Context, c db.Conn, company int64, f domain.AssignmentFilter) (bool, error) {
	if f.UpdatedSince == nil {
		return false, nil
	}
	var n int
	cond := assignmentConditions(company, f)
	sql := fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM assignments a%s LIMIT %d) matching`, cond.where(), headRows)
	err := each(ctx, c, sql, cond.args, []any{&n}, func() error { return nil })
	return n == headRows, err
}

// reportConditions are those of a list; to walk is to go along the ids, with the
// index of update times kept out of use.
func reportConditions(company int64, f domain.AssignmentFilter, walk bool) *conditions {
	if !walk {
		return assignmentConditions(company, f)
	}
	since := *f.UpdatedSince
	f.UpdatedSince = nil
	cond := assignmentConditions(company, f)
	cond.add("coalesce(a.updated_at, a.assigned_at) >= ?", since)
	return cond
}

// assignmentReportSQL selects what assignmentReader takes. Absent values have
// stand-ins, because plain variables are much cheaper to scan than pointers.
func assignmentReportSQL(cond *conditions, dir *directory) string {
	columns, join := fmt.Sprintf(`a.id, a.external_id, a.employee_id, a.course_id, a.status, a.percent, coalesce(a.score, -1),
		a.attempts, a.is_required, a.assigned_at, a.deadline, coalesce(a.started_at, %[1]s), coalesce(a.completed_at, %[1]s),
		coalesce(a.last_activity_at, %[1]s)`, cond.arg(time.Time{})), ``
	if !dir.complete {
		columns += `, coalesce(e.external_id, ''), coalesce(e.name, ''), coalesce(e.email, '')`
		join = ` LEFT JOIN employees e ON e.company_id = a.company_id AND e.id = a.employee_id AND e.id > ` + cond.arg(dir.last)
	}
	return `SELECT ` + columns + ` FROM assignments a` + join + cond.where() + ` ORDER BY a.id`
}

// arg adds a value outside the conditions and gives its placeholder.
func (c *conditions) arg(v any) string {
	c.args = append(c.args, v)
	return fmt.Sprintf("$%d", len(c.args))
}

// EmployeeReport reads the live employees in ascending id from one snapshot, with
// the numbers of their assignments; what is overdue is judged at now. Batches are
// valid until yield returns. Reading ends with ctx, and when yield fails.
func (s *Store) EmployeeReport(ctx context.Context, company int64, f domain.EmployeeFilter, now time.Time, yield func([]domain.EmployeeSummary) error) error {
	return known(pipe(ctx, newSummaryBatch,
		func(ctx context.Context, swap func(*summaryBatch) (*summaryBatch, error)) error {
			return s.db.Snapshot(ctx, func(c db.Conn) error { return readSummaries(ctx, c, company, f, now, swap) })
		},
		func(b *summaryBatch) error { return yield(b.rows) }))
}

func readSummaries(ctx context.Context, c db.Conn, company int64, f domain.EmployeeFilter, now time.Time, swap func(*summaryBatch) (*summaryBatch, error)) error {
	cond := employeeConditions(company, f)
	sql := fmt.Sprintf(employeeReportSQL, cond.arg(now), cond.where()) + unlimited
	batch, err := swap(nil)
	if err != nil {
		return err
	}
	var e domain.EmployeeSummary
	var tags string
	dest := []any{
		&e.CompanyID, &e.ID, &e.ExternalID, &e.Email, &e.Name, &e.Role, &tags, &e.JoinedAt, &e.LeftAt,
		&e.Assigned, &e.Started, &e.Completed, &e.Failed, &e.NeedsRetry, &e.Overdue,
	}
	err = each(ctx, c, sql, cond.args, dest, func() (err error) {
		if e.Tags, err = decodeList[string](tags); err != nil {
			return err
		}
		if batch.rows = append(batch.rows, e); len(batch.rows) == batchRows {
			batch, err = swap(batch)
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = swap(batch)
	return err
}

// employeeReportSQL orders by the whole key, which is how it groups: SQLite sorts
// again for less.
const employeeReportSQL = `SELECT ` + employeeColumns + `,
	count(*) FILTER (WHERE a.status = 'assigned'), count(*) FILTER (WHERE a.status = 'started'),
	count(*) FILTER (WHERE a.status = 'completed'), count(*) FILTER (WHERE a.status = 'failed'),
	count(*) FILTER (WHERE a.status = 'needs_retry'),
	count(*) FILTER (WHERE a.status <> 'completed' AND a.deadline <= %[1]s)
	FROM employees e
	LEFT JOIN assignments a ON a.company_id = e.company_id AND a.employee_id = e.id AND a.revoked_at IS NULL%[2]s
	GROUP BY e.company_id, e.id ORDER BY e.company_id, e.id`
