package store

import (
	"context"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// How a list finds its page depends on how many people a search or a tag selects:
//
//	at most fewPeople     start from the people: an index has their assignments
//	in between            scan scannedRows rows in list order first, and start from the
//	                      people if that does not fill the page
//	more than manyPeople  scan in list order and test each row
const (
	fewPeople  = 1000
	manyPeople = 5000
	// scannedRows is enough for a page if one row in fifty matches.
	scannedRows = 2500
)

// assignmentSource is the FROM and the WHERE clause of the assignments, called a, that
// a query selects. The planner has no choice of where to begin: it can't know how
// filters depend on one another, and one wrong guess reads all assignments.
type assignmentSource struct {
	people string // a query for the ids of the people to start from, or ""
	scan   string // a query for the assignments to test, instead of all, or ""
	cond   *conditions
	// tryListOrderFirst reports that newAssignmentScan may fill a page sooner.
	tryListOrderFirst bool
}

// newAssignmentSource returns the source of a query. It starts from the people if a
// search, or a tag that at most manyPeople have, selects them.
func (s *Store) newAssignmentSource(ctx context.Context, company int64, q domain.AssignmentQuery) (assignmentSource, error) {
	out := assignmentSource{cond: &conditions{}}
	search := domain.CleanSearch(q.Search)
	people, err := s.countNarrowed(ctx, company, q)
	if err != nil {
		return out, err
	}
	out.tryListOrderFirst = people > fewPeople && people <= manyPeople && q.EmployeeID == 0
	switch {
	case search != "":
		found, args := s.employeesFound(company, search, domain.MaxMatches)
		out.people = out.cond.bind(`SELECT f.id FROM (`+found+`) f`, args...)
		if q.Tag != "" {
			out.people += out.cond.bind(` WHERE `+hasTag("f.id"), company, q.Tag)
		}
	case q.Tag != "" && people <= manyPeople:
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

// countNarrowed returns how many people a search or a tag selects, up to one more than
// manyPeople; 0 without them. With both a search and a tag, the tag is ignored: this is
// an upper bound.
func (s *Store) countNarrowed(ctx context.Context, company int64, q domain.AssignmentQuery) (n int64, err error) {
	cond := &conditions{}
	var people string
	switch search := domain.CleanSearch(q.Search); {
	case search != "":
		found, args := s.employeesFound(company, search, domain.MaxMatches)
		people = cond.bind(found, args...)
	case q.Tag != "":
		people = cond.bind(`SELECT t.employee_id FROM employee_tags t WHERE t.company_id = ? AND t.tag = ?`, company, q.Tag)
	default:
		return 0, nil
	}
	limit := cond.limit(domain.PageRequest{Limit: manyPeople})
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&n) }, `SELECT count(*) FROM (SELECT 1 FROM (`+people+`) f`+limit+`) c`, cond.args...)
	err = s.read(ctx, b)
	return n, err
}

// newAssignmentScan returns a source restricted to the next scannedRows assignments in
// list order, which an index provides.
func (s *Store) newAssignmentScan(company int64, q domain.AssignmentQuery, p domain.PageRequest) assignmentSource {
	inner, order := &conditions{}, listOrder(q)
	if q.CourseID != 0 && !q.ByDeadline() && !q.Recent {
		s.addQuery(inner, company, domain.AssignmentQuery{CourseID: q.CourseID})
		// The course is the same in all rows: naming it lets the planner read the index
		// of courses backwards instead of sorting.
		order = ` ORDER BY a.course_id DESC, a.id DESC`
	} else {
		s.addQuery(inner, company, domain.AssignmentQuery{Tab: q.Tab, Recent: q.Recent})
	}
	inner.addPosition(q, p)
	limit := inner.limit(domain.PageRequest{Limit: scannedRows - 1}) // it adds one row
	out := assignmentSource{cond: inner.nested(), scan: `SELECT a.company_id, a.id, a.employee_id, a.course_id, a.status, a.is_required, a.revoked_at, a.deadline,
		a.completed_at FROM assignments a` + inner.where() + order + limit}
	if q.Tag != "" {
		out.cond.add(hasTag("a.employee_id"), company, q.Tag)
		q.Tag = ""
	}
	s.addQuery(out.cond, company, q)
	return out
}

// listOrder returns the ORDER BY clause of a list.
func listOrder(q domain.AssignmentQuery) string {
	switch {
	case q.Recent:
		return ` ORDER BY a.completed_at DESC, a.id DESC`
	case q.ByDeadline():
		return ` ORDER BY a.deadline, a.id`
	}
	return ` ORDER BY a.id DESC`
}

// addPosition adds the condition that an assignment follows the page's cursor.
func (c *conditions) addPosition(q domain.AssignmentQuery, p domain.PageRequest) {
	switch {
	case p.After == nil:
	case q.Recent:
		c.add("(a.completed_at, a.id) < (?, ?)", p.After.Time(), p.After.ID)
	case q.ByDeadline():
		c.add("(a.deadline, a.id) > (?, ?)", p.After.Time(), p.After.ID)
	default:
		c.add("a.id < ?", p.After.ID)
	}
}

// clause returns the FROM and the WHERE clause.
func (a assignmentSource) clause(d db.Dialect) string {
	if a.scan != "" {
		return ` FROM (` + a.scan + `) a` + a.cond.where()
	}
	if a.people == "" {
		return ` FROM assignments a` + a.cond.where()
	}
	return ` FROM (` + a.people + `) p` + d.Join("assignments", "a", strings.Join(a.cond.parts, " AND "))
}
