package storetest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// manyCompaniesSQL fills the database with 100 companies of 200 employees and 300
// assignments each, so that reading a whole table is never the cheapest way.
var manyCompaniesSQL = []string{
	`SET LOCAL session_replication_role = replica`,
	`INSERT INTO companies (id, name, time_zone, default_deadline_days, created_at) SELECT c, 'c', 'UTC', 30, now() FROM generate_series(1001, 1100) c`,
	`INSERT INTO accounts SELECT 'p' || c || '-' || e || '@x.test', now() FROM generate_series(1001, 1100) c, generate_series(1, 200) e`,
	`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, role, tags, joined_at, updated_at)
		SELECT c, nextval('employee_ids'), 'E' || e, 'p' || c || '-' || e || '@x.test', 'p' || c || '-' || e || '@x.test', 'n', 'employee', '[]', now(), now()
		FROM generate_series(1001, 1100) c, generate_series(1, 200) e`,
	`INSERT INTO assignments (company_id, id, external_id, employee_id, course_id, status, percent, attempts, granted_attempts,
			is_required, assigned_at, deadline, asked_deadline, asked_required, updated_at)
		SELECT e.company_id, nextval('assignment_ids'), 'A' || e.id || '-' || k, e.id, k, 'assigned', 0, 0, 0, false, now(),
			now() + interval '30 days', now(), false, now() - e.id * interval '1 second'
		FROM employees e, generate_series(1, 2) k WHERE k = 1 OR e.id % 2 = 0`,
}

// exerciseRequests runs the statements of every kind of request once.
func exerciseRequests(f testCompany) error {
	ctx, s, c := f.t.Context(), f.s, f.c
	exam := f.addAssessment()
	f.provisionAll("E1", "E2", "E3")
	f.mustPatch("E1", domain.EmployeePatch{Tags: ptr([]string{"t"}), Email: ptr("new" + f.email("e1"))})
	a, since := f.assignWithDeadline("A1", "E1", exam, before(s, time.Hour)), before(s, time.Hour)
	f.bulk(keys(numbered("B%d", 0, 100), []string{"E1", "E2"}, exam)...)
	f.report(started("1", a.ID, s.Now()), ended("2", a.ID, s.Now(), 10_00))
	f.sweep(10)
	for _, filter := range []domain.EmployeeFilter{{}, {ExternalID: "E1"}, {Email: "e2@x.test"}, {Tag: "t"}} {
		for _, page := range []domain.PageRequest{{Number: 2, Limit: 50}, {Limit: 50, After: &domain.Cursor{ID: a.EmployeeID}}} {
			f.employees(filter, page)
		}
	}
	for _, filter := range []domain.AssignmentFilter{
		{}, {EmployeeExternalID: "E1"}, {CourseID: exam}, {Status: domain.StatusStarted}, {UpdatedSince: &since}, {UpdatedSince: &since, CourseID: exam},
	} {
		for _, page := range []domain.PageRequest{{Number: 2, Limit: 50}, {Limit: 50, After: &domain.Cursor{ID: a.ID, At: since.UnixMilli()}}} {
			f.assignments(filter, page)
		}
	}
	f.employee("E1")
	f.assignment(a.ID)
	_, err := s.AssignmentByExternalID(ctx, c.Company.ID, "none")
	wantCode(f.t, "by externalId", err, domain.CodeAssignmentNotFound)
	_, err = s.Assignment(ctx, c.Company.ID, 1<<40)
	wantCode(f.t, "by id", err, domain.CodeAssignmentNotFound)
	f.offboard("E2")
	f.provisionAll("E2")
	if err := f.erase("E3"); err != nil {
		return err
	}
	return s.Revoke(ctx, c, a.ID)
}

// fullScan matches a step of a plan that reads all of a growing table.
var fullScan = map[string]*regexp.Regexp{
	"postgres": regexp.MustCompile(`Seq Scan on (assignments|employees|accounts)\b`),
	"sqlite":   regexp.MustCompile(`SCAN (a|e|x|d|assignments|employees|employee_tags|accounts|activities|events|deliveries|delivery_attempts)\b`),
}

