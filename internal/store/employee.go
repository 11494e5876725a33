package store

import (
	"context"
	"errors"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const employeeColumns = `e.company_id, e.id, coalesce(e.external_id, ''), e.email, e.name, e.role, e.tags, e.joined_at, e.left_at`

func scanEmployee(r db.Rows, e *domain.Employee, more ...any) error {
	var tags string
	dest := append([]any{&e.CompanyID, &e.ID, &e.ExternalID, &e.Email, &e.Name, &e.Role, &tags, &e.JoinedAt, &e.LeftAt}, more...)
	if err := r.Scan(dest...); err != nil {
		return err
	}
	var err error
	e.Tags, err = decodeList[string](tags)
	return err
}

// provisionSQL finds who holds the identifier, who holds the address, and the
// latest former employee with the address.
const provisionSQL = `
	SELECT ` + employeeColumns + `, 'external' FROM employees e
	WHERE e.company_id = $1 AND e.external_id = $2 AND e.left_at IS NULL
	UNION ALL SELECT ` + employeeColumns + `, 'email' FROM employees e
	WHERE e.company_id = $1 AND e.email_folded = $3 AND e.left_at IS NULL
	UNION ALL SELECT * FROM (SELECT ` + employeeColumns + `, 'former' FROM employees e
	WHERE e.company_id = $1 AND e.email_folded = $3 AND e.left_at IS NOT NULL
	ORDER BY e.left_at DESC, e.id DESC LIMIT 1) former`

// Provision finds, links or creates an employee. Codes: external_id_taken, email_taken.
func (s *Store) Provision(ctx context.Context, c domain.Caller, in domain.Provision) (domain.Employee, domain.ProvisionStatus, error) {
	var out domain.Employee
	var status domain.ProvisionStatus
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		var state domain.ProvisionState
		var ids []int64
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return scanProvisionState(r, &state) },
			provisionSQL, c.Company.ID, in.ExternalID, domain.FoldEmail(in.Email))
		tx.IDs(b, "employee_ids", 1, &ids)
		box.prepare(b, tx, 1, c.Company.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		act, err := domain.DecideProvision(in, state)
		if err != nil {
			return err
		}
		switch act {
		case domain.ProvisionNothing:
			out, status = *state.ByExternalID, domain.ProvisionFound
			return nil
		case domain.ProvisionSetExternalID:
			out, status = *state.ByEmail, domain.ProvisionLinked
			return s.linkEmployee(ctx, tx, box, c, &out, in.ExternalID)
		case domain.ProvisionBringBack:
			out, status = *state.Former, domain.ProvisionLinked
			out.ExternalID, out.Name, out.Email = in.ExternalID, in.Name, in.Email
			return s.bringBack(ctx, tx, box, c, &out, "employee.provisioned")
		}
		out = domain.Employee{
			CompanyID: c.Company.ID, ID: ids[0], ExternalID: in.ExternalID, Email: in.Email, Name: in.Name,
			Role: domain.RoleEmployee, Tags: []string{}, JoinedAt: tx.Now(),
		}
		tx.Last(s.joinBatch(tx, box, c, out, "employee.provisioned", &status))
		return nil
	})
	return out, status, err
}

func scanProvisionState(r db.Rows, state *domain.ProvisionState) error {
	e := &domain.Employee{}
	var how string
	if err := scanEmployee(r, e, &how); err != nil {
		return err
	}
	switch how {
	case "external":
		state.ByExternalID = e
	case "email":
		state.ByEmail = e
	default:
		state.Former = e
	}
	return nil
}

