package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// assigner assigns a course to the employees of a company.
type assigner struct {
	*store.Store
	caller domain.Caller
	course int64
}

func newAssigner(tb testing.TB, s *store.Store, employees ...string) assigner {
	tb.Helper()
	c := storetest.Company(tb, s, "assigner")
	for _, name := range employees {
		provision(tb, s, c, name)
	}
	course, err := s.AddCourse(tb.Context(), c, domain.Course{Name: "Course", Modules: []string{"One"}})
	if err != nil {
		tb.Fatal(err)
	}
	return assigner{s, c, course}
}

func (a assigner) item(externalID, employee string) []domain.BulkItem {
	return []domain.BulkItem{{New: domain.NewAssignment{ExternalID: externalID, EmployeeExternalID: employee, CourseID: a.course}}}
}

// An employee whose row is locked holds up neither the assignments of colleagues that
// arrive at the same time, nor those of another company. On SQLite, which has one
// writer, nothing can wait for a row.
func TestStuckAssignmentsStopNobody(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	a, neighbour := newAssigner(t, s, "stuck", "free"), newAssigner(t, s, "free")
	release := storetest.HoldLocks(t, s, `SELECT id FROM employees WHERE company_id = $1 AND external_id = 'stuck' FOR UPDATE`, a.caller.Company.ID)
	var stuck, free sync.WaitGroup
	for i := range 3 {
		stuck.Go(func() {
			if _, err := a.Assign(domain.WithCompany(t.Context(), a.caller.Company.ID), a.caller, a.item(fmt.Sprintf("s%d", i), "stuck")); err != nil {
				t.Errorf("the assignment that waited: %v", err)
			}
		})
	}
	storetest.WaitForLocks(t, s, 1)
	began := time.Now()
	for i := range 20 {
		for _, a := range []assigner{a, neighbour} {
			free.Go(func() {
				results, err := a.Assign(domain.WithCompany(t.Context(), a.caller.Company.ID), a.caller, a.item(fmt.Sprintf("f%d", i), "free"))
				if err != nil || results[0].Err != nil {
					t.Errorf("assign: %v, %v", results, err)
				}
			})
		}
	}
	free.Wait()
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("40 assignments took %s while others waited for a lock", took)
	}
	release()
	stuck.Wait()
}

// BenchmarkAssignBatching measures what sharing a transaction buys 16 callers that
// assign at the same time.
func BenchmarkAssignBatching(b *testing.B) {
	eachEngine(b, func(b *testing.B, s *store.Store) {
		var names []string
		for i := range 16 {
			names = append(names, fmt.Sprintf("e%d", i))
		}
		a := newAssigner(b, s, names...)
		var n atomic.Int64
		next := func(caller int) []domain.BulkItem { return a.item(fmt.Sprintf("a%d", n.Add(1)), names[caller]) }
		storetest.CompareBatching(b, len(names),
			func(caller int) error { return a.AssignAlone(b.Context(), a.caller, next(caller)) },
			func(caller int) error {
				_, err := a.Assign(b.Context(), a.caller, next(caller))
				return err
			})
	})
}
