package store

import (
	"context"
	"slices"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const employeesByEmail = `SELECT ` + employeeColumns + ` FROM employees e WHERE e.email_folded = $1`

// Person returns all that is kept about an address, over all companies. Codes:
// not_found.
func (s *Store) Person(ctx context.Context, email string) (domain.Person, error) {
	out := domain.Person{Email: email, Employments: []domain.Employment{}, Log: []domain.PersonLogEntry{}}
	err := s.db.Snapshot(ctx, func(c db.Conn) error {
		if err := readEmployments(ctx, c, email, &out); err != nil {
			return err
		}
		return readPersonAsAdministrator(ctx, c, email, &out)
	})
	if err == nil && len(out.Employments) == 0 && out.Administrator == nil && len(out.Log) == 0 {
		err = domain.ErrPersonNotFound
	}
	return out, mapUnavailable(err)
}

func readEmployments(ctx context.Context, c db.Conn, email string, out *domain.Person) error {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.Employee
		err := scanEmployee(r, &e)
		out.Employments = append(out.Employments, domain.Employment{
			CompanyID: e.CompanyID, ID: e.ID, ExternalID: e.ExternalID, Email: e.Email, Name: e.Name, Role: e.Role, Tags: e.Tags,
			JoinedAt: e.JoinedAt, LeftAt: e.LeftAt, Assignments: []domain.PersonAssignment{}, Events: []domain.PersonEvent{},
		})
		return err
	}, employeesByEmail+` ORDER BY e.company_id, e.id`, domain.FoldEmail(email))
	if err := c.Send(ctx, b); err != nil {
		return err
	}
	b = &db.Batch{}
	for i := range out.Employments {
		e := &out.Employments[i]
		b.Query(func(r db.Rows) error {
			var a domain.Assignment
			if err := scanAssignment(r, &a); err != nil {
				return err
			}
			e.Assignments = append(e.Assignments, personAssignment(a))
			return nil
		}, `SELECT `+assignmentColumns+assignmentFrom+` WHERE a.company_id = $1 AND a.employee_id = $2 ORDER BY a.id`, e.CompanyID, e.ID)
		b.Query(func(r db.Rows) error {
			var v domain.PersonEvent
			var body []byte
			err := r.Scan(&v.Kind, &v.OccurredAt, &body)
			v.Body = body
			e.Events = append(e.Events, v)
			return err
		}, `SELECT kind, occurred_at, body FROM events WHERE company_id = $1 AND employee_id = $2 ORDER BY id`, e.CompanyID, e.ID)
		b.Query(personLog(out), personLogSQL+` WHERE company_id = $1 AND employee_id = $2 ORDER BY id`, e.CompanyID, e.ID)
	}
	return c.Send(ctx, b)
}

func personAssignment(a domain.Assignment) domain.PersonAssignment {
	out := domain.PersonAssignment{
		ID: a.ID, ExternalID: a.ExternalID, CourseName: a.CourseName, Status: a.Status, Attempts: a.Attempts,
		AssignedAt: a.AssignedAt, StartedAt: a.StartedAt, CompletedAt: a.CompletedAt, RevokedAt: a.RevokedAt,
	}
	if a.Score != nil {
		score := a.Score.Float()
		out.Score = &score
	}
	return out
}

const personLogSQL = `SELECT company_id, at, action, address, detail FROM audit_entries`

func personLog(out *domain.Person) func(db.Rows) error {
	return func(r db.Rows) error {
		var e domain.PersonLogEntry
		err := r.Scan(&e.CompanyID, &e.At, &e.Action, &e.Address, &e.Detail)
		out.Log = append(out.Log, e)
		return err
	}
}

