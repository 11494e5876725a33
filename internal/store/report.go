package store

import (
	"context"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Statements of reports must begin to give rows at once and never sort or hold
// many, also where PostgreSQL has no statistics yet and guesses (a company that
// was imported a minute ago). So they leave it little to choose: they walk along
// a primary key, look other rows up rather than join them, ask for live rows in
// a way (live) that keeps it from the partial indexes, and end in a LIMIT whose
// value it can't know (noLimit): it then plans for the first tenth of the rows,
// for the walk and against sorting.

func isNullUnindexed(column string) string {
	return "CASE WHEN " + column + " IS NULL THEN 1 ELSE 0 END <> 0"
}

const (
	unknownLimit = " LIMIT (SELECT 9223372036854775807)"
	// fewRows is up to how many assignments a filter may let through to be served
	// by an index of its own and a sort. Beyond, the walk is quicker.
	fewRows = 20_000
)

// AssignmentReport reads the live assignments in ascending id from one snapshot.
// They carry what a report shows, and are valid until yield returns; meanwhile the
// next ones are read. Reading ends with ctx, and when yield fails.
func (s *Store) AssignmentReport(ctx context.Context, company int64, f domain.AssignmentFilter, yield func([]domain.Assignment) error) error {
	return mapUnavailable(pipeline(ctx, newAssignmentBatch,
		func(ctx context.Context, swap func(*assignmentBatch) (*assignmentBatch, error)) error {
			return s.db.Snapshot(ctx, func(c db.Conn) error { return s.readAssignments(ctx, c, company, f, swap) })
		},
		func(b *assignmentBatch) error { return yield(b.rows) }))
}

func (s *Store) readAssignments(ctx context.Context, c db.Conn, company int64, f domain.AssignmentFilter, swap func(*assignmentBatch) (*assignmentBatch, error)) error {
	courses, err := courseNames(ctx, c, company)
	if err != nil {
		return err
	}
	cond := walkConditions(company, f)
	few, err := fewMatch(ctx, c, company, f)
	if err != nil {
		return err
	}
	if few {
		cond = assignmentConditions(company, f)
	}
	return (&assignmentReader{courses: courses, swap: swap}).read(ctx, c, s.assignmentReportSQL(cond), cond.args)
}

func courseNames(ctx context.Context, c db.Conn, company int64) (map[int64]string, error) {
	var id int64
	var name string
	names := map[int64]string{}
	err := forEachRow(ctx, c, `SELECT c.id, c.name FROM courses c WHERE c.owner_company_id IN (0, $1)`,
		[]any{company}, []any{&id, &name}, func() error {
			names[id] = name
			return nil
		})
	return names, err
}

func fewMatch(ctx context.Context, c db.Conn, company int64, f domain.AssignmentFilter) (bool, error) {
	if f == (domain.AssignmentFilter{}) {
		return false, nil
	}
	n := 0
	cond := assignmentConditions(company, f)
	sql := fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM assignments a%s LIMIT %d) found`, cond.where(), fewRows+1)
	err := forEachRow(ctx, c, sql, cond.args, []any{&n}, func() error { return nil })
	return n <= fewRows, err
}

// walkConditions are those of a list, as conditions that only the walk along the
// ids can meet.
func walkConditions(company int64, f domain.AssignmentFilter) *conditions {
	cond := &conditions{}
	cond.add("a.company_id = ?", company)
	cond.add(isNullUnindexed("a.revoked_at"))
	if f.EmployeeExternalID != "" {
		cond.add(`a.employee_id = (SELECT x.id FROM employees x WHERE x.company_id = ? AND x.external_id = ? AND x.left_at IS NULL)`,
			company, f.EmployeeExternalID)
	}
	if f.Status != "" {
		cond.add("a.status = ?", string(f.Status))
	}
	if f.CourseID != 0 {
		cond.add("a.course_id = ?", f.CourseID)
	}
	if f.UpdatedSince != nil {
		cond.add("a.updated_at >= ?", *f.UpdatedSince)
	}
	return cond
}

// assignmentReportSQL selects what assignmentReader takes. Absent values have
// stand-ins, because plain variables are much cheaper to scan than pointers.
func (s *Store) assignmentReportSQL(cond *conditions) string {
	columns := fmt.Sprintf(`a.id, a.employee_id, a.course_id, a.status, a.percent, coalesce(a.score, -1), a.attempts,
		a.is_required, a.assigned_at, a.deadline, coalesce(a.started_at, %[1]s), coalesce(a.completed_at, %[1]s),
		coalesce(a.last_activity_at, %[1]s), a.external_id, coalesce(e.external_id, ''), e.name, e.email`, cond.arg(time.Time{}))
	return `SELECT ` + columns + ` FROM assignments a` +
		s.db.Join("employees", "e", "e.company_id = a.company_id AND e.id = a.employee_id") +
		cond.where() + ` ORDER BY a.company_id, a.id` + unknownLimit
}

// arg adds a value outside the conditions and gives its placeholder.
func (c *conditions) arg(v any) string {
	c.args = append(c.args, v)
	return fmt.Sprintf("$%d", len(c.args))
}
