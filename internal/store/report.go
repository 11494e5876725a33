package store

import (
	"context"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Statements of reports must return their first rows at once and never sort or hold
// many rows. This must also hold where PostgreSQL has no statistics yet, such as for
// a company that was imported a minute ago. So they leave the planner little choice:
// they walk along a primary key, look other rows up instead of joining tables, ask
// for live rows in a form that no partial index matches (primaryKeyWalk), and end
// in a LIMIT whose value the planner can't know (unknownLimit): it then plans for
// the first tenth of the rows, which favours the walk over a sort.

const (
	unknownLimit = " LIMIT (SELECT 9223372036854775807)"
	// fewRows is the number of matching assignments up to which an index for the
	// filter and a sort are faster than the walk along the primary key.
	fewRows = 20_000
)

// AssignmentReport reads the live assignments by ascending id from one snapshot and
// calls yield with batches of them. They hold only the fields that a report shows
// and are valid until yield returns; the next ones are read in the meantime.
// Reading ends when ctx ends or yield returns an error.
func (s *Store) AssignmentReport(ctx context.Context, company int64, f domain.AssignmentFilter, yield func([]domain.Assignment) error) error {
	return mapUnavailable(pipeline(ctx, newAssignmentBatch,
		func(ctx context.Context, swap func(*assignmentBatch) (*assignmentBatch, error)) error {
			return s.db.Snapshot(ctx, func(c db.Conn) error { return s.readAssignments(ctx, c, company, f, swap) })
		},
		func(b *assignmentBatch) error { return yield(b.rows) }))
}

// AssignmentListReport is AssignmentReport for the cabinet's list.
func (s *Store) AssignmentListReport(ctx context.Context, company int64, q domain.AssignmentQuery, yield func([]domain.Assignment) error) error {
	return mapUnavailable(pipeline(ctx, newAssignmentBatch,
		func(ctx context.Context, swap func(*assignmentBatch) (*assignmentBatch, error)) error {
			return s.db.Snapshot(ctx, func(c db.Conn) error {
				courses, err := courseNames(ctx, c, company)
				if err != nil {
					return err
				}
				cond := s.queryConditions(company, q)
				return (&assignmentReader{courses: courses, swap: swap}).read(ctx, c, query{s.assignmentReportSQL(cond), cond.args})
			})
		},
		func(b *assignmentBatch) error { return yield(b.rows) }))
}

func (s *Store) readAssignments(ctx context.Context, c db.Conn, company int64, f domain.AssignmentFilter, swap func(*assignmentBatch) (*assignmentBatch, error)) error {
	courses, err := courseNames(ctx, c, company)
	if err != nil {
		return err
	}
	few, err := fewMatch(ctx, c, company, f)
	if err != nil {
		return err
	}
	path := primaryKeyWalk
	if few {
		path = anyIndex
	}
	cond := assignmentConditions(company, f, path)
	return (&assignmentReader{courses: courses, swap: swap}).read(ctx, c, query{s.assignmentReportSQL(cond), cond.args})
}

func courseNames(ctx context.Context, c db.Conn, company int64) (map[int64]string, error) {
	var id int64
	var name string
	names := map[int64]string{}
	err := forEachRow(ctx, c, query{`SELECT c.id, c.name FROM courses c WHERE c.owner_company_id IN (0, $1)`, []any{company}},
		[]any{&id, &name}, func() error {
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
	cond := assignmentConditions(company, f, anyIndex)
	sql := fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM assignments a%s LIMIT %d) found`, cond.where(), fewRows+1)
	err := forEachRow(ctx, c, query{sql, cond.args}, []any{&n}, func() error { return nil })
	return n <= fewRows, err
}

// assignmentReportSQL returns the statement whose columns assignmentReader scans.
// NULL is replaced by a value, because plain variables are much cheaper to scan
// than pointers.
func (s *Store) assignmentReportSQL(cond *conditions) string {
	columns := fmt.Sprintf(`a.id, a.employee_id, a.course_id, a.status, a.percent, coalesce(a.score, -1), a.attempts,
		a.is_required, a.assigned_at, a.deadline, coalesce(a.started_at, %[1]s), coalesce(a.completed_at, %[1]s),
		coalesce(a.last_activity_at, %[1]s), a.external_id, coalesce(e.external_id, ''), e.name, e.email`, cond.arg(time.Time{}))
	return `SELECT ` + columns + ` FROM assignments a` +
		s.db.Join("employees", "e", "e.company_id = a.company_id AND e.id = a.employee_id") +
		cond.where() + ` ORDER BY a.company_id, a.id` + unknownLimit
}
