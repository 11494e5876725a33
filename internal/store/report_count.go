package store

import (
	"context"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// The statements of this file count all assignments that a question selects. The
// service runs them for small companies only, and in the background for others.

// questionConditions returns the conditions of the live assignments that a question
// selects.
func (s *Store) questionConditions(company int64, q domain.ReportQuestion) *conditions {
	cond := &conditions{}
	cond.add("a.company_id = ?", company)
	cond.add("a.revoked_at IS NULL")
	s.narrow(cond, company, domain.AssignmentQuery{CourseID: q.CourseID, Tag: q.Tag, Required: q.Required.Flag(), Search: q.Search})
	return cond
}

// completionColumns are the counts of a domain.Completion, which scanCompletion reads.
func completionColumns(cond *conditions, now time.Time) string {
	columns := "count(*)"
	for _, status := range []domain.Status{domain.StatusStarted, domain.StatusCompleted, domain.StatusNeedsRetry, domain.StatusFailed} {
		columns += fmt.Sprintf(", count(*) FILTER (WHERE a.status = '%s')", status)
	}
	return columns + ", count(*) FILTER (WHERE a.status <> 'completed' AND a.deadline <= " + cond.arg(now) + ")"
}

func scanCompletion(r db.Rows, c *domain.Completion, key any) error {
	return r.Scan(key, &c.Assigned, &c.Started, &c.Completed, &c.NeedsRetry, &c.Failed, &c.Overdue)
}

// CompletionByCourse counts assignments by course.
func (s *Store) CompletionByCourse(ctx context.Context, company int64, q domain.ReportQuestion) ([]domain.Completion, error) {
	var out []domain.Completion
	cond := s.questionConditions(company, q)
	columns := completionColumns(cond, s.Now())
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var c domain.Completion
		err := scanCompletion(r, &c, &c.CourseID)
		out = append(out, c)
		return err
	}, `SELECT a.course_id, `+columns+` FROM assignments a`+cond.where()+` GROUP BY a.course_id`, cond.args...)
	err := s.read(ctx, b)
	return out, err
}

// CompletionByTag counts assignments by the tags of their employees: those of a
// person with two tags are counted in both. Tags without assignments are left out.
func (s *Store) CompletionByTag(ctx context.Context, company int64, q domain.ReportQuestion) ([]domain.Completion, error) {
	var out []domain.Completion
	cond := s.questionConditions(company, domain.ReportQuestion{CourseID: q.CourseID, Required: q.Required})
	if q.Tag != "" {
		cond.add("t.tag = ?", q.Tag)
	}
	columns := completionColumns(cond, s.Now())
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var c domain.Completion
		err := scanCompletion(r, &c, &c.Tag)
		out = append(out, c)
		return err
	}, `SELECT t.tag, `+columns+` FROM assignments a JOIN employee_tags t ON t.company_id = a.company_id AND t.employee_id = a.employee_id`+
		cond.where()+` GROUP BY t.tag`, cond.args...)
	err := s.read(ctx, b)
	return out, err
}

// PeopleByTag returns how many employees have each tag that is in use.
func (s *Store) PeopleByTag(ctx context.Context, company int64) (map[string]int64, error) {
	out := map[string]int64{}
	kept, err := s.hasTotals(ctx, company)
	if err != nil {
		return nil, err
	}
	sql := `SELECT k.tag, CAST(sum(k.n) AS bigint) FROM (
			SELECT text_key AS tag, n FROM totals WHERE company_id = $1 AND kind = '` + totalEmployees + `'
			UNION ALL SELECT text_key, n FROM total_changes WHERE company_id = $1 AND kind = '` + totalEmployees + `'
		) k WHERE k.tag <> '' GROUP BY k.tag HAVING sum(k.n) <> 0`
	if !kept {
		sql = `SELECT t.tag, count(*) FROM employee_tags t JOIN employees e ON e.company_id = t.company_id AND e.id = t.employee_id
			WHERE t.company_id = $1 AND e.left_at IS NULL GROUP BY t.tag`
	}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var tag string
		var n int64
		err := r.Scan(&tag, &n)
		out[tag] = n
		return err
	}, sql, company)
	err = s.read(ctx, b)
	return out, err
}

