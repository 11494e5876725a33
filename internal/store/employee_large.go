package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// maxBatchedAssignments is how many assignments of one employee are read together with
// other employees. An employee with more is read alone, so that callers who share a
// statement never wait for another caller's large answer.
const maxBatchedAssignments = 100

// isLarge reports whether the employee has more than maxBatchedAssignments: a batch reads
// one assignment more than that, so this means that there are more.
func (k *employeeWithAssignments) isLarge() bool { return len(k.assignments) > maxBatchedAssignments }

// largePage is how many assignments of a large employee are read in one go. It keeps
// a processor busy for less than a millisecond.
const largePage = 50

// maxPause bounds the pause after a page: on a busy machine a page takes long because it
// waits for a processor itself.
const maxPause = 5 * time.Millisecond

// EmployeePages reads a live employee with all assignments by ascending id, from one
// state of the database, and calls each with a page of them at a time; the slice is
// reused. Without assignments each is called once. Codes: employee_not_found,
// employee_offboarded.
//
// A company reads one such employee at a time, and all companies together a few. After
// each page the reading pauses for as long as the page took, but at most maxPause: on an idle
// machine it uses at most half of a processor, so that short requests find one free.
func (s *Store) EmployeePages(ctx context.Context, company int64, externalID string, each func(domain.Employee, []domain.Assignment) error) error {
	release, err := s.acquireLargeRead(ctx, company)
	if err != nil {
		return err
	}
	defer release()
	r := largeReader{ctx: ctx, each: each, began: time.Now()}
	b := &db.Batch{}
	b.Query(r.row, `SELECT `+employeeColumns+`, `+fieldList(true)+` FROM employees e`+
		s.db.LeftJoin("assignments", "a", assignmentsOfEmployee)+s.db.LeftJoin("courses", "c", courseOfAssignment)+`
		WHERE e.company_id = $1 AND e.external_id = $2 AND e.left_at IS NULL ORDER BY a.id`, company, externalID)
	if err := s.read(ctx, b); err != nil {
		return err
	}
	if r.employee.ID == 0 {
		return s.missingEmployee(ctx, company, externalID)
	}
	return r.endPage()
}

// acquireLargeRead waits until the company may read a large employee.
func (s *Store) acquireLargeRead(ctx context.Context, company int64) (release func(), err error) {
	leaveCompany, err := s.largeReads.Acquire(ctx, company)
	if err != nil {
		return nil, mapUnavailable(err)
	}
	leaveAll, err := s.allLargeReads.Acquire(ctx, 0)
	if err != nil {
		leaveCompany()
		return nil, mapUnavailable(err)
	}
	return func() { leaveAll(); leaveCompany() }, nil
}

// largeReader collects the rows of one employee into pages.
type largeReader struct {
	ctx      context.Context //nolint:containedctx // It cancels the pauses of one reading.
	each     func(domain.Employee, []domain.Assignment) error
	employee domain.Employee
	page     []domain.Assignment
	began    time.Time // of the page
}

func (r *largeReader) row(row db.Rows) error {
	if len(r.page) == largePage {
		if err := r.endPage(); err != nil {
			return err
		}
		if err := r.pause(); err != nil {
			return err
		}
	}
	var a domain.Assignment
	if err := r.scan(row, &a); err != nil || a.ID == 0 {
		return err
	}
	e := &r.employee
	a.CompanyID, a.EmployeeID, a.EmployeeExternalID, a.EmployeeEmail, a.EmployeeName = e.CompanyID, e.ID, e.ExternalID, e.Email, e.Name
	r.page = append(r.page, a)
	return nil
}

// scan reads the employee from the first row only: it is the same in all.
func (r *largeReader) scan(row db.Rows, a *domain.Assignment) error {
	if r.employee.ID == 0 {
		return scanEmployee(row, &r.employee, assignmentDest(a)...)
	}
	dest := make([]any, employeeColumnCount, employeeColumnCount+len(assignmentFields))
	for i := range dest {
		dest[i] = ignored{}
	}
	return row.Scan(append(dest, assignmentDest(a)...)...)
}

// ignored is a destination for a column that is not needed.
type ignored struct{}

// Scan implements sql.Scanner.
func (ignored) Scan(any) error { return nil }

func (r *largeReader) endPage() error {
	err := r.each(r.employee, r.page)
	r.page = r.page[:0]
	return err
}

// pause waits for as long as the page has taken, up to maxPause.
func (r *largeReader) pause() error {
	timer := time.NewTimer(min(time.Since(r.began), maxPause))
	defer timer.Stop()
	select {
	case <-r.ctx.Done():
		return r.ctx.Err()
	case <-timer.C:
		r.began = time.Now()
		return nil
	}
}