func TestNothingReadsAWholeTable(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		engine := s.Engine().Name()
		if engine == "postgres" {
			err := s.Engine().Write(t.Context(), func(tx db.Tx) error {
				for _, sql := range manyCompaniesSQL {
					if _, err := tx.Exec(t.Context(), sql); err != nil {
						return fmt.Errorf("%s: %w", sql, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		watched, r := recordStatements(s)
		f := newTestCompany(t, s)
		items := r.during(t, func() error { return exerciseRequests(f.with(watched)) })
		explained := checkScans(t, s, items, "without statistics, as after an import")
		if engine == "postgres" { // the program never collects statistics on SQLite
			change(t, s, `ANALYZE companies, accounts, employees, assignments`)
			checkScans(t, s, items, "with statistics")
		}
		control := db.Item{SQL: `SELECT 1 FROM assignments WHERE percent = $1`, Args: []any{7}}
		if plan := explain(t, s, control); !fullScan[engine].MatchString(plan) {
			t.Errorf("a plan that reads a whole table is not recognised:\n%s", plan)
		}
		if explained < 40 {
			t.Errorf("only %d statements were explained", explained)
		}
	})
}

// checkScans explains every statement and returns how many there are. A plan that is
// good only before or only after statistics are collected fails the test.
func checkScans(t *testing.T, s *store.Store, items []db.Item, when string) int {
	t.Helper()
	explained := map[string]bool{}
	for _, it := range items {
		if explained[it.SQL] || !strings.Contains(it.SQL, "$") {
			continue
		}
		explained[it.SQL] = true
		if plan := explain(t, s, it); fullScan[s.Engine().Name()].MatchString(plan) {
			t.Errorf("%s:\n%s\n%s", when, it.SQL, plan)
		}
	}
	return len(explained)
}

func explain(t *testing.T, s *store.Store, it db.Item) string {
	t.Helper()
	if s.Engine().Name() == "postgres" {
		return strings.Join(texts(t, s, `EXPLAIN `+it.SQL, it.Args...), "\n")
	}
	var steps []string
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var id, parent, unused int64
		var step string
		err := r.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	}, `EXPLAIN QUERY PLAN `+it.SQL, it.Args...)
	if err := s.Engine().Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
		t.Fatalf("%s: %v", it.SQL, err)
	}
	return strings.Join(steps, "\n")
}

// walk matches a step of SQLite's plan that reads more than what the smallest filter
// matches: all records of a company, all that changed since, or all who have a tag
// before the first of a page.
var walk = regexp.MustCompile(`SEARCH \w+ USING (COVERING )?INDEX (sqlite_autoindex_)?(employee|assignment)\w+ \(company_id=\?\)|assignments_(updated|status|course)|LIST SUBQUERY \d+\nSEARCH t `)

// Without statistics SQLite prefers an index in the order of the result to one that
// finds the few rows, unless the statement leaves it no choice.
func TestFiltersReadNoMoreThanTheyMatch(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	watched, r := recordStatements(s)
	f := newTestCompany(t, s)
	exam := f.addAssessment()
	f.provisionAll("E1")
	f.mustPatch("E1", domain.EmployeePatch{Tags: ptr([]string{"t"})})
	since, page := before(s, time.Hour), domain.PageRequest{Number: 1, Limit: 50}
	items := r.during(t, func() error {
		f := f.with(watched)
		f.bulk(keys(numbered("B%d", 0, 10), []string{"E1"}, exam)...)
		f.employees(domain.EmployeeFilter{Tag: "t"}, page)
		f.employees(domain.EmployeeFilter{Tag: "t", Email: f.email("e1")}, page)
		f.employees(domain.EmployeeFilter{Tag: "t", ExternalID: "E1"}, page)
		for _, filter := range []domain.AssignmentFilter{
			{}, {Status: domain.StatusAssigned}, {CourseID: exam}, {UpdatedSince: &since}, {Status: domain.StatusAssigned, CourseID: exam, UpdatedSince: &since},
		} {
			filter.EmployeeExternalID = "E1"
			f.assignments(filter, page)
		}
		return nil
	})
	for _, it := range items {
		if !strings.HasPrefix(it.SQL, "SELECT") {
			continue
		}
		if plan := explain(t, s, it); walk.MatchString(plan) {
			t.Errorf("%s:\n%s", it.SQL, plan)
		}
	}
}
