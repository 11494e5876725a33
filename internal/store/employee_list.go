package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// EmployeeOverviews returns a page of the employees that the filter selects, by
// ascending id, with what they have to do. Now decides what is overdue. Pages are
// reached by cursor only; Total is set for a list that is not narrowed.
func (s *Store) EmployeeOverviews(ctx context.Context, company int64, f domain.EmployeeListFilter, p domain.PageRequest) (domain.Page[domain.EmployeeOverview], error) {
	var out domain.Page[domain.EmployeeOverview]
	kept, err := s.hasTotals(ctx, company)
	if err != nil {
		return out, err
	}
	err = s.db.Read(ctx, func(c db.Conn) error {
		var err error
		out, err = s.employeeOverviews(ctx, c, company, f, p)
		if err != nil || f != (domain.EmployeeListFilter{}) {
			return err
		}
		cond, b := &conditions{}, &db.Batch{}
		total := cond.employeeTotal(company, domain.EmployeeFilter{}, kept)
		b.Query(func(r db.Rows) error { return r.Scan(&out.Total) }, `SELECT `+total, cond.args...)
		return c.Send(ctx, b)
	})
	return out, mapUnavailable(err)
}

func (s *Store) employeeOverviews(ctx context.Context, c db.Conn, company int64, f domain.EmployeeListFilter, p domain.PageRequest) (domain.Page[domain.EmployeeOverview], error) {
	var out domain.Page[domain.EmployeeOverview]
	cond := s.employeeListConditions(company, f, p)
	limit := cond.limit(domain.PageRequest{Limit: p.Limit})
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.EmployeeOverview
		err := scanEmployee(r, &e.Employee)
		out.Items = append(out.Items, e)
		return err
	}, `SELECT `+employeeColumns+` FROM employees e`+cond.where()+` ORDER BY e.id`+limit, cond.args...)
	if err := c.Send(ctx, b); err != nil {
		return out, err
	}
	out.Items, out.More = trimPage(out.Items, p.Limit)
	return out, s.countAssignments(ctx, c, company, out.Items)
}

// countAssignments adds the figures of the listed employees' live assignments.
func (s *Store) countAssignments(ctx context.Context, c db.Conn, company int64, items []domain.EmployeeOverview) error {
	if len(items) == 0 {
		return nil
	}
	byID := make(map[int64]*domain.EmployeeOverview, len(items))
	for i := range items {
		byID[items[i].ID] = &items[i]
	}
	isListed, ids := s.db.In("a.employee_id", 3, db.Columns(items,
		db.IntColumn("id", func(e *domain.EmployeeOverview) int64 { return e.ID }))[0])
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var id, open, overdue int64
		var active *time.Time
		err := r.Scan(&id, &open, &overdue, &active)
		if e := byID[id]; e != nil {
			e.Open, e.Overdue, e.LastActivityAt = open, overdue, active
		}
		return err
	}, `SELECT a.employee_id, count(*) FILTER (WHERE a.status <> 'completed'),
			count(*) FILTER (WHERE a.status <> 'completed' AND a.deadline <= $2), max(a.last_activity_at)
		FROM assignments a WHERE a.company_id = $1 AND `+isListed+` AND a.revoked_at IS NULL
		GROUP BY a.employee_id`, company, s.db.Now(), ids)
	return c.Send(ctx, b)
}

// employeeListConditions returns the conditions of a page of the cabinet's list.
func (s *Store) employeeListConditions(company int64, f domain.EmployeeListFilter, p domain.PageRequest) *conditions {
	after := int64(0)
	if p.After != nil {
		after = p.After.ID
	}
	cond := &conditions{}
	cond.add("e.company_id = ?", company)
	if f.Select == domain.EmployeesLeft {
		cond.add("e.left_at IS NOT NULL")
	} else {
		cond.add("e.left_at IS NULL")
	}
	switch f.Select {
	case domain.EmployeesOverdue:
		// The index assignments_overdue_employee holds these rows in the order of the
		// employees. An assignment enters it within a second of its deadline.
		cond.add(`e.id IN (SELECT a.employee_id FROM assignments a WHERE a.company_id = ? AND a.employee_id > ?
			AND a.overdue_at IS NOT NULL AND a.revoked_at IS NULL AND a.status <> 'completed')`, company, after)
	case domain.EmployeesUnassigned:
		cond.add(`NOT EXISTS (SELECT 1 FROM assignments a WHERE a.company_id = e.company_id AND a.employee_id = e.id AND a.revoked_at IS NULL)`)
	}
	if f.Tag != "" {
		cond.add(`e.id IN (SELECT t.employee_id FROM employee_tags t WHERE t.company_id = ? AND t.tag = ? AND t.employee_id > ?)`, company, f.Tag, after)
	}
	if search := domain.CleanSearch(f.Search); search != "" {
		found, args := s.employeesFound(company, search, maxMatches)
		cond.add(`e.id IN (`+found+`)`, args...)
	}
	if after > 0 {
		cond.add("e.id > ?", after)
	}
	return cond
}

// EmployeeListReport reads all employees that the filter selects, page by page from
// one snapshot, and calls yield with each page.
func (s *Store) EmployeeListReport(ctx context.Context, company int64, f domain.EmployeeListFilter, yield func([]domain.EmployeeOverview) error) error {
	return mapUnavailable(s.db.Snapshot(ctx, func(c db.Conn) error {
		p := domain.PageRequest{Limit: domain.MaxLimit}
		for {
			page, err := s.employeeOverviews(ctx, c, company, f, p)
			if err != nil {
				return err
			}
			if err := yield(page.Items); err != nil || !page.More {
				return err
			}
			p.After = &domain.Cursor{ID: page.Items[len(page.Items)-1].ID}
		}
	}))
}
