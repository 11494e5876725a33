package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// TabCounts counts the live assignments of each tab, narrowed by the query's other
// fields. Without them, or with a course alone, it reads the kept totals. What is
// overdue or due soon changes with the clock and is exact.
func (s *Store) TabCounts(ctx context.Context, company int64, q domain.AssignmentQuery) (domain.TabCounts, error) {
	out := domain.TabCounts{}
	if q.Tab = domain.TabAll; q == (domain.AssignmentQuery{CourseID: q.CourseID}) {
		totals, err := s.AssignmentTotals(ctx, company)
		if err != nil {
			return nil, err
		}
		for course, t := range totals {
			if q.CourseID == 0 || q.CourseID == course {
				for status, n := range t.ByStatus {
					out.Add(status, int64(n))
				}
				out[domain.TabOverdue] += int64(t.Overdue)
			}
		}
		kept, err := s.hasFigures(ctx, company)
		if err != nil {
			return nil, err
		}
		b := &db.Batch{}
		if kept && q.CourseID == 0 {
			queueDueSoon(b, company, s.Now(), func(n int64) { out[domain.TabDueSoon] = n })
		} else {
			s.countDue(b, company, q.In(domain.TabDueSoon), out)
		}
		return out, s.read(ctx, b)
	}
	all := s.queryConditions(company, q)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var status domain.Status
		var n int64
		err := r.Scan(&status, &n)
		out.Add(status, n)
		return err
	}, `SELECT a.status, count(*) FROM assignments a`+all.where()+` GROUP BY a.status`, all.args...)
	s.countDue(b, company, q.In(domain.TabDueSoon), out)
	s.countDue(b, company, q.In(domain.TabOverdue), out)
	return out, s.read(ctx, b)
}

// countDue queues the count of a tab that depends on the clock.
func (s *Store) countDue(b *db.Batch, company int64, q domain.AssignmentQuery, out domain.TabCounts) {
	cond := s.queryConditions(company, q)
	b.Query(func(r db.Rows) error {
		var n int64
		err := r.Scan(&n)
		out[q.Tab] = n
		return err
	}, `SELECT count(*) FROM assignments a`+cond.where(), cond.args...)
}
