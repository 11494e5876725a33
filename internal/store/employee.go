package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const employeeColumns = `e.company_id, e.id, coalesce(e.external_id, ''), e.email, e.name, e.role, e.tags, e.joined_at, e.left_at`

// employeeColumnCount is the number of employeeColumns.
const employeeColumnCount = 9

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

func (s *Store) linkEmployee(ctx context.Context, tx callerTx, e *domain.Employee, externalID string) error {
	e.ExternalID = externalID
	b := &db.Batch{}
	b.One(db.ErrRetry, `UPDATE employees SET external_id = $3, updated_at = $4
		WHERE company_id = $1 AND id = $2 AND external_id IS NULL AND left_at IS NULL`, e.CompanyID, e.ID, externalID, tx.Now())
	s.lockAssignments(b, e.CompanyID, withExternalID(externalID))
	stampAssignments(b, tx, *e)
	tx.box.audit(b, tx.Now(), employeeEntry(tx.caller, "employee.linked", e.ID, ""))
	return tx.Send(ctx, b)
}

// bringBack renews the membership of a former employee, who keeps the id and tags. If
// the person came back and left again since the row was read, the transaction runs
// again: its event would have a smaller sequence than theirs.
func (s *Store) bringBack(ctx context.Context, tx callerTx, e *domain.Employee, action string) error {
	left := e.LeftAt
	e.JoinedAt, e.LeftAt = tx.Now(), nil
	b := &db.Batch{}
	b.Exec(`INSERT INTO accounts (email_folded, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`, domain.FoldEmail(e.Email), tx.Now())
	b.One(db.ErrRetry, `UPDATE employees SET external_id = $3, name = $4, email = $5, email_folded = $6, joined_at = $7,
			updated_at = $7, left_at = NULL, name_folded = $8, last_name_folded = $9, role = $11
		WHERE company_id = $1 AND id = $2 AND left_at = $10`,
		e.CompanyID, e.ID, optionalText(e.ExternalID), e.Name, e.Email, domain.FoldEmail(e.Email), tx.Now(),
		domain.FoldName(e.Name), domain.FoldLastName(e.Name), left, string(e.Role))
	tx.box.audit(b, tx.Now(), employeeEntry(tx.caller, action, e.ID, "A former employee came back."))
	tx.box.events(b, tx.Now(), domain.EmployeeJoined(*e, tx.Now()))
	return tx.Send(ctx, b)
}

// Join creates an employee without an external id, as the cabinet does. Codes:
// email_taken.
func (s *Store) Join(ctx context.Context, c domain.Caller, n domain.Newcomer) (domain.Employee, error) {
	var out provisionResult
	r := provisionRequest{c, domain.Provision{Email: n.Email, Name: n.Name, Tags: n.Tags}}
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		states, ids, err := s.loadProvisions(ctx, tx, box, []provisionRequest{r})
		if err != nil {
			return err
		}
		if states[0].ByEmail != nil {
			return domain.ErrEmailTaken
		}
		if states[0].Former != nil {
			former := *states[0].Former
			out.Employee = former
			out.ExternalID, out.Email, out.Name, out.Tags, out.Role = "", n.Email, n.Name, append([]string{}, n.Tags...), n.Role
			if err := s.bringBack(ctx, callerTx{tx, box, c}, &out.Employee, "employee.joined"); err != nil {
				return err
			}
			return s.replaceTags(ctx, tx, former, out.Employee)
		}
		out.Employee = r.join(ids[0], tx.Now())
		out.Role = n.Role
		newcomers{{c, "employee.joined", &out}}.queueCommit(tx, box)
		return nil
	})
	return out.Employee, err
}

