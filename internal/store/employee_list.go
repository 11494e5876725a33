package store

import (
	"context"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// EmployeeOverviews returns a page of the employees that the filter selects, by
// ascending id, with what they have to do. Now decides what is overdue. Pages are
// reached by cursor only.
func (s *Store) EmployeeOverviews(ctx context.Context, company int64, f domain.EmployeeListFilter, p domain.PageRequest) (domain.EmployeePage, error) {
	var out domain.EmployeePage
	kept, err := s.hasTotals(ctx, company)
	if err != nil {
		return out, err
	}
	err = s.db.Read(ctx, func(c db.Conn) error {
		var err error
		if out, err = s.employeeOverviews(ctx, c, company, f, p); err != nil {
			return err
		}
		b := &db.Batch{}
		if f == (domain.EmployeeListFilter{}) {
			cond := &conditions{}
			total := cond.employeeTotal(company, domain.EmployeeFilter{}, kept)
			b.Query(func(r db.Rows) error { return r.Scan(&out.Total) }, `SELECT `+total, cond.args...)
		}
		if search := domain.CleanSearch(f.Search); search != "" {
			s.queryCapped(b, company, search, &out.Capped)
		}
		if b.Empty() {
			return nil
		}
		return c.Send(ctx, b)
	})
	return out, mapUnavailable(err)
}

func (s *Store) employeeOverviews(ctx context.Context, c db.Conn, company int64, f domain.EmployeeListFilter, p domain.PageRequest) (domain.EmployeePage, error) {
	var out domain.EmployeePage
	withoutWork := f.Select == domain.EmployeesUnassigned
	if withoutWork {
		f.Select = domain.EmployeesWorking
	}
	cond := s.employeeListConditions(company, f, p)
	var last int64
	if withoutWork {
		var err error
		if last, err = s.lastLookedAt(ctx, c, company, p); err != nil {
			return out, err
		}
		if last > 0 {
			cond.add("e.id <= ?", last)
		}
	}
	limit := cond.limit(domain.PageRequest{Limit: p.Limit})
	from := ` FROM employees e` + cond.where()
	if withoutWork {
		// The inner statement walks along the primary key, so that the outer one stops at
		// the last row of the page. It would look at all of them before it sorts them.
		from = fmt.Sprintf(` FROM (SELECT e.* FROM employees e%s ORDER BY e.id LIMIT %d) e WHERE `+unassigned, cond.where(), domain.LookedAtPerRow*p.Limit)
	}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.EmployeeOverview
		err := scanEmployee(r, &e.Employee)
		out.Items = append(out.Items, e)
		return err
	}, `SELECT `+employeeColumns+from+` ORDER BY e.id`+limit, cond.args...)
	if err := c.Send(ctx, b); err != nil {
		return out, err
	}
	out.Items, out.More = trimPage(out.Items, p.Limit)
	switch {
	case out.More:
		out.Next = &domain.Cursor{ID: out.Items[len(out.Items)-1].ID}
	case last > 0:
		out.More, out.Next = true, &domain.Cursor{ID: last}
	}
	return out, s.countAssignments(ctx, c, company, out.Items)
}

// unassigned is the condition that an employee has no live assignment: one look into
// the index. As NOT EXISTS it would be a join that may begin with all assignments of
// the company.
const unassigned = `(SELECT 1 FROM assignments a WHERE a.company_id = e.company_id AND a.employee_id = e.id AND a.revoked_at IS NULL LIMIT 1) IS NULL`

// lastLookedAt returns the id of the last employee that a page of EmployeesUnassigned
// looks at, or 0 if it comes to the end. Without this bound a page of a company in
// which everybody has assignments would look at all of them.
func (s *Store) lastLookedAt(ctx context.Context, c db.Conn, company int64, p domain.PageRequest) (last int64, err error) {
	cond := s.employeeListConditions(company, domain.EmployeeListFilter{}, p)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&last) },
		fmt.Sprintf(`SELECT e.id FROM employees e%s ORDER BY e.id LIMIT 1 OFFSET %d`, cond.where(), domain.LookedAtPerRow*p.Limit-1), cond.args...)
	err = c.Send(ctx, b)
	return last, err
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
	cond, after := &conditions{}, int64(0)
	if p.After != nil {
		after = p.After.ID
	}
	s.addListConditions(cond, company, f, after)
	return cond
}

// addListConditions adds the conditions of the employees that the cabinet's list
// shows after the one with the id.
func (s *Store) addListConditions(cond *conditions, company int64, f domain.EmployeeListFilter, after int64) {
	cond.add("e.company_id = ?", company)
	if f.Select == domain.EmployeesLeft {
		cond.add("e.left_at IS NOT NULL")
	} else {
		cond.add("e.left_at IS NULL")
	}
	search := domain.CleanSearch(f.Search)
	switch {
	case f.Select == domain.EmployeesOverdue && search != "": // one look for each person found
		cond.add(`(SELECT 1 FROM assignments a WHERE a.company_id = e.company_id AND a.employee_id = e.id
			AND a.overdue_at IS NOT NULL AND a.revoked_at IS NULL AND a.status <> 'completed' LIMIT 1) IS NOT NULL`)
	case f.Select == domain.EmployeesOverdue:
		// The index assignments_overdue_employee holds these rows in the order of the
		// employees. An assignment enters it within a second of its deadline.
		cond.add(`e.id IN (SELECT a.employee_id FROM assignments a WHERE a.company_id = ? AND a.employee_id > ?
			AND a.overdue_at IS NOT NULL AND a.revoked_at IS NULL AND a.status <> 'completed')`, company, after)
	case f.Select == domain.EmployeesUnassigned:
		cond.add(unassigned)
	}
	if f.Tag != "" {
		cond.add(`e.id IN (SELECT t.employee_id FROM employee_tags t WHERE t.company_id = ? AND t.tag = ? AND t.employee_id > ?)`, company, f.Tag, after)
	}
	if search != "" {
		found, args := s.employeesFound(company, search, domain.MaxMatches)
		cond.add(`e.id IN (`+found+`)`, args...)
	}
	if after > 0 {
		cond.add("e.id > ?", after)
	}
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
			p.After = page.Next
		}
	}))
}
