package storetest_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// side is one condition of a filter, how many assignments it matches and the indexes that
// find them.
type side struct {
	name, index string
	matches     int
	apply       func(*domain.AssignmentFilter)
}

// combinedSides fills a company and returns conditions that match 5 assignments and such
// that match most of them.
func combinedSides(t *testing.T, s *store.Store, company int64) (status, course, since []side) {
	t.Helper()
	const few, all = 5, 2000
	filled := storetest.Fill(t, s, company, storetest.Size{Employees: 50, Courses: 2, Assignments: all})
	rare := filled.Assignments[all/2+few]
	change(t, s, `UPDATE assignments SET status = 'completed', course_id = $1 WHERE id >= $2`, filled.Courses[0], rare)
	change(t, s, `UPDATE assignments SET status = CASE WHEN id < $1 THEN 'completed' ELSE 'failed' END,
		course_id = CASE WHEN id < $1 THEN CAST($2 AS bigint) ELSE CAST($3 AS bigint) END WHERE id < $4`, filled.Assignments[all/2], filled.Courses[0], filled.Courses[1], rare)
	if err := s.FoldTotals(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, matches := range []int{few, all - few} {
		at := column[time.Time](t, s, `SELECT updated_at FROM assignments ORDER BY updated_at DESC LIMIT 1 OFFSET $1`, matches-1)[0]
		is := []domain.Status{domain.StatusFailed, domain.StatusCompleted}[i]
		of := filled.Courses[1-i]
		status = append(status, side{"status " + string(is), "assignments_status", matches, func(f *domain.AssignmentFilter) { f.Status = is }})
		course = append(course, side{"course " + strconv.Itoa(i), "assignments_course", matches, func(f *domain.AssignmentFilter) { f.CourseID = of }})
		since = append(since, side{"since " + at.String(), "assignments_updated", matches, func(f *domain.AssignmentFilter) { f.UpdatedSince = &at }})
	}
	return status, course, since
}

// A list by several conditions reads no more than a few times what the smallest of them
// matches, for its total and for a page.
func TestCombinedFiltersReadTheSmallest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		watched, r := recordStatements(s)
		f := newTestCompany(t, s)
		status, course, since := combinedSides(t, s, f.c.Company.ID)
		check := func(when string, sides ...side) {
			t.Helper()
			var filter domain.AssignmentFilter
			name, smallest := when, sides[0].matches
			for _, one := range sides {
				one.apply(&filter)
				name, smallest = name+", "+one.name, min(smallest, one.matches)
			}
			items := r.during(t, func() error { f.with(watched).assignments(filter, firstTen); return nil })
			plan := explain(t, s, items[len(items)-1])
			if s.Engine().Name() == "postgres" {
				if read := rowsRead(t, s, items[len(items)-1]); read > 6*smallest+20 {
					t.Errorf("%s: %d assignments are read:\n%s", name, read, plan)
				}
				return
			}
			steps := regexp.MustCompile(`(?:SEARCH|SCAN) a\b.*`).FindAllString(plan, -1)
			if len(steps) == 0 {
				t.Errorf("%s: the plan reads no assignments:\n%s", name, plan)
			}
			for _, m := range steps {
				isSmall := false
				for _, one := range sides {
					isSmall = isSmall || one.matches <= 4*smallest && regexp.MustCompile(one.index+` \(company_id=\? AND `).MatchString(m)
				}
				if !isSmall {
					t.Errorf("%s: not by the smallest:\n%s", name, plan)
				}
			}
		}
		for _, when := range []string{"without statistics", "with statistics"} {
			for _, st := range status {
				for _, c := range course {
					check(when, st, c)
					for _, u := range since {
						check(when, st, u)
						check(when, c, u)
						check(when, st, c, u)
					}
				}
			}
			if s.Engine().Name() == "sqlite" {
				break // it never collects any
			}
			change(t, s, `ANALYZE assignments, employees, totals, total_changes`)
		}
		const held = 40 // by each of the 50 employees
		employee := side{"employee", "assignments_(employee|person)", held, func(f *domain.AssignmentFilter) { f.EmployeeExternalID = "emp-1" }}
		check("with statistics", employee)
		for _, other := range slices.Concat(status, course, since) {
			other.matches = max(other.matches, held) // an employee has few, so those are always read
			check("with statistics", employee, other)
		}
	})
}

var assignmentNode = regexp.MustCompile(`Scan.* on assignments\b.*\(actual rows=(\d+) loops=(\d+)\)((?:\n +[A-Z][^>\n]*)*)`)

var removedRows = regexp.MustCompile(`Rows Removed by \w[\w ]*: (\d+)`)

// rowsRead runs a query on PostgreSQL and returns how many rows of assignments it read.
func rowsRead(t *testing.T, s *store.Store, it db.Item) (read int) {
	t.Helper()
	plan := strings.Join(texts(t, s, `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) `+it.SQL, it.Args...), "\n")
	nodes := assignmentNode.FindAllStringSubmatch(plan, -1)
	if len(nodes) == 0 {
		t.Errorf("no scan of assignments was found in the plan:\n%s", plan)
	}
	for _, m := range nodes {
		rows, loops := 0, 0
		if _, err := fmt.Sscan(m[1]+" "+m[2], &rows, &loops); err != nil {
			t.Fatal(err)
		}
		for _, removed := range removedRows.FindAllStringSubmatch(m[3], -1) {
			n, _ := strconv.Atoi(removed[1])
			rows += n
		}
		read += rows * loops
	}
	return read
}
