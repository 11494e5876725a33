package store

import (
	"context"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// pickPeople returns a query for the ids of the picked live employees, each once. $1 is
// the company.
func (s *Store) pickPeople(company int64, who domain.People) (sql string, args []any) {
	args = []any{company}
	const base = `SELECT e.id FROM employees e WHERE e.company_id = $1 AND e.left_at IS NULL`
	if who.All {
		return base, args
	}
	var parts []string
	add := func(part, column string, values db.Column) {
		condition, arg := s.db.In(column, len(args)+1, values)
		parts, args = append(parts, part+` AND `+condition), append(args, arg)
	}
	if len(who.IDs) > 0 {
		add(base, "e.id", db.Ints("id", sortedUnique(append([]int64(nil), who.IDs...))))
	}
	if len(who.Tags) > 0 {
		add(`SELECT DISTINCT e.id FROM employee_tags t JOIN employees e ON e.company_id = t.company_id AND e.id = t.employee_id
			WHERE t.company_id = $1 AND e.left_at IS NULL`, "t.tag", db.Texts("tag", sortedUnique(append([]string(nil), who.Tags...))))
	}
	if len(who.Lines) > 0 {
		add(base, "e.external_id", db.Texts("external_id", sortedUnique(append([]string(nil), who.Lines...))))
		folded := make([]string, len(who.Lines))
		for i, line := range who.Lines {
			folded[i] = domain.FoldEmail(line)
		}
		add(base, "e.email_folded", db.Texts("email", sortedUnique(folded)))
	}
	if who.Listed != nil {
		cond := &conditions{args: args}
		s.addListConditions(cond, company, *who.Listed, 0)
		parts, args = append(parts, `SELECT e.id FROM employees e`+cond.where()+` AND e.company_id = $1 AND e.left_at IS NULL`), cond.args
	}
	if len(parts) == 0 {
		return base + ` AND 1 = 0`, args
	}
	return strings.Join(parts, " UNION "), args
}

// CountAssign counts what assigning courses to people would do, in a time that does not
// grow with the company: it looks at domain.MaxAssignCount people at most. It names at
// most 20 lines that name nobody.
func (s *Store) CountAssign(ctx context.Context, company int64, who domain.People, in domain.AssignCourses) (domain.AssignCount, error) {
	out := domain.AssignCount{Courses: int64(len(in.CourseIDs))}
	people, args := s.pickPeople(company, who)
	cond := &conditions{args: args}
	limit := cond.limit(domain.PageRequest{Limit: domain.MaxAssignCount})
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.People) }, `SELECT count(*) FROM (SELECT 1 FROM (`+people+`) p`+limit+`) c`, cond.args...)
	known := queueKnownLines(b, s, company, who.Lines)
	if err := s.read(ctx, b); err != nil {
		return out, err
	}
	for _, line := range who.Lines {
		if !known[line] && !known[domain.FoldEmail(line)] && len(out.Unknown) < 20 {
			out.Unknown = append(out.Unknown, line)
		}
	}
	if out.People > domain.MaxAssignCount {
		return out, s.countMany(ctx, company, who, &out)
	}
	var err error
	out.Already, err = s.countHeld(ctx, company, who, in)
	return out, err
}

// countMany corrects the number of people if they are many. That of the whole company is
// kept, any other is only known to be large.
func (s *Store) countMany(ctx context.Context, company int64, who domain.People, out *domain.AssignCount) error {
	out.Many, out.AtLeast, out.People = true, true, domain.MaxAssignCount
	if !who.All {
		return nil
	}
	kept, err := s.hasTotals(ctx, company)
	if err != nil || !kept {
		return err
	}
	cond := &conditions{}
	out.AtLeast = false
	out.People, err = s.readTotal(ctx, cond.employeeTotal(company, domain.EmployeeFilter{}, kept), cond.args)
	return err
}

