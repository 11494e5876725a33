package storetest_test

import (
	"fmt"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// orphansSQL counts the assignments whose employee does not exist. On PostgreSQL no
// foreign key forbids them, only the locks of those who write.
const orphansSQL = `SELECT count(*) FROM assignments a LEFT JOIN employees e ON e.company_id = a.company_id AND e.id = a.employee_id
	WHERE a.company_id = $1 AND e.id IS NULL`

func TestNoAssignmentOutlivesItsEmployee(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		course, people := f.addAssessment(), numbered("E%d", 0, 10)
		f.provisionAll(people...)
		race(8, func(worker int) {
			for i, person := range people {
				if worker%2 == 0 {
					name := fmt.Sprintf("A%d-%d-", worker, i)
					if _, err := s.Assign(t.Context(), f.c, keys(numbered(name+"%d", 0, 10), people, course)); err != nil {
						t.Errorf("assign: %v", err)
					}
				} else if err := f.erase(person); err != nil && domain.CodeOf(err) != domain.CodeEmployeeNotFound {
					t.Errorf("erase %s: %v", person, err)
				}
			}
		})
		equal(t, "assignments without an employee", number(t, s, orphansSQL, f.c.Company.ID), 0)
	})
}

// Requests that were admitted before a company was suspended may still run while it is
// deleted.
func TestNoAssignmentOutlivesItsCompany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		course, people := f.addAssessment(), numbered("E%d", 0, 10)
		f.provisionAll(people...)
		race(4, func(worker int) {
			if worker == 0 {
				if err := s.DeleteCompany(t.Context(), domain.Actor{Kind: domain.ActorPlatform}, f.c.Company.ID); err != nil {
					t.Errorf("delete the company: %v", err)
				}
				return
			}
			for round := range 10 {
				results, err := s.Assign(t.Context(), f.c, keys(numbered(fmt.Sprintf("A%d-%d-", worker, round)+"%d", 0, 10), people, course))
				if err != nil {
					t.Errorf("assign: %v", err)
				}
				if err != nil || results[0].Err != nil {
					return
				}
			}
		})
		equal(t, "assignments of a deleted company", number(t, s, `SELECT count(*) FROM assignments WHERE company_id = $1`, f.c.Company.ID), 0)
	})
}
