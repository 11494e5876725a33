package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// assignmentFields are the columns of an assignment's row, each with the value to
// read where an employee has no assignment.
var assignmentFields = [][2]string{
	{"a.id", "0"}, {"a.external_id", "''"}, {"a.course_id", "0"}, {"a.status", "''"}, {"a.percent", "0"}, {"a.score", ""},
	{"a.attempts", "0"}, {"a.granted_attempts", "0"}, {"a.is_required", "false"}, {"a.assigned_at", "e.joined_at"},
	{"a.deadline", "e.joined_at"}, {"a.asked_deadline", "e.joined_at"}, {"a.asked_required", "false"}, {"a.started_at", ""},
	{"a.attempt_at", ""}, {"a.ended_at", ""}, {"a.completed_at", ""}, {"a.last_activity_at", ""}, {"a.overdue_at", ""},
	{"a.revoked_at", ""}, {"a.updated_at", "e.joined_at"}, {"c.name", "''"}, {"c.is_assessment", "false"},
	{"c.pass_mark", "0"}, {"c.allowed_attempts", "0"},
}

func fieldList(optional bool) string {
	parts := make([]string, len(assignmentFields))
	for i, f := range assignmentFields {
		parts[i] = f[0]
		if optional && f[1] != "" {
			parts[i] = "coalesce(" + f[0] + ", " + f[1] + ")"
		}
	}
	return strings.Join(parts, ", ")
}

func assignmentDest(a *domain.Assignment) []any {
	return []any{
		&a.ID, &a.ExternalID, &a.CourseID, &a.Status, &a.Percent, &a.Score, &a.Attempts, &a.GrantedAttempts, &a.IsRequired,
		&a.AssignedAt, &a.Deadline, &a.AskedDeadline, &a.AskedRequired, &a.StartedAt, &a.AttemptAt, &a.EndedAt, &a.CompletedAt,
		&a.LastActivityAt, &a.OverdueAt, &a.RevokedAt, &a.UpdatedAt, &a.CourseName, &a.Rule.IsAssessment, &a.Rule.PassMark,
		&a.Rule.AllowedAttempts,
	}
}

var (
	assignmentColumns = fieldList(false) + `, a.company_id, a.employee_id, coalesce(e.external_id, ''), e.email, e.name`

	assignmentFrom = ` FROM assignments a
	JOIN employees e ON e.company_id = a.company_id AND e.id = a.employee_id
	JOIN courses c ON c.id = a.course_id`
)

// assignmentsFirst is assignmentFrom for conditions that name many assignments. It
// finds those first: a planner that believes the company to have few employees would
// look for all of the assignments once per employee.
func assignmentsFirst(d db.Dialect) string {
	return ` FROM assignments a` + d.Join("employees", "e", "e.company_id = a.company_id AND e.id = a.employee_id") + d.Join("courses", "c", "c.id = a.course_id")
}

func scanAssignment(r db.Rows, a *domain.Assignment, more ...any) error {
	dest := append(assignmentDest(a), &a.CompanyID, &a.EmployeeID, &a.EmployeeExternalID, &a.EmployeeEmail, &a.EmployeeName)
	return r.Scan(append(dest, more...)...)
}

// Assignments returns a page of the live assignments by ascending id or, with
// UpdatedSince, by ascending update time. It reads the watermark before the page.
func (s *Store) Assignments(ctx context.Context, company int64, f domain.AssignmentFilter, p domain.PageRequest) (domain.AssignmentPage, error) {
	var out domain.AssignmentPage
	if f.UpdatedSince != nil {
		at, err := s.watermark(ctx, p)
		if err != nil {
			return out, err
		}
		out.Watermark = &at
	}
	kept, err := s.hasTotals(ctx, company)
	if err != nil {
		return out, err
	}
	by, err := s.chooseLeading(ctx, company, f, kept)
	if err != nil {
		return out, err
	}
	paged, order := &conditions{}, ` ORDER BY a.id`
	paged.addAssignmentFilter(company, f, anyIndex, by.page)
	total := paged.assignmentTotal(company, f, kept, by.total)
	if f.UpdatedSince != nil {
		order = ` ORDER BY ` + by.page.column(byUpdate) + `, a.id`
	}
	switch {
	case p.After != nil && f.UpdatedSince != nil:
		paged.add("("+by.page.column(byUpdate)+", a.id) > (?, ?)", time.UnixMilli(p.After.At).UTC(), p.After.ID)
	case p.After != nil:
		paged.add("a.id > ?", p.After.ID)
	}
	limit := paged.limit(p)
	b := s.listBatch(kept && f.Single())
	b.Query(func(r db.Rows) error {
		var a domain.Assignment
		err := scanAssignment(r, &a, &out.Total)
		out.Items = append(out.Items, a)
		return err
	}, `SELECT `+assignmentColumns+`, `+total+by.page.from(s.db)+paged.where()+order+limit, paged.args...)
	err = s.read(ctx, b)
	if err == nil && len(out.Items) == 0 && !p.First() {
		cond := &conditions{}
		total := cond.assignmentTotal(company, f, kept, by.total)
		out.Total, err = s.readTotal(ctx, total, cond.args)
	}
	out.Items, out.More = trimPage(out.Items, p.Limit)
	return out, err
}

