package store

import (
	"context"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// maxTagged is how many people may have a tag for a list to begin with them: their
// assignments are found from an index alone. The assignments of more people are found
// on the way along the list's own order.
const maxTagged = 5000

// assignmentSource is the FROM and the WHERE clause of the assignments, called a, that
// a query selects. The planner has no choice of where to begin: it can't know how
// filters depend on one another, and one wrong guess reads all assignments.
type assignmentSource struct {
	people string // a query for the ids of the people to begin with, or ""
	cond   *conditions
}

// newAssignmentSource returns the source of a query. It begins with the people if a search or a
// tag that few have selects them.
func (s *Store) newAssignmentSource(ctx context.Context, company int64, q domain.AssignmentQuery) (assignmentSource, error) {
	out := assignmentSource{cond: &conditions{}}
	search := domain.CleanSearch(q.Search)
	few := false
	if q.Tag != "" && search == "" && q.EmployeeID == 0 {
		var err error
		if few, err = s.fewHaveTag(ctx, company, q.Tag); err != nil {
			return out, err
		}
	}
	switch {
	case search != "":
		found, args := s.employeesFound(company, search, domain.MaxMatches)
		out.people = out.cond.bind(`SELECT f.id FROM (`+found+`) f`, args...)
		if q.Tag != "" {
			out.people += out.cond.bind(` WHERE `+hasTag("f.id"), company, q.Tag)
		}
	case few:
		out.people = out.cond.bind(`SELECT t.employee_id AS id FROM employee_tags t WHERE t.company_id = ? AND t.tag = ?`, company, q.Tag)
	case q.Tag != "":
		out.cond.add(hasTag("a.employee_id"), company, q.Tag)
	}
	if out.people != "" {
		out.cond.add("a.employee_id = p.id")
	}
	q.Tag, q.Search = "", ""
	s.addQuery(out.cond, company, q)
	return out, nil
}

// hasTag returns the condition that an employee has a tag: one look into an index. Its
// arguments are the company and the tag.
func hasTag(employee string) string {
	return `(SELECT 1 FROM employee_tags g WHERE g.company_id = ? AND g.tag = ? AND g.employee_id = ` + employee + `) IS NOT NULL`
}

// fewHaveTag reports whether at most maxTagged people have a tag.
func (s *Store) fewHaveTag(ctx context.Context, company int64, tag string) (few bool, err error) {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&few) }, `SELECT count(*) <= $3 FROM (SELECT 1 FROM employee_tags t
		WHERE t.company_id = $1 AND t.tag = $2 LIMIT $3 + 1) t`, company, tag, int64(maxTagged))
	err = s.read(ctx, b)
	return few, err
}

// clause returns the FROM and the WHERE clause.
func (a assignmentSource) clause(d db.Dialect) string {
	if a.people == "" {
		return ` FROM assignments a` + a.cond.where()
	}
	return ` FROM (` + a.people + `) p` + d.Join("assignments", "a", strings.Join(a.cond.parts, " AND "))
}