// Employees returns a page of the live employees by ascending id.
func (s *Store) Employees(ctx context.Context, company int64, f domain.EmployeeFilter, p domain.PageRequest) (domain.Page[domain.Employee], error) {
	var out domain.Page[domain.Employee]
	kept, err := s.hasTotals(ctx, company)
	if err != nil {
		return out, err
	}
	after := int64(0)
	if p.After != nil {
		after = p.After.ID
	}
	from, order, path := ` FROM employees e`, ` ORDER BY e.id`, anyIndex
	if f.ByTag() {
		from = ` FROM employee_tags t` + s.db.Join("employees", "e", "e.company_id = t.company_id AND e.id = t.employee_id")
		order, path = ` ORDER BY t.employee_id`, alongTags
	}
	paged := employeeConditions(company, f, path, after)
	total := paged.employeeTotal(company, f, kept)
	limit := paged.limit(p)
	b := s.listBatch(kept)
	b.Query(func(r db.Rows) error {
		var e domain.Employee
		if err := scanEmployee(r, &e, &out.Total); err != nil {
			return err
		}
		out.Items = append(out.Items, e)
		return nil
	}, `SELECT `+employeeColumns+`, `+total+from+paged.where()+order+limit, paged.args...)
	err = s.read(ctx, b)
	if err == nil && len(out.Items) == 0 && !p.First() {
		cond := &conditions{}
		total := cond.employeeTotal(company, f, kept)
		out.Total, err = s.readTotal(ctx, total, cond.args)
	}
	out.Items, out.More = trimPage(out.Items, p.Limit)
	return out, err
}

// employeeConditions returns the conditions of a filter, for lists and reports, for
// employees whose id is greater than after. The tags are searched from there on too:
// otherwise a page would cost more the later it is.
func employeeConditions(company int64, f domain.EmployeeFilter, path accessPath, after int64) *conditions {
	cond := &conditions{}
	cond.addEmployeeFilter(company, f, path, after)
	return cond
}

func (c *conditions) addEmployeeFilter(company int64, f domain.EmployeeFilter, path accessPath, after int64) {
	c.add("e.company_id = ?", company)
	c.add(path.isNull("e.left_at"))
	if f.ExternalID != "" {
		c.add("e.external_id = ?", f.ExternalID)
	}
	if f.Email != "" {
		c.add("e.email_folded = ?", domain.FoldEmail(f.Email))
	}
	const tagged = "employee_tags t WHERE t.company_id = ? AND t.tag = ? AND t.employee_id > ?"
	switch {
	case f.Tag == "":
	case path == alongTags:
		c.add("t.company_id = ?", company)
		c.add("t.tag = ?", f.Tag)
		c.add("t.employee_id > ?", after)
	case f.ByTag():
		c.add(path.isAmong("e.id", "t.employee_id", tagged), company, f.Tag, after)
	default: // the other filter finds one employee
		c.add(primaryKeyWalk.isAmong("e.id", "t.employee_id", tagged), company, f.Tag, after)
	}
	if after > 0 {
		c.add("e.id > ?", after)
	}
}

// trimPage removes the row beyond the limit, if there is one, and reports whether
// there was: it is read only to know that more rows follow.
func trimPage[T any](items []T, limit int) ([]T, bool) {
	if len(items) > limit {
		return items[:limit], true
	}
	return items, false
}

// employeeSelector names an employee of a company, whose id is the argument $1 of
// the statements, by one column.
type employeeSelector struct {
	condition string // with the argument $2
	value     any
}

func withExternalID(externalID string) employeeSelector {
	return employeeSelector{"e.external_id = $2", externalID}
}

func withID(id int64) employeeSelector { return employeeSelector{"e.id = $2", id} }

// current selects the employee of today: not a former one.
func (s employeeSelector) current() string {
	return `SELECT ` + employeeColumns + ` FROM employees e WHERE e.company_id = $1 AND ` + s.condition + ` AND e.left_at IS NULL`
}

// former selects the former employees, the one who left last first.
func (s employeeSelector) former() string {
	return `SELECT ` + employeeColumns + ` FROM employees e WHERE e.company_id = $1 AND ` + s.condition + ` AND e.left_at IS NOT NULL
		ORDER BY e.left_at DESC, e.id DESC`
}

// Employee returns a live employee with all assignments by ascending id, if there are
// no more than maxBatchedAssignments; otherwise it returns domain.ErrLargeEmployee, and
// EmployeePages reads them. Codes: employee_not_found, employee_offboarded.
func (s *Store) Employee(ctx context.Context, company int64, externalID string) (domain.Employee, []domain.Assignment, error) {
	key := employeeKey{company, externalID}
	var found employeeWithAssignments
	var err error
	if s.employees != nil {
		found, err = s.employees.Do(ctx, key)
	} else {
		found, err = s.readEmployeeAlone(ctx, key)
	}
	switch {
	case err == nil && found.ID == 0:
		err = s.missingEmployee(ctx, company, externalID)
	case err == nil && found.isLarge():
		return found.Employee, nil, domain.ErrLargeEmployee
	}
	return found.Employee, found.assignments, err
}

type employeeKey struct {
	company    int64
	externalID string
}

