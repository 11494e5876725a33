package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// TabCounts counts the live assignments of each tab, narrowed by the query's other
// fields. Without them, or with a course alone, it reads the kept totals. Otherwise it
// counts among the first domain.MaxTabCount assignments and sets More if there are
// others. What is overdue or due soon changes with the clock and is exact. A recent
// query counts only what is recent in the tab of completed assignments.
func (s *Store) TabCounts(ctx context.Context, company int64, q domain.AssignmentQuery) (domain.TabCounts, error) {
	recent := q.Recent
	q.Tab, q.Recent = domain.TabAll, false
	out, err := s.countAllTabs(ctx, company, q)
	if err != nil || !recent {
		return out, err
	}
	n, more, err := s.countRecent(ctx, company, q)
	out.N[domain.TabCompleted], out.More = n, out.More || more
	return out, err
}

// countRecent counts the recent completions of a query: those of the whole company
// from the kept totals, others up to domain.MaxTabCount, and reports whether there are
// more.
func (s *Store) countRecent(ctx context.Context, company int64, q domain.AssignmentQuery) (n int64, more bool, err error) {
	kept, err := s.hasFigures(ctx, company)
	if err != nil {
		return 0, false, err
	}
	if kept && q == (domain.AssignmentQuery{}) {
		var c conditions
		since := c.arg(domain.RecentSince(s.Now()).Unix())
		n, err = s.readTotal(ctx, c.keptTotal(company, totalCompleted, "number_key >= "+since), c.args)
		return n, false, err
	}
	q.Tab, q.Recent = domain.TabCompleted, true
	source, err := s.newAssignmentSource(ctx, company, q)
	if err != nil {
		return 0, false, err
	}
	limit := source.cond.limit(domain.PageRequest{Limit: domain.MaxTabCount})
	n, err = s.readTotal(ctx, `count(*) FROM (SELECT a.id`+source.clause(s.db)+limit+`) c`, source.cond.args)
	return min(n, domain.MaxTabCount), n > domain.MaxTabCount, err
}

func (s *Store) countAllTabs(ctx context.Context, company int64, q domain.AssignmentQuery) (domain.TabCounts, error) {
	if q != (domain.AssignmentQuery{CourseID: q.CourseID}) {
		return s.countTabs(ctx, company, q)
	}
	out := domain.TabCounts{N: map[domain.AssignmentTab]int64{}}
	totals, err := s.AssignmentTotals(ctx, company)
	if err != nil {
		return out, err
	}
	for course, t := range totals {
		if q.CourseID == 0 || q.CourseID == course {
			for status, n := range t.ByStatus {
				out.Add(status, int64(n))
			}
			out.N[domain.TabOverdue] += int64(t.Overdue)
		}
	}
	kept, err := s.hasFigures(ctx, company)
	if err != nil {
		return out, err
	}
	b := &db.Batch{}
	setDueSoon := func(n int64) { out.N[domain.TabDueSoon] = n }
	if kept && q.CourseID == 0 {
		queueDueSoon(b, company, s.Now(), setDueSoon)
	} else {
		cond := s.queryConditions(company, q.In(domain.TabDueSoon))
		b.Query(func(r db.Rows) error {
			var n int64
			err := r.Scan(&n)
			setDueSoon(n)
			return err
		}, `SELECT count(*) FROM assignments a`+cond.where(), cond.args...)
	}
	err = s.read(ctx, b)
	return out, err
}

// countTabs counts the tabs of a query that no kept total answers.
func (s *Store) countTabs(ctx context.Context, company int64, q domain.AssignmentQuery) (domain.TabCounts, error) {
	out := domain.TabCounts{N: map[domain.AssignmentTab]int64{}}
	source, err := s.newAssignmentSource(ctx, company, q)
	if err != nil {
		return out, err
	}
	cond := source.cond
	limit := cond.limit(domain.PageRequest{Limit: domain.MaxTabCount})
	if q.CourseID != 0 && source.people == "" {
		limit = ` ORDER BY a.course_id, a.id` + limit // as an index has them: the table may have few of the course
	}
	now := s.Now()
	overdue, soon := "c.deadline <= "+cond.arg(now), "c.deadline <= "+cond.arg(now.Add(domain.DueSoon))
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var status domain.Status
		var due domain.AssignmentTab // TabOverdue, TabDueSoon or neither
		var n int64
		err := r.Scan(&status, &due, &n)
		out.Add(status, n)
		if due != "" {
			out.N[due] += n
		}
		return err
	}, `SELECT c.status, CASE WHEN c.status = 'completed' THEN '' WHEN `+overdue+` THEN '`+string(domain.TabOverdue)+`'
			WHEN `+soon+` THEN '`+string(domain.TabDueSoon)+`' ELSE '' END AS due, count(*)
		FROM (SELECT a.status, a.deadline`+source.clause(s.db)+limit+`) c GROUP BY c.status, due`, cond.args...)
	err = s.read(ctx, b)
	if all := out.N[domain.TabAll]; all > domain.MaxTabCount {
		out.More, out.N[domain.TabAll] = true, domain.MaxTabCount
	}
	return out, err
}