func readPersonAsAdministrator(ctx context.Context, c db.Conn, email string, out *domain.Person) error {
	var who administratorRow
	var ids []int64
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return who.scan(r) },
		`SELECT `+administratorColumns+` FROM administrators a WHERE a.email_folded = $1`, domain.FoldEmail(email))
	b.Query(func(r db.Rows) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT administrator_id FROM former_administrators WHERE email_folded = $1`, domain.FoldEmail(email))
	if err := c.Send(ctx, b); err != nil {
		return err
	}
	b = &db.Batch{}
	if who.ID != 0 {
		ids = append(ids, who.ID)
		a := &domain.PersonAdministrator{
			ID: who.ID, Name: who.Name, CreatedAt: who.CreatedAt, LastSignInAt: who.LastSignInAt, SecondFactor: who.HasSecondFactor,
			CompanyIDs: []int64{}, Sessions: []domain.PersonSession{},
		}
		out.Administrator = a
		b.Query(func(r db.Rows) error {
			var company int64
			err := r.Scan(&company)
			a.CompanyIDs = append(a.CompanyIDs, company)
			return err
		}, `SELECT company_id FROM company_administrators WHERE administrator_id = $1 ORDER BY company_id`, who.ID)
		b.Query(func(r db.Rows) error {
			var x domain.PersonSession
			err := r.Scan(&x.CreatedAt, &x.SeenAt, &x.Address, &x.UserAgent)
			a.Sessions = append(a.Sessions, x)
			return err
		}, `SELECT created_at, seen_at, address, user_agent FROM sessions WHERE administrator_id = $1 ORDER BY id`, who.ID)
	}
	for _, id := range ids {
		b.Query(personLog(out), personLogSQL+` WHERE company_id IN (SELECT c.id FROM companies c)
			AND actor_kind = 'person' AND actor_id = $1 ORDER BY id`, id)
	}
	return c.Send(ctx, b)
}

// ErasePerson erases an address from all companies, as an employee and as an
// administrator, one company at a time: a call that failed halfway can be repeated.
// The last owner of a company stays until it has another one. Codes: not_found,
// invalid_request.
func (s *Store) ErasePerson(ctx context.Context, by domain.Actor, email string) error {
	person, err := s.Person(ctx, email)
	if err != nil {
		return err
	}
	if person.Administrator != nil {
		if err := s.eraseServing(ctx, by, person.Administrator.ID); err != nil {
			return err
		}
	}
	var companies []int64
	for _, e := range person.Employments {
		companies = append(companies, e.CompanyID)
	}
	for _, company := range slices.Compact(companies) {
		if err := s.eraseFromCompany(ctx, domain.Caller{Company: domain.Company{ID: company}, Actor: by}, email); err != nil {
			return err
		}
	}
	err = s.write(ctx, func(tx db.Tx, _ *outbox) error { return s.eraseAdministrator(ctx, tx, email) })
	if err == nil {
		s.db.Erased(ctx)
	}
	return err
}

// eraseServing takes an administrator out of every company and withdraws their
// invitations.
func (s *Store) eraseServing(ctx context.Context, by domain.Actor, id int64) error {
	_, companies, err := s.Memberships(ctx, id)
	if err != nil {
		return err
	}
	for _, m := range companies {
		if err := s.RemoveAdministrator(ctx, domain.Caller{Company: m.Company, Actor: by}, id); err != nil {
			return err
		}
	}
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `DELETE FROM sign_in_links WHERE administrator_id = $1`, id)
		return err
	})
}

func (s *Store) eraseFromCompany(ctx context.Context, c domain.Caller, email string) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		var gone []domain.Employee
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			var e domain.Employee
			err := scanEmployee(r, &e)
			gone = append(gone, e)
			return err
		}, employeesByEmail+` AND e.company_id = $2 ORDER BY e.id`+s.db.ForUpdate("e"), domain.FoldEmail(email), c.Company.ID)
		if err := tx.Send(ctx, b); err != nil || len(gone) == 0 {
			return err
		}
		b = &db.Batch{}
		box.prepare(b, tx, len(gone), c.Company.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		return s.erase(ctx, tx, box, c, gone)
	})
}
