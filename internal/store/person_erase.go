package store

import (
	"context"
	"slices"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// ErasePerson erases an address from all companies, as an employee and as an
// administrator, one company at a time: a call that failed halfway can be repeated, and
// FinishErasures clears what it left in the request log. The last owner of a company
// stays until it has another one. Codes: not_found, invalid_request.
func (s *Store) ErasePerson(ctx context.Context, by domain.Actor, email string) error {
	person, err := s.Person(ctx, email)
	if err != nil {
		return err
	}
	administrators, err := s.administratorIDs(ctx, email)
	if err != nil {
		return err
	}
	if person.Administrator != nil {
		if err := s.leaveCompanies(ctx, by, person.Administrator.ID); err != nil {
			return err
		}
	}
	var companies []int64
	var records []domain.RecordKey
	for _, e := range person.Employments {
		companies = append(companies, e.CompanyID)
		records = append(records, domain.RecordKey{CompanyID: e.CompanyID, EmployeeID: e.ID})
	}
	companies = slices.Compact(companies)
	for _, company := range companies {
		if err := s.eraseFromCompany(ctx, domain.Caller{Company: domain.Company{ID: company}, Actor: by}, email); err != nil {
			return err
		}
	}
	if err := s.eraseOutsideCompanies(ctx, email, administrators); err != nil {
		return err
	}
	if err := s.eraseMentions(ctx, person.Mentions, email); err != nil {
		return err
	}
	err = s.stopSending(ctx, records)
	s.finishErasure(context.WithoutCancel(ctx), companies...)
	return err
}

// eraseOutsideCompanies erases what belongs to no company: the administrator, the
// account, rows of uploads that were not carried out, and the network addresses in the
// log entries of what the person did under the given ids of administrators.
func (s *Store) eraseOutsideCompanies(ctx context.Context, email string, administrators []int64) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		b := &db.Batch{}
		s.deleteOrphanAccount(b, email)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if err := s.eraseAdministrator(ctx, tx, email); err != nil {
			return err
		}
		b = &db.Batch{}
		for _, id := range administrators {
			b.Exec(`UPDATE audit_entries SET address = '' WHERE company_id IN (SELECT c.id FROM companies c)
				AND actor_kind = 'person' AND actor_id = $1`, id)
		}
		eraseImported(b, 0, email)
		b.Exec(`DELETE FROM sign_in_throttles WHERE key = $1`, domain.AccountThrottle(email).Key)
		return tx.Send(ctx, b)
	})
}

// administratorIDs returns the ids that an address has, or had, as an administrator.
func (s *Store) administratorIDs(ctx context.Context, email string) ([]int64, error) {
	var ids []int64
	b := &db.Batch{}
	b.Query(appendColumn(&ids), `SELECT id FROM administrators WHERE email_folded = $1
		UNION ALL SELECT administrator_id FROM former_administrators WHERE email_folded = $1`, domain.FoldEmail(email))
	err := s.read(ctx, b)
	return ids, err
}

// leaveCompanies takes an administrator out of every company and withdraws their
// invitations.
func (s *Store) leaveCompanies(ctx context.Context, by domain.Actor, id int64) error {
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
		return s.erase(ctx, tx, box, c, gone)
	})
}