// joinBatch writes a new membership; status is created if the account is new too.
func (s *Store) joinBatch(tx db.Tx, box *outbox, c domain.Caller, e domain.Employee, action string, status *domain.ProvisionStatus) *db.Batch {
	b := &db.Batch{}
	b.Items = append(b.Items, db.Item{
		SQL:  `INSERT INTO accounts (email_folded, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		Args: []any{domain.FoldEmail(e.Email), tx.Now()},
		Done: func(n int64) error {
			*status = domain.ProvisionLinked
			if n == 1 {
				*status = domain.ProvisionCreated
			}
			return nil
		},
	})
	b.Exec(`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, role, tags, joined_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
		e.CompanyID, e.ID, optionalText(e.ExternalID), e.Email, domain.FoldEmail(e.Email), e.Name, string(e.Role),
		encodeList(e.Tags), tx.Now())
	box.audit(b, tx.Now(), employeeEntry(c, action, e.ID, ""))
	box.events(b, tx.Now(), domain.EmployeeJoined(e, tx.Now()))
	return b
}

func (s *Store) linkEmployee(ctx context.Context, tx db.Tx, box *outbox, c domain.Caller, e *domain.Employee, externalID string) error {
	e.ExternalID = externalID
	b := &db.Batch{}
	b.One(db.ErrRetry, `UPDATE employees SET external_id = $3, updated_at = $4
		WHERE company_id = $1 AND id = $2 AND external_id IS NULL AND left_at IS NULL`, e.CompanyID, e.ID, externalID, tx.Now())
	touchAssignments(b, tx, *e)
	box.audit(b, tx.Now(), employeeEntry(c, "employee.linked", e.ID, ""))
	return tx.Send(ctx, b)
}

// bringBack renews the membership of a former employee, who keeps the id and tags.
func (s *Store) bringBack(ctx context.Context, tx db.Tx, box *outbox, c domain.Caller, e *domain.Employee, action string) error {
	e.JoinedAt, e.LeftAt = tx.Now(), nil
	b := &db.Batch{}
	b.Exec(`INSERT INTO accounts (email_folded, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`, domain.FoldEmail(e.Email), tx.Now())
	b.One(db.ErrRetry, `UPDATE employees SET external_id = $3, name = $4, email = $5, email_folded = $6, joined_at = $7,
			updated_at = $7, left_at = NULL, role = 'employee'
		WHERE company_id = $1 AND id = $2 AND left_at IS NOT NULL`,
		e.CompanyID, e.ID, optionalText(e.ExternalID), e.Name, e.Email, domain.FoldEmail(e.Email), tx.Now())
	e.Role = domain.RoleEmployee
	box.audit(b, tx.Now(), employeeEntry(c, action, e.ID, "A former employee came back."))
	box.events(b, tx.Now(), domain.EmployeeJoined(*e, tx.Now()))
	return tx.Send(ctx, b)
}

// Join makes an employee without an external id, as someone who joins through
// the cabinet. Codes: email_taken.
func (s *Store) Join(ctx context.Context, c domain.Caller, email, name string) (domain.Employee, error) {
	var out domain.Employee
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		var state domain.ProvisionState
		var ids []int64
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return scanProvisionState(r, &state) }, provisionSQL, c.Company.ID, nil, domain.FoldEmail(email))
		tx.IDs(b, "employee_ids", 1, &ids)
		box.prepare(b, tx, 1, c.Company.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if state.ByEmail != nil {
			return domain.ErrEmailTaken
		}
		if state.Former != nil {
			out = *state.Former
			out.ExternalID, out.Email, out.Name = "", email, name
			return s.bringBack(ctx, tx, box, c, &out, "employee.joined")
		}
		out = domain.Employee{
			CompanyID: c.Company.ID, ID: ids[0], Email: email, Name: name,
			Role: domain.RoleEmployee, Tags: []string{}, JoinedAt: tx.Now(),
		}
		var status domain.ProvisionStatus
		tx.Last(s.joinBatch(tx, box, c, out, "employee.joined", &status))
		return nil
	})
	return out, err
}

