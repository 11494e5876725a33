package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// DeleteEmployee erases a live employee or, if there is none, the former ones with
// the external id. Nothing that identifies the person stays; results stay without
// a person. It returns when no webhook with anything about the person is under
// way. Codes: employee_not_found.
//
// After the commit the person is erased whatever happens, and a repeated call would not
// find them. So the end of ctx cancels nothing any more; only what OnErased was given
// decides how long this waits.
func (s *Store) DeleteEmployee(ctx context.Context, c domain.Caller, externalID string) error {
	return s.deleteEmployee(ctx, c, withExternalID(externalID))
}

// DeleteEmployeeByID is DeleteEmployee for the id of an employee. Codes:
// employee_not_found.
func (s *Store) DeleteEmployeeByID(ctx context.Context, c domain.Caller, id int64) error {
	return s.deleteEmployee(ctx, c, withID(id))
}

func (s *Store) deleteEmployee(ctx context.Context, c domain.Caller, who employeeSelector) error {
	var erased []domain.RecordKey
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		var live, former []domain.Employee
		into := func(list *[]domain.Employee) func(db.Rows) error {
			return func(r db.Rows) error {
				var e domain.Employee
				err := scanEmployee(r, &e)
				*list = append(*list, e)
				return err
			}
		}
		b := &db.Batch{}
		b.Query(into(&live), who.current()+s.db.ForUpdate("e"), c.Company.ID, who.value)
		b.Query(into(&former), who.former()+s.db.ForUpdate("e"), c.Company.ID, who.value)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		gone := live
		if len(gone) == 0 {
			gone = former
		}
		if len(gone) == 0 {
			return s.confirmNotFound(ctx, tx, c.Company.ID, who)
		}
		erased = nil
		for _, e := range gone {
			erased = append(erased, domain.RecordKey{CompanyID: e.CompanyID, EmployeeID: e.ID})
		}
		return s.erase(ctx, tx, box, c, gone)
	})
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	err = s.stopSending(ctx, erased)
	s.finishErasure(ctx, c.Company.ID)
	return err
}

// finishErasure clears what an erasure has to clear after its commit. What fails is done
// by FinishErasures, so that the erasure itself has not failed.
func (s *Store) finishErasure(ctx context.Context, companies ...int64) {
	for _, company := range companies {
		if err := s.eraseLogged(ctx, company); err != nil {
			s.log.WarnContext(ctx, "an erased person is still named in the request log; the next sweep clears it", "company", company, "error", err)
		}
	}
	s.db.ScrubDeleted(ctx)
}

func (s *Store) erase(ctx context.Context, tx db.Tx, box *outbox, c domain.Caller, gone []domain.Employee) error {
	b := &db.Batch{}
	s.lockForErasure(b, tx, gone)
	box.prepare(b, tx, len(gone), c.Company.ID)
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	b = &db.Batch{}
	var events []domain.Event
	for _, e := range gone {
		if err := s.anonymise(ctx, tx, e); err != nil {
			return err
		}
		if err := s.eraseAdministrator(ctx, tx, e.Email); err != nil {
			return err
		}
		s.scrubEvents(b, tx, e)
		releaseHistory(b, e)
		eraseImported(b, e.CompanyID, e.Email)
		markErased(b, tx.Now(), e)
		b.Exec(`DELETE FROM activities WHERE assignment_id IN
			(SELECT id FROM assignments WHERE company_id = $1 AND employee_id = $2)`, e.CompanyID, e.ID)
		b.Exec(`DELETE FROM assignments WHERE company_id = $1 AND employee_id = $2`, e.CompanyID, e.ID)
		b.One(errStale, `DELETE FROM employees WHERE company_id = $1 AND id = $2`, e.CompanyID, e.ID)
		s.deleteOrphanAccount(b, e.Email)
		deleted := employeeEntry(c, "employee.deleted", e.ID, "")
		deleted.EmployeeID = domain.ErasedEmployeeID
		box.audit(b, tx.Now(), deleted)
		events = append(events, domain.EmployeeRemoved(e, domain.ReasonDeleted, tx.Now()))
	}
	box.events(b, tx.Now(), events...)
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	return s.foldErased(ctx, tx, c.Company.ID)
}