// Lateness counts overdue assignments by how late they are.
func (s *Store) Lateness(ctx context.Context, company int64, q domain.ReportQuestion) (domain.Lateness, error) {
	var out domain.Lateness
	now := s.Now()
	cond := s.questionConditions(company, q)
	cond.add("a.status <> 'completed'")
	cond.add("a.deadline <= ?", now)
	columns, dest, newer := "", []any{}, ""
	for i := range out {
		condition := "1 = 1"
		if newer != "" {
			condition = "a.deadline < " + newer
		}
		if i < len(domain.LateSteps) {
			newer = cond.arg(now.AddDate(0, 0, -domain.LateSteps[i]))
			condition += " AND a.deadline >= " + newer
		}
		if i > 0 {
			columns += ", "
		}
		columns += "count(*) FILTER (WHERE " + condition + ")"
		dest = append(dest, &out[i])
	}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(dest...) }, `SELECT `+columns+` FROM assignments a`+cond.where(), cond.args...)
	err := s.read(ctx, b)
	return out, err
}

// Compliance counts the required assignments that were due before q.On, by course. A
// failed assignment has ended without being completed.
func (s *Store) Compliance(ctx context.Context, company int64, q domain.ReportQuestion) ([]domain.Compliance, error) {
	var out []domain.Compliance
	q.Required = domain.RequiredOnly
	cond := s.questionConditions(company, q)
	cond.add("a.assigned_at < ?", q.On)
	cond.add("a.deadline < ?", q.On)
	done := "a.status = 'completed' AND a.completed_at < " + cond.arg(q.On)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var c domain.Compliance
		var due int64
		err := r.Scan(&c.CourseID, &due, &c.InTime, &c.Late)
		c.Missing = due - c.InTime - c.Late
		out = append(out, c)
		return err
	}, `SELECT a.course_id, count(*), count(*) FILTER (WHERE `+done+` AND a.completed_at <= a.deadline),
			count(*) FILTER (WHERE `+done+` AND a.completed_at > a.deadline)
		FROM assignments a`+cond.where()+` GROUP BY a.course_id`, cond.args...)
	err := s.read(ctx, b)
	return out, err
}

// CourseNames returns the names of some courses.
func (s *Store) CourseNames(ctx context.Context, ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	if len(ids) == 0 {
		return names, nil
	}
	isNamed, keys := s.db.In("c.id", 1, db.Ints("id", ids))
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var id int64
		var name string
		err := r.Scan(&id, &name)
		names[id] = name
		return err
	}, `SELECT c.id, c.name FROM courses c WHERE `+isNamed, keys)
	err := s.read(ctx, b)
	return names, err
}

// MatrixCells returns the newest live assignments of some people in some courses.
func (s *Store) MatrixCells(ctx context.Context, company int64, people, courses []int64) (map[domain.MatrixKey]domain.MatrixCell, error) {
	out := map[domain.MatrixKey]domain.MatrixCell{}
	if len(people) == 0 || len(courses) == 0 {
		return out, nil
	}
	isListed, ids := s.db.In("a.employee_id", 2, db.Ints("id", people))
	isShown, columns := s.db.In("a.course_id", 3, db.Ints("id", courses))
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var key domain.MatrixKey
		var cell domain.MatrixCell
		err := r.Scan(&key.EmployeeID, &key.CourseID, &cell.AssignmentID, &cell.Status, &cell.Deadline)
		if cell.AssignmentID > out[key].AssignmentID {
			out[key] = cell
		}
		return err
	}, `SELECT a.employee_id, a.course_id, a.id, a.status, a.deadline FROM assignments a
		WHERE a.company_id = $1 AND `+isListed+` AND `+isShown+` AND a.revoked_at IS NULL`, company, ids, columns)
	err := s.read(ctx, b)
	return out, err
}
