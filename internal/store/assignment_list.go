package store

import (
	"context"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// AssignmentList returns a page of the cabinet's list of live assignments, without
// the total. Its inner statement finds the rows of the page from an index alone,
// however many it passes over; only those of the page are read.
func (s *Store) AssignmentList(ctx context.Context, company int64, q domain.AssignmentQuery, p domain.PageRequest) (domain.Page[domain.Assignment], error) {
	source, err := s.newAssignmentSource(ctx, company, q)
	if err != nil {
		return domain.Page[domain.Assignment]{}, err
	}
	if source.tryListOrderFirst {
		out, err := s.assignmentPage(ctx, company, s.newAssignmentScan(company, q, p), q, p)
		if err != nil || out.More { // without a full page, the scan may have stopped short of more matches
			return out, err
		}
	}
	source.cond.addPosition(q, p)
	return s.assignmentPage(ctx, company, source, q, p)
}

// assignmentPage returns the page of the list whose assignments the source selects.
func (s *Store) assignmentPage(ctx context.Context, company int64, source assignmentSource, q domain.AssignmentQuery, p domain.PageRequest) (domain.Page[domain.Assignment], error) {
	var out domain.Page[domain.Assignment]
	cond, order := source.cond, listOrder(q)
	limit := cond.limit(domain.PageRequest{Limit: p.Limit})
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var a domain.Assignment
		err := scanAssignment(r, &a)
		out.Items = append(out.Items, a)
		return err
	}, `SELECT `+assignmentColumns+` FROM (SELECT a.company_id AS company, a.id AS listed`+source.clause(s.db)+order+limit+`) l
		JOIN assignments a ON a.company_id = l.company AND a.id = l.listed
		JOIN employees e ON e.company_id = a.company_id AND e.id = a.employee_id
		JOIN courses c ON c.id = a.course_id`+order, cond.args...)
	if search := domain.CleanSearch(q.Search); search != "" {
		s.queryCapped(b, company, search, &out.Capped)
	}
	err := s.read(ctx, b)
	out.Items, out.More = trimPage(out.Items, p.Limit)
	return out, err
}

// queryConditions returns new conditions with those of addQuery.
func (s *Store) queryConditions(company int64, q domain.AssignmentQuery) *conditions {
	cond := &conditions{}
	s.addQuery(cond, company, q)
	return cond
}

// addQuery adds the conditions of the cabinet's list.
func (s *Store) addQuery(cond *conditions, company int64, q domain.AssignmentQuery) {
	cond.add("a.company_id = ?", company)
	cond.add("a.revoked_at IS NULL")
	switch now := s.Now(); q.Tab {
	case domain.TabOverdue:
		cond.add("a.status <> 'completed'")
		cond.add("a.deadline <= ?", now)
	case domain.TabDueSoon:
		cond.add("a.status <> 'completed'")
		cond.add("a.deadline > ?", now)
		cond.add("a.deadline <= ?", now.Add(domain.DueSoon))
	case domain.TabInProgress:
		cond.add("a.status = 'started'")
	case domain.TabNeedsRetry, domain.TabFailed:
		cond.add("a.status = ?", string(q.Tab))
	case domain.TabCompleted:
		cond.add("a.status = ?", string(q.Tab))
		if q.Recent {
			cond.add("a.status = 'completed'") // the literal lets the planner use the index of completions
			cond.add("a.completed_at >= ?", domain.RecentSince(now))
		}
	}
	s.narrow(cond, company, q)
}

// narrow adds the conditions of a query other than its tab.
func (s *Store) narrow(cond *conditions, company int64, q domain.AssignmentQuery) {
	if q.EmployeeID != 0 {
		cond.add("a.employee_id = ?", q.EmployeeID)
	}
	if q.CourseID != 0 {
		cond.add("a.course_id = ?", q.CourseID)
	}
	if q.Required != nil {
		cond.add("a.is_required = ?", *q.Required)
	}
	search := domain.CleanSearch(q.Search)
	switch {
	case q.Tag != "" && search != "": // one look for each person found, instead of reading all who have the tag
		cond.add(hasTag("a.employee_id"), company, q.Tag)
	case q.Tag != "":
		cond.add("a.employee_id IN (SELECT t.employee_id FROM employee_tags t WHERE t.company_id = ? AND t.tag = ?)", company, q.Tag)
	}
	if search != "" {
		found, args := s.employeesFound(company, search, domain.MaxMatches)
		cond.add(`a.employee_id IN (`+found+`)`, args...)
	}
}

// AssignmentHistory returns the changes of an assignment, the oldest first, without
// its creation.
func (s *Store) AssignmentHistory(ctx context.Context, company, id int64) ([]domain.AssignmentChange, error) {
	var out []domain.AssignmentChange
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var c domain.AssignmentChange
		err := r.Scan(&c.At, &c.From, &c.To, &c.Cause, &c.Detail, &c.Via, &c.By)
		out = append(out, c)
		return err
	}, `SELECT h.at, h.from_status, h.to_status, h.cause, coalesce(h.detail, ''), coalesce(h.actor_kind, ''),
			`+actorLabelSQL("coalesce(h.actor, '')")+`
		FROM assignment_history h WHERE h.company_id = $1 AND h.assignment_id = $2 ORDER BY h.at, h.id`, company, id)
	err := s.read(ctx, b)
	return out, err
}

// AssignedBy returns who made an assignment and how: an ActorKind or
// ViaImport. The assignment names both. If an older program made it, they come from
// the audit log, as far as that goes back: the entry has the stamp of the transaction.
func (s *Store) AssignedBy(ctx context.Context, a domain.Assignment) (by, via string, err error) {
	each := func(r db.Rows) error { return r.Scan(&by, &via) }
	b := &db.Batch{}
	b.Query(each, `SELECT `+actorLabelSQL("coalesce(a.assigned_by, '')")+`, coalesce(a.assigned_via, '')
		FROM assignments a WHERE a.company_id = $1 AND a.id = $2`, a.CompanyID, a.ID)
	if err := s.read(ctx, b); err != nil || via != "" {
		return by, via, err
	}
	b = &db.Batch{}
	b.Query(each, `SELECT CASE WHEN e.actor_kind = 'person' THEN `+actorLabelSQL("'person:' || CAST(e.actor_id AS text)")+` ELSE e.actor_label END, e.actor_kind
		FROM audit_entries e WHERE e.company_id = $1 AND e.at = $2 AND e.action = 'assignment.created'
		ORDER BY CASE WHEN e.record_id = $3 THEN 0 ELSE 1 END, e.id LIMIT 1`, a.CompanyID, a.AssignedAt, strconv.FormatInt(a.ID, 10))
	err = s.read(ctx, b)
	return by, via, err
}