// Employees lists the live employees in ascending id.
func (s *Store) Employees(ctx context.Context, company int64, f domain.EmployeeFilter, p domain.Page) (domain.Slice[domain.Employee], error) {
	var out domain.Slice[domain.Employee]
	cond := employeeConditions(company, f)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.Total) }, `SELECT count(*) FROM employees e`+cond.where(), cond.args...)
	paged := cond.clone()
	if p.After != nil {
		paged.add("e.id > ?", p.After.ID)
	}
	limit := paged.limit(p)
	b.Query(func(r db.Rows) error {
		var e domain.Employee
		if err := scanEmployee(r, &e); err != nil {
			return err
		}
		out.Items = append(out.Items, e)
		return nil
	}, `SELECT `+employeeColumns+` FROM employees e`+paged.where()+` ORDER BY e.id`+limit, paged.args...)
	err := s.read(ctx, b)
	out.Items, out.More = cut(out.Items, p.Limit)
	return out, err
}

func employeeConditions(company int64, f domain.EmployeeFilter) *conditions {
	cond := &conditions{}
	cond.add("e.company_id = ?", company)
	cond.add("e.left_at IS NULL")
	if f.ExternalID != "" {
		cond.add("e.external_id = ?", f.ExternalID)
	}
	if f.Email != "" {
		cond.add("e.email_folded = ?", domain.FoldEmail(f.Email))
	}
	if f.Tag != "" {
		cond.add("e.id IN (SELECT t.employee_id FROM employee_tags t WHERE t.company_id = ? AND t.tag = ?)", company, f.Tag)
	}
	return cond
}

// cut drops the row that was only read to know that more follows.
func cut[T any](items []T, limit int) ([]T, bool) {
	if len(items) > limit {
		return items[:limit], true
	}
	return items, false
}

const employeeByExternalID = `SELECT ` + employeeColumns + ` FROM employees e
	WHERE e.company_id = $1 AND e.external_id = $2 AND e.left_at IS NULL`

const formerByExternalID = `SELECT ` + employeeColumns + ` FROM employees e
	WHERE e.company_id = $1 AND e.external_id = $2 AND e.left_at IS NOT NULL ORDER BY e.left_at DESC, e.id DESC`

// Employee gives a live employee with all assignments, ascending id, in one
// statement. Codes: employee_not_found, employee_offboarded.
func (s *Store) Employee(ctx context.Context, company int64, externalID string) (domain.Employee, []domain.Assignment, error) {
	var e domain.Employee
	var list []domain.Assignment
	found := false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		found = true
		return scanEmployeeAssignment(r, &e, &list)
	}, employeeWithAssignmentsSQL, company, externalID)
	if err := s.read(ctx, b); err != nil {
		return e, nil, err
	}
	if !found {
		return e, nil, s.missingEmployee(ctx, company, externalID)
	}
	return e, list, nil
}

// missingEmployee tells someone who left from someone who never was.
func (s *Store) missingEmployee(ctx context.Context, company int64, externalID string) error {
	former := false
	b := &db.Batch{}
	b.Query(func(db.Rows) error { former = true; return nil }, formerByExternalID+` LIMIT 1`, company, externalID)
	if err := s.read(ctx, b); err != nil {
		return err
	}
	if former {
		return domain.ErrEmployeeOffboarded
	}
	return domain.ErrEmployeeNotFound
}

func employeeEntry(c domain.Caller, action string, id int64, detail string) domain.AuditEntry {
	return domain.AuditEntry{
		CompanyID: c.Company.ID, Actor: c.Actor, Action: action, RecordKind: "employee",
		RecordID: strconv.FormatInt(id, 10), EmployeeID: id, Detail: detail,
	}
}

// touchAssignments stamps the employee's assignments as changed: their
// representation carries the employee's identifier and address.
func touchAssignments(b *db.Batch, tx db.Tx, e domain.Employee) {
	b.Exec(`UPDATE assignments SET updated_at = $3 WHERE company_id = $1 AND employee_id = $2 AND revoked_at IS NULL`,
		e.CompanyID, e.ID, tx.Now())
}

var errStale = errors.Join(db.ErrRetry, errors.New("the employee changed meanwhile"))