// countHeld counts the courses that the people have already. It goes from person to
// person: a course that most of a large company has would take long to read.
func (s *Store) countHeld(ctx context.Context, company int64, who domain.People, in domain.AssignCourses) (n int64, err error) {
	if len(in.CourseIDs) == 0 {
		return 0, nil
	}
	people, args := s.pickPeople(company, who)
	isCourse, courses := s.db.In("a.course_id", len(args)+1, db.Ints("id", sortedUnique(append([]int64(nil), in.CourseIDs...))))
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&n) }, `SELECT coalesce(CAST(sum((SELECT count(DISTINCT a.course_id) FROM assignments a
		WHERE a.company_id = $1 AND a.employee_id = p.id AND a.revoked_at IS NULL AND `+isCourse+unlessAgain(in)+`)) AS bigint), 0)
		FROM (`+people+`) p`, append(args, courses)...)
	err = s.read(ctx, b)
	return n, err
}

// queueKnownLines queues the question which of the lines name somebody, and returns
// where the answer will be.
func queueKnownLines(b *db.Batch, s *Store, company int64, lines []string) map[string]bool {
	known := map[string]bool{}
	if len(lines) == 0 {
		return known
	}
	people, args := s.pickPeople(company, domain.People{Lines: lines})
	b.Query(func(r db.Rows) error {
		var externalID, email string
		err := r.Scan(&externalID, &email)
		known[externalID], known[email] = true, true
		return err
	}, `SELECT coalesce(x.external_id, ''), x.email_folded FROM employees x WHERE x.company_id = $1 AND x.id IN (`+people+`)`, args...)
	return known
}

// AddAssignJob starts the assigning of courses to the people who are picked now.
func (s *Store) AddAssignJob(ctx context.Context, c domain.Caller, in domain.NewJob, who domain.People) (domain.Job, error) {
	return s.addPickedJob(ctx, c, in, func(job int64) (string, []any) {
		people, args := s.pickPeople(c.Company.ID, who)
		cond := &conditions{args: args}
		items := `SELECT $1, CAST(` + cond.arg(job) + ` AS bigint), p.id FROM (` + people + `) p`
		return items, cond.args
	})
}

// maxTags is the most tags that a filter offers.
const maxTags = 500

// Tags lists the tags of the company's employees in alphabetical order. It takes one
// index lookup per tag, however many employees have it.
func (s *Store) Tags(ctx context.Context, company int64) ([]string, error) {
	var out []string
	b := &db.Batch{}
	b.Query(appendColumn(&out), `WITH RECURSIVE t(tag) AS (
			SELECT min(x.tag) FROM employee_tags x WHERE x.company_id = $1
			UNION ALL
			SELECT (SELECT min(x.tag) FROM employee_tags x WHERE x.company_id = $1 AND x.tag > t.tag) FROM t WHERE t.tag IS NOT NULL)
		SELECT t.tag FROM t WHERE t.tag IS NOT NULL LIMIT $2`, company, maxTags)
	err := s.read(ctx, b)
	return out, err
}

// FindPeople returns live employees whose name, e-mail address or external id begins
// with the text, and those with the ids.
func (s *Store) FindPeople(ctx context.Context, company int64, search string, ids []int64, limit int) (found, chosen []domain.Employee, err error) {
	b := &db.Batch{}
	collect := func(into *[]domain.Employee) func(db.Rows) error {
		return func(r db.Rows) error {
			var e domain.Employee
			err := scanEmployee(r, &e)
			*into = append(*into, e)
			return err
		}
	}
	const base = `SELECT ` + employeeColumns + ` FROM employees e`
	if search = domain.CleanSearch(search); search != "" {
		cond := &conditions{}
		cond.add("e.company_id = ?", company)
		cond.add("e.left_at IS NULL")
		matches, args := s.employeesFound(company, search, domain.MaxMatches)
		cond.add(`e.id IN (`+matches+`)`, args...)
		b.Query(collect(&found), base+cond.where()+` ORDER BY e.name, e.id`+cond.limit(domain.PageRequest{Limit: limit - 1}), cond.args...)
	}
	if len(ids) > 0 {
		isNamed, keys := s.db.In("e.id", 2, db.Ints("id", ids))
		b.Query(collect(&chosen), base+` WHERE e.company_id = $1 AND e.left_at IS NULL AND `+isNamed+` ORDER BY e.name, e.id`, company, keys)
	}
	if b.Empty() {
		return nil, nil, nil
	}
	err = s.read(ctx, b)
	return found, chosen, err
}