// anonymousResult is what stays of an assignment whose employee is erased.
type anonymousResult struct {
	course, attempts int64
	score            *int64
	passed           bool
	endedAt          time.Time
}

// lockForErasure queues the locking of all assignments of the employees, revoked ones
// too: an event that is being written for one of them is committed before the events are
// emptied, or not at all. Then it queues that of the accounts.
func (s *Store) lockForErasure(b *db.Batch, tx db.Tx, gone []domain.Employee) {
	if suffix := s.db.ForUpdate("a"); suffix != "" {
		ids := db.Columns(gone, db.IntColumn("id", func(e *domain.Employee) int64 { return e.ID }))
		isTheirs, employees := s.db.In("a.employee_id", 2, ids[0])
		b.Query(ignoreRow, `SELECT a.id FROM assignments a WHERE a.company_id = $1 AND `+isTheirs+` ORDER BY a.id`+suffix, gone[0].CompanyID, employees)
	}
	emails := make([]string, len(gone))
	for i, e := range gone {
		emails[i] = e.Email
	}
	lockAccounts(b, tx.Now(), emails...)
	tx.Restamp(b)
}

// anonymise stores the results of an employee's ended attempts without the person.
func (s *Store) anonymise(ctx context.Context, tx db.Tx, e domain.Employee) error {
	var results []anonymousResult
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var a anonymousResult
		err := r.Scan(&a.course, &a.score, &a.attempts, &a.passed, &a.endedAt)
		results = append(results, a)
		return err
	}, `SELECT course_id, score, attempts, status = 'completed', ended_at
		FROM assignments WHERE company_id = $1 AND employee_id = $2 AND ended_at IS NOT NULL ORDER BY course_id, id`, e.CompanyID, e.ID)
	if err := tx.Send(ctx, b); err != nil || len(results) == 0 {
		return err
	}
	rows, args := s.db.ValuesTable(2, db.Columns(results,
		db.IntColumn("course_id", func(a *anonymousResult) int64 { return a.course }),
		db.OptionalIntColumn("score", func(a *anonymousResult) *int64 { return a.score }),
		db.IntColumn("attempts", func(a *anonymousResult) int64 { return a.attempts }),
		db.BoolColumn("passed", func(a *anonymousResult) bool { return a.passed }),
		db.TextColumn("month", func(a *anonymousResult) string { return a.endedAt.Format("2006-01") }))...)
	_, err := tx.Exec(ctx, `INSERT INTO anonymous_results (company_id, course_id, score, attempts, passed, completed_month)
		SELECT $1, r.course_id, r.score, r.attempts, r.passed, r.month FROM `+rows+` r`, append([]any{e.CompanyID}, args...)...)
	return err
}

// scrubEvents empties the stored bodies of the person's events and the responses to
// them. What was not sent yet will not be sent. It locks the deliveries first: an
// outcome that is being recorded is either emptied here, or its recorder sees that
// the event was erased.
func (s *Store) scrubEvents(b *db.Batch, tx db.Tx, e domain.Employee) {
	const (
		all    = `(SELECT id FROM events WHERE company_id = $1 AND employee_id = $2)`
		theirs = `(SELECT id FROM events WHERE company_id = $1 AND employee_id = $2 AND kind <> 'employee.removed')`
	)
	b.Query(ignoreRow, `SELECT d.id FROM deliveries d
		WHERE d.company_id = $1 AND d.event_id IN `+all+` ORDER BY d.id`+s.db.ForUpdate("d"), e.CompanyID, e.ID)
	b.Exec(`UPDATE delivery_attempts SET response_headers = '[]', response_body = $3, error = ''
		WHERE company_id = $1 AND delivery_id IN
		(SELECT d.id FROM deliveries d WHERE d.company_id = $1 AND d.event_id IN `+all+`)`, e.CompanyID, e.ID, []byte{})
	b.Exec(`UPDATE deliveries SET state = 'failed', error_kind = 'erased', finished_at = $3
		WHERE company_id = $1 AND state IN ('pending', 'held') AND event_id IN `+theirs, e.CompanyID, e.ID, tx.Now())
	b.Exec(`UPDATE events SET body = $3, external_id = '', erased_at = $4
		WHERE company_id = $1 AND employee_id = $2 AND kind <> 'employee.removed'`, e.CompanyID, e.ID, []byte{}, tx.Now())
}