// employeeWithAssignments is the answer to one lookup; its ID is 0 if there is no
// such employee.
type employeeWithAssignments struct {
	domain.Employee
	assignments []domain.Assignment
}

// withinBatch holds for the assignments of an employee that are read in a batch:
// one more than the limit, which shows that there are more.
var withinBatch = fmt.Sprintf(` AND a.id <= coalesce((SELECT x.id FROM assignments x
	WHERE x.company_id = e.company_id AND x.employee_id = e.id AND x.revoked_at IS NULL
	ORDER BY x.id LIMIT 1 OFFSET %d), %d)`, maxBatchedAssignments, math.MaxInt64)

// readEmployeeAlone looks one employee up, with the first assignments.
func (s *Store) readEmployeeAlone(ctx context.Context, key employeeKey) (employeeWithAssignments, error) {
	out := make([]employeeWithAssignments, 1)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return scanEmployeeWithAssignments(r, out) },
		`SELECT `+employeeColumns+`, 0, `+fieldList(true)+` FROM employees e`+
			s.db.LeftJoin("assignments", "a", assignmentsOfEmployee)+s.db.LeftJoin("courses", "c", courseOfAssignment)+`
			WHERE e.company_id = $1 AND e.external_id = $2 AND e.left_at IS NULL ORDER BY a.id`+
			fmt.Sprintf(` LIMIT %d`, maxBatchedAssignments+1), key.company, key.externalID)
	err := s.read(ctx, b)
	return out[0], err
}

const (
	assignmentsOfEmployee = `a.company_id = e.company_id AND a.employee_id = e.id AND a.revoked_at IS NULL`
	courseOfAssignment    = `c.id = a.course_id`
)

// readEmployees looks employees up, with their first assignments, in one
// statement.
func (s *Store) readEmployees(ctx context.Context, keys []employeeKey) ([]employeeWithAssignments, error) {
	out := make([]employeeWithAssignments, len(keys))
	rows, args := s.db.ValuesTable(1, append(db.Columns(keys,
		db.IntColumn("company_id", func(k *employeeKey) int64 { return k.company }),
		db.TextColumn("external_id", func(k *employeeKey) string { return k.externalID })),
		db.Ints("n", rowNumbers(len(keys))))...)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return scanEmployeeWithAssignments(r, out) }, `SELECT `+employeeColumns+`, k.n, `+fieldList(true)+`
		FROM `+rows+` k`+
		s.db.Join("employees", "e", `e.company_id = k.company_id AND e.external_id = k.external_id AND e.left_at IS NULL`)+
		s.db.LeftJoin("assignments", "a", assignmentsOfEmployee+withinBatch)+
		s.db.LeftJoin("courses", "c", courseOfAssignment)+` ORDER BY k.n, a.id`, args...)
	err := s.read(ctx, b)
	return out, err
}

// rowNumbers returns the numbers from 0 to n-1: the column by which a result row
// names the item that it answers.
func rowNumbers(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

func scanEmployeeWithAssignments(r db.Rows, to []employeeWithAssignments) error {
	var e domain.Employee
	var a domain.Assignment
	var n int64
	if err := scanEmployee(r, &e, append([]any{&n}, assignmentDest(&a)...)...); err != nil {
		return err
	}
	if to[n].Employee = e; a.ID == 0 {
		return nil
	}
	a.CompanyID, a.EmployeeID, a.EmployeeExternalID = e.CompanyID, e.ID, e.ExternalID
	a.EmployeeEmail, a.EmployeeName = e.Email, e.Name
	to[n].assignments = append(to[n].assignments, a)
	return nil
}

// missingEmployee returns the error for an employee that was not found: someone who
// has left has another code than someone who never was an employee.
func (s *Store) missingEmployee(ctx context.Context, company int64, externalID string) error {
	former := false
	b := &db.Batch{}
	b.Query(func(db.Rows) error { former = true; return nil }, withExternalID(externalID).former()+` LIMIT 1`, company, externalID)
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

// stampAssignments stamps the employee's assignments as changed: their
// representation carries the employee's identifier and address.
func stampAssignments(b *db.Batch, tx db.Tx, e domain.Employee) {
	b.Exec(`UPDATE assignments SET updated_at = $3 WHERE company_id = $1 AND employee_id = $2 AND revoked_at IS NULL`,
		e.CompanyID, e.ID, tx.Now())
}

var errStale = errors.Join(db.ErrRetry, errors.New("the employee changed meanwhile"))
