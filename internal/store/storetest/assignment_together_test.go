package storetest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// Concurrent assignments share a transaction: new and repeated ones, conflicts and
// refusals, of two companies and two callers. Each caller gets the answer to its own
// request, and each request that assigned has an audit entry of its own.
func TestAssignTogether(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		companies := []testCompany{newTestCompany(t, s), newTestCompany(t, s)}
		courses := make([]int64, len(companies))
		for i, f := range companies {
			f.provisionAll("E1", "E2", "former")
			f.offboard("former")
			courses[i] = f.addAssessment()
		}
		var got resultCounts
		race(80, func(i int) {
			f, n := companies[i%2], i/2
			f.c.Actor.RequestID = fmt.Sprintf("request-%d", n)
			if n%3 == 0 {
				f.c.Actor.Label = "another token"
			}
			in := domain.NewAssignment{ExternalID: fmt.Sprintf("A%d", n), EmployeeExternalID: "E1", CourseID: courses[i%2]}
			switch n {
			case 30, 31, 32:
				in.ExternalID = "A30"
			case 33:
				in.EmployeeExternalID = "former"
			case 34:
				in.EmployeeExternalID = "nobody"
			case 35:
				in.CourseID = courses[1-i%2]
			case 36:
				in.ExternalID, in.EmployeeExternalID = "A37", "E2"
			}
			a, err := f.tryAssign(in)
			got.add("ok", err)
			if err == nil && (a.ExternalID != in.ExternalID || a.EmployeeExternalID != in.EmployeeExternalID || a.CompanyID != f.c.Company.ID || a.ID == 0) {
				t.Errorf("assign %+v returned %+v", in, a)
			}
		})
		equal(t, "answers", got.counts, map[string]int{
			"ok": 2 * 36, "employee_offboarded": 2, "employee_not_found": 2, "wrong_company": 2, "idempotency_conflict": 2,
		})
		for _, f := range companies {
			made := texts(t, s, `SELECT external_id FROM assignments WHERE company_id = $1`, f.c.Company.ID)
			equal(t, "assignments", len(made), 34)
			equal(t, "different assignments", len(slices.Compact(slices.Sorted(slices.Values(made)))), 34)
			equal(t, "events", number(t, s, `SELECT count(DISTINCT assignment_id) FROM events WHERE company_id = $1 AND kind = 'assignment.created'`, f.c.Company.ID), 34)
			equal(t, "requests in the audit log", number(t, s, `SELECT count(DISTINCT request_id) FROM audit_entries
				WHERE company_id = $1 AND action = 'assignment.created'`, f.c.Company.ID), 34)
			equal(t, "assignments by another token", number(t, s, `SELECT count(*) FROM assignments a WHERE a.company_id = $1 AND a.assigned_by <>
				(SELECT e.actor_label FROM audit_entries e WHERE e.company_id = $1 AND e.action = 'assignment.created' AND e.record_id = CAST(a.id AS text))`,
				f.c.Company.ID), 0)
		}
	})
}
