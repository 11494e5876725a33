package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// EmployeeReport reads the live employees by ascending id from one snapshot, with
// the numbers of their assignments, and calls yield with batches of them. Now
// decides which assignments are overdue. A batch is valid until yield returns.
// Reading ends when ctx ends or yield returns an error.
func (s *Store) EmployeeReport(ctx context.Context, company int64, f domain.EmployeeFilter, now time.Time, yield func([]domain.EmployeeSummary) error) error {
	return mapUnavailable(pipeline(ctx, newRowBatch[domain.EmployeeSummary],
		func(ctx context.Context, swap func(*summaryBatch) (*summaryBatch, error)) error {
			return s.db.Snapshot(ctx, func(c db.Conn) error { return readSummaries(ctx, c, employeeReportSQL(company, f, now), swap) })
		},
		func(b *summaryBatch) error { return yield(b.rows) }))
}

// summaryBatch is the reportBatch of the employee report.
type summaryBatch = rowBatch[domain.EmployeeSummary]

// readSummaries fills batches with the rows of q. As pipeline explains, swap takes a full
// batch and returns an empty one.
func readSummaries(ctx context.Context, c db.Conn, q query, swap func(*summaryBatch) (*summaryBatch, error)) error {
	batch, err := swap(nil)
	if err != nil {
		return err
	}
	var e domain.EmployeeSummary
	var tags, counts string
	dest := []any{&e.CompanyID, &e.ID, &e.ExternalID, &e.Email, &e.Name, &e.Role, &tags, &e.JoinedAt, &e.LeftAt, &counts}
	err = forEachRow(ctx, c, q, dest, func() (err error) {
		if e.Tags, err = decodeList[string](tags); err != nil {
			return err
		}
		if err := readCounts(counts, &e.Assigned, &e.Started, &e.Completed, &e.Failed, &e.NeedsRetry, &e.Overdue); err != nil {
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

// employeeReportSQL returns the query that selects employees and, in one text,
// their counts. A subquery has one column, and six subqueries would read every
// assignment six times.
func employeeReportSQL(company int64, f domain.EmployeeFilter, now time.Time) query {
	cond := employeeConditions(company, f, primaryKeyWalk, 0)
	counts := ``
	for _, status := range []domain.Status{
		domain.StatusAssigned, domain.StatusStarted, domain.StatusCompleted, domain.StatusFailed, domain.StatusNeedsRetry,
	} {
		counts += fmt.Sprintf(`count(*) FILTER (WHERE a.status = '%s') || ' ' || `, status)
	}
	counts += fmt.Sprintf(`count(*) FILTER (WHERE a.status <> '%s' AND a.deadline <= %s)`, domain.StatusCompleted, cond.arg(now))
	return query{`SELECT ` + employeeColumns + `, (SELECT ` + counts + ` FROM assignments a
			WHERE a.company_id = e.company_id AND a.employee_id = e.id AND ` + primaryKeyWalk.isNull("a.revoked_at") + `)
		FROM employees e` + cond.where() + ` ORDER BY e.company_id, e.id` + unknownLimit, cond.args}
}

func readCounts(text string, to ...*int64) (err error) {
	for _, n := range to {
		var number string
		number, text, _ = strings.Cut(text, " ")
		if *n, err = strconv.ParseInt(number, 10, 64); err != nil {
			return fmt.Errorf("read the counts of an employee: %w", err)
		}
	}
	return nil
}