// watermark returns the watermark of a walk over pages, which is that of its first
// page: a change that is committed to a page already read is found by the next walk.
func (s *Store) watermark(ctx context.Context, p domain.PageRequest) (time.Time, error) {
	if p.After != nil && p.After.Watermark != 0 {
		return time.UnixMilli(p.After.Watermark).UTC(), nil
	}
	at, err := s.db.Watermark(ctx)
	return at, mapUnavailable(err)
}

// assignmentConditions returns the conditions of a filter for reports.
func assignmentConditions(company int64, f domain.AssignmentFilter, path accessPath) *conditions {
	cond, by := &conditions{}, anyColumn
	if f.EmployeeExternalID != "" {
		by = byEmployee
	}
	cond.addAssignmentFilter(company, f, path, by)
	return cond
}

func (c *conditions) addAssignmentFilter(company int64, f domain.AssignmentFilter, path accessPath, by leadingColumn) {
	c.add("a.company_id = ?", company)
	c.add(path.isNull("a.revoked_at"))
	if f.EmployeeExternalID != "" {
		c.add(`a.employee_id = (SELECT x.id FROM employees x WHERE x.company_id = ? AND x.external_id = ? AND x.left_at IS NULL)`,
			company, f.EmployeeExternalID)
	}
	if f.Status != "" {
		c.add(by.column(byStatus)+" = ?", string(f.Status))
	}
	if f.CourseID != 0 {
		c.add(by.column(byCourse)+" = ?", f.CourseID)
	}
	if f.UpdatedSince != nil {
		c.add(by.column(byUpdate)+" >= ?", *f.UpdatedSince)
	}
}

// Assignment returns a live assignment by id. Codes: assignment_not_found,
// assignment_revoked, wrong_company.
func (s *Store) Assignment(ctx context.Context, company, id int64) (domain.Assignment, error) {
	var a domain.Assignment
	found := false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { found = true; return scanAssignment(r, &a) },
		`SELECT `+assignmentColumns+assignmentFrom+` WHERE a.company_id = $1 AND a.id = $2`, company, id)
	if err := s.read(ctx, b); err != nil {
		return a, err
	}
	switch {
	case !found:
		return a, s.missingAssignment(ctx, id)
	case a.RevokedAt != nil:
		return a, domain.ErrAssignmentRevoked
	}
	return a, nil
}

func (s *Store) missingAssignment(ctx context.Context, id int64) error {
	elsewhere := false
	b := &db.Batch{}
	b.Query(func(db.Rows) error { elsewhere = true; return nil }, assignmentElsewhereSQL, id)
	if err := s.read(ctx, b); err != nil {
		return err
	}
	if elsewhere {
		return domain.ErrAssignmentWrongCompany
	}
	return domain.ErrAssignmentNotFound
}

const assignmentElsewhereSQL = `SELECT 1 FROM assignments WHERE id = $1`

// AssignmentByExternalID returns a live assignment. Codes: assignment_not_found,
// assignment_revoked.
func (s *Store) AssignmentByExternalID(ctx context.Context, company int64, externalID string) (domain.Assignment, error) {
	var a domain.Assignment
	found, revoked := false, false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { found = true; return scanAssignment(r, &a) },
		`SELECT `+assignmentColumns+assignmentFrom+` WHERE a.company_id = $1 AND a.external_id = $2 AND a.revoked_at IS NULL`, company, externalID)
	if err := s.read(ctx, b); err != nil || found {
		return a, err
	}
	b = &db.Batch{}
	b.Query(func(db.Rows) error { revoked = true; return nil },
		`SELECT 1 FROM assignments WHERE company_id = $1 AND external_id = $2 AND revoked_at IS NOT NULL LIMIT 1`, company, externalID)
	if err := s.read(ctx, b); err != nil {
		return a, err
	}
	if revoked {
		return a, domain.ErrAssignmentRevoked
	}
	return a, domain.ErrAssignmentNotFound
}

// Revoke revokes an assignment; revoking it again changes nothing. Codes:
// assignment_not_found, wrong_company.
func (s *Store) Revoke(ctx context.Context, c domain.Caller, id int64) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		var employee int64
		var revoked *time.Time
		found, elsewhere := false, false
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { found = true; return r.Scan(&employee, &revoked) },
			`SELECT a.employee_id, a.revoked_at FROM assignments a WHERE a.company_id = $1 AND a.id = $2`+s.db.ForUpdate("a"), c.Company.ID, id)
		b.Query(func(db.Rows) error { elsewhere = true; return nil }, assignmentElsewhereSQL, id)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		switch {
		case found && revoked != nil:
			return nil
		case !found && elsewhere:
			return domain.ErrAssignmentWrongCompany
		case !found:
			return domain.ErrAssignmentNotFound
		}
		b = &db.Batch{}
		b.Exec(`UPDATE assignments SET revoked_at = $3, updated_at = $3 WHERE company_id = $1 AND id = $2`, c.Company.ID, id, tx.Now())
		box.audit(b, tx.Now(), domain.AuditEntry{
			CompanyID: c.Company.ID, Actor: c.Actor, Action: "assignment.revoked", RecordKind: "assignment",
			RecordID: strconv.FormatInt(id, 10), EmployeeID: employee,
		})
		tx.SendAndCommit(b)
		return nil
	})
}
