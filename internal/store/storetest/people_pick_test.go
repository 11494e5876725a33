package storetest_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// What assigning would do is counted exactly for a few thousand people, each once, and
// within bounds for more.
func TestAssignCountIsExactOrBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		const people = domain.MaxAssignCount + 100
		filled := storetest.Fill(t, s, f.c.Company.ID, storetest.Size{Employees: people, Courses: 2, Assignments: 300})
		count := func(who domain.People, again bool) domain.AssignCount {
			t.Helper()
			out, err := s.CountAssign(t.Context(), f.c.Company.ID, who, domain.AssignCourses{CourseIDs: filled.Courses, Again: again})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		const held = `SELECT count(*) FROM (SELECT DISTINCT a.employee_id, a.course_id FROM assignments a WHERE a.company_id = $1
			AND EXISTS (SELECT 1 FROM employee_tags t WHERE t.company_id = $1 AND t.employee_id = a.employee_id AND t.tag = 'third')`
		third := domain.People{Tags: []string{"third", "Склад"}}
		want := domain.AssignCount{People: people / 3, Courses: 2, Already: number(t, s, held+`) x`, f.c.Company.ID)}
		equal(t, "people who have both tags", count(third, false), want)
		want.Already = number(t, s, held+` AND a.status <> 'completed') x`, f.c.Company.ID)
		equal(t, "the same, completed courses again", count(third, true), want)
		lines := domain.People{Lines: []string{"emp-1", "nobody"}, IDs: filled.Employees[1:3]}
		if got := count(lines, false); got.People != 2 || len(got.Unknown) != 1 || got.Unknown[0] != "nobody" {
			t.Errorf("ids and lines: %+v, want 2 people and one unknown line", got)
		}
		equal(t, "nobody", count(domain.People{}, false), domain.AssignCount{Courses: 2})
		equal(t, "everyone", count(domain.People{All: true}, false), domain.AssignCount{People: people, Courses: 2, Many: true})
		listed := domain.People{Listed: &domain.EmployeeListFilter{}}
		equal(t, "the whole list", count(listed, false), domain.AssignCount{People: domain.MaxAssignCount, Courses: 2, Many: true, AtLeast: true})
	})
}
