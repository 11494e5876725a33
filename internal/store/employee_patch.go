package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// PatchEmployee changes, offboards or brings back an employee. Codes:
// employee_not_found, employee_offboarded, email_taken.
func (s *Store) PatchEmployee(ctx context.Context, c domain.Caller, externalID string, p domain.EmployeePatch) (domain.EmployeePatched, error) {
	return s.patchEmployee(ctx, c, withExternalID(externalID), p)
}

// PatchEmployeeByID is PatchEmployee for the id of an employee, who may have no
// external id. Codes: employee_not_found, employee_offboarded, email_taken,
// external_id_taken.
func (s *Store) PatchEmployeeByID(ctx context.Context, c domain.Caller, id int64, p domain.EmployeePatch) (domain.EmployeePatched, error) {
	return s.patchEmployee(ctx, c, withID(id), p)
}

func (s *Store) patchEmployee(ctx context.Context, c domain.Caller, who employeeSelector, p domain.EmployeePatch) (domain.EmployeePatched, error) {
	var out domain.EmployeePatched
	err := s.write(ctx, func(dbTx db.Tx, box *outbox) error {
		tx := callerTx{dbTx, box, c}
		out = domain.EmployeePatched{}
		found, err := s.loadForPatch(ctx, tx, who, p)
		if err != nil {
			return err
		}
		switch {
		case found.live != nil:
			return s.patchLive(ctx, tx, *found.live, p, &out)
		case found.former == nil:
			return s.confirmNotFound(ctx, tx, c.Company.ID, who)
		case p.Active == nil:
			return domain.ErrEmployeeOffboarded
		case !*p.Active:
			out.Employee, out.Offboarded = *found.former, true
			return nil
		}
		out.Employee = p.Apply(*found.former)
		out.Employee.Role = domain.RoleEmployee
		return s.patchFormer(ctx, tx, *found.former, &out.Employee)
	})
	return out, err
}

func (s *Store) patchFormer(ctx context.Context, tx callerTx, before domain.Employee, after *domain.Employee) error {
	if err := s.checkEmailFree(ctx, tx, *after); err != nil {
		return err
	}
	b := &db.Batch{}
	lockAccounts(b, tx.Now(), before.Email, after.Email)
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	if err := s.bringBack(ctx, tx, after, "employee.brought_back"); err != nil {
		return err
	}
	if domain.FoldEmail(before.Email) != domain.FoldEmail(after.Email) {
		b = &db.Batch{}
		s.deleteOrphanAccount(b, before.Email)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
	}
	return s.replaceTags(ctx, tx, before, *after)
}

type patchState struct{ live, former *domain.Employee }

func (s *Store) loadForPatch(ctx context.Context, tx callerTx, who employeeSelector, p domain.EmployeePatch) (patchState, error) {
	var found patchState
	company := tx.caller.Company.ID
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		found.live = &domain.Employee{}
		return scanEmployee(r, found.live)
	}, who.current()+s.db.ForUpdate("e"), company, who.value)
	b.Query(func(r db.Rows) error {
		found.former = &domain.Employee{}
		return scanEmployee(r, found.former)
	}, who.former()+` LIMIT 1`+s.db.ForUpdate("e"), company, who.value)
	if p.Email != nil || p.ExternalID != nil || p.Active != nil && !*p.Active {
		s.lockAssignments(b, company, who)
	}
	events := 0
	if p.Active != nil {
		events = 1
	}
	tx.box.prepare(b, tx, events, company)
	err := tx.Send(ctx, b)
	return found, err
}

// confirmNotFound returns the error for an employee who was found neither among
// live nor among former employees. A statement that waited for a former employee's
// row may have waited for the person to be brought back: then the transaction runs
// again and finds a live employee.
func (s *Store) confirmNotFound(ctx context.Context, tx db.Tx, company int64, who employeeSelector) error {
	back := false
	b := &db.Batch{}
	b.Query(func(db.Rows) error { back = true; return nil }, who.current(), company, who.value)
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	if back {
		return errStale
	}
	return domain.ErrEmployeeNotFound
}

func (s *Store) patchLive(ctx context.Context, tx callerTx, before domain.Employee, p domain.EmployeePatch, out *domain.EmployeePatched) error {
	after := p.Apply(before)
	out.Employee = after
	if p.Changes(before) {
		if err := s.updateEmployee(ctx, tx, before, after); err != nil {
			return err
		}
	}
	if p.Attributes != nil {
		if err := s.replaceAttributes(ctx, tx, before.ID, p.Attributes); err != nil {
			return err
		}
	}
	if p.Active == nil || *p.Active {
		return nil
	}
	out.Offboarded = true
	return s.offboard(ctx, tx, after)
}

func (s *Store) updateEmployee(ctx context.Context, tx callerTx, before, after domain.Employee) error {
	moved := domain.FoldEmail(before.Email) != domain.FoldEmail(after.Email)
	if moved {
		if err := s.checkEmailFree(ctx, tx, after); err != nil {
			return err
		}
	}
	if before.ExternalID != after.ExternalID {
		if err := s.checkExternalIDFree(ctx, tx, after); err != nil {
			return err
		}
	}
	b := &db.Batch{}
	if moved {
		lockAccounts(b, tx.Now(), before.Email, after.Email)
	}
	b.One(errStale, `UPDATE employees SET name = $3, email = $4, email_folded = $5, tags = $6, updated_at = $7,
			name_folded = $8, last_name_folded = $9, role = $10, external_id = $11
		WHERE company_id = $1 AND id = $2 AND left_at IS NULL`,
		after.CompanyID, after.ID, after.Name, after.Email, domain.FoldEmail(after.Email), encodeList(after.Tags), tx.Now(),
		domain.FoldName(after.Name), domain.FoldLastName(after.Name), string(after.Role), optionalText(after.ExternalID))
	if moved {
		s.deleteOrphanAccount(b, before.Email)
	}
	if before.Email != after.Email || before.ExternalID != after.ExternalID {
		stampAssignments(b, tx, after)
	}
	tx.box.audit(b, tx.Now(), employeeEntry(tx.caller, "employee.changed", after.ID, changedFields(before, after)))
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	return s.replaceTags(ctx, tx, before, after)
}

// changedFields returns a sentence with the names of the changed fields. It never
// holds their values, because audit entries outlive the person.
func changedFields(before, after domain.Employee) string {
	text := "Changed:"
	if before.Name != after.Name {
		text += " name"
	}
	if before.Email != after.Email {
		text += " email"
	}
	if encodeList(before.Tags) != encodeList(after.Tags) {
		text += " tags"
	}
	if before.Role != after.Role {
		text += " role"
	}
	if before.ExternalID != after.ExternalID {
		text += " externalId"
	}
	return text + "."
}

func (s *Store) checkEmailFree(ctx context.Context, tx db.Tx, e domain.Employee) error {
	return checkFree(ctx, tx, domain.ErrEmailTaken, `SELECT id FROM employees
		WHERE company_id = $1 AND email_folded = $2 AND left_at IS NULL AND id <> $3`, e.CompanyID, domain.FoldEmail(e.Email), e.ID)
}

func (s *Store) checkExternalIDFree(ctx context.Context, tx db.Tx, e domain.Employee) error {
	return checkFree(ctx, tx, domain.ErrExternalIDTaken, `SELECT id FROM employees
		WHERE company_id = $1 AND external_id = $2 AND left_at IS NULL AND id <> $3`, e.CompanyID, e.ExternalID, e.ID)
}

// checkFree returns taken if the query has a row.
func checkFree(ctx context.Context, tx db.Tx, taken error, query string, args ...any) error {
	found := false
	b := &db.Batch{}
	b.Query(func(db.Rows) error { found = true; return nil }, query, args...)
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	if found {
		return taken
	}
	return nil
}

// replaceTags stores changed tags, in the employee's row and in the table that lists
// filter by.
func (s *Store) replaceTags(ctx context.Context, tx db.Tx, before, after domain.Employee) error {
	if encodeList(before.Tags) == encodeList(after.Tags) {
		return nil
	}
	b := &db.Batch{}
	b.Exec(`UPDATE employees SET tags = $3 WHERE company_id = $1 AND id = $2`, after.CompanyID, after.ID, encodeList(after.Tags))
	b.Exec(`DELETE FROM employee_tags WHERE company_id = $1 AND employee_id = $2`, after.CompanyID, after.ID)
	if len(after.Tags) > 0 {
		rows, args := s.db.ValuesTable(3, db.Texts("tag", after.Tags))
		b.Exec(`INSERT INTO employee_tags (company_id, employee_id, tag) SELECT $1, $2, r.tag FROM `+rows+` r`,
			append([]any{after.CompanyID, after.ID}, args...)...)
	}
	return tx.Send(ctx, b)
}

func (s *Store) offboard(ctx context.Context, tx callerTx, e domain.Employee) error {
	b := &db.Batch{}
	s.offboardAll(b, tx, []domain.Employee{e})
	return tx.Send(ctx, b)
}

// deleteOrphanAccount queues the deletion of an account that nobody has any more. It
// locks the account first, so that no employee can be added to it, and looks for employees
// in a later statement, which sees those that it has waited for. Otherwise the foreign key
// would find such an employee and wait for the transaction that has locked it, which may wait
// for the account.
func (s *Store) deleteOrphanAccount(b *db.Batch, email string) {
	if suffix := s.db.ForUpdate("x"); suffix != "" {
		b.Query(ignoreRow, `SELECT 1 FROM accounts x WHERE x.email_folded = $1`+suffix, domain.FoldEmail(email))
	}
	b.Exec(`DELETE FROM accounts WHERE email_folded = $1
		AND NOT EXISTS (SELECT 1 FROM employees WHERE employees.email_folded = $1)`, domain.FoldEmail(email))
}
