package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// countedOperation is an operation and the number of its statements, without those
// that begin and end a transaction.
type countedOperation struct {
	name             string
	sqlite, postgres int
	run              func(f testCompany, a domain.Assignment, name string) error
}

func (op countedOperation) statements(engine string) int {
	if engine == "sqlite" {
		return op.sqlite
	}
	return op.postgres
}

func listAssignments(filter func(a domain.Assignment) domain.AssignmentFilter) func(testCompany, domain.Assignment, string) error {
	return func(f testCompany, a domain.Assignment, _ string) error {
		_, err := f.s.Assignments(f.t.Context(), f.c.Company.ID, filter(a), domain.PageRequest{Number: 1, Limit: 50})
		return err
	}
}

func listEmployees(filter domain.EmployeeFilter) func(testCompany, domain.Assignment, string) error {
	return func(f testCompany, _ domain.Assignment, _ string) error {
		_, err := f.s.Employees(f.t.Context(), f.c.Company.ID, filter, domain.PageRequest{Number: 1, Limit: 50})
		return err
	}
}

func assignSome(n int) func(testCompany, domain.Assignment, string) error {
	return func(f testCompany, a domain.Assignment, name string) error {
		_, err := f.s.Assign(f.t.Context(), f.c, keys(numbered(name+"-%d", 0, n), []string{"E0", "E1"}, a.CourseID))
		return err
	}
}

func reportSome(n int) func(testCompany, domain.Assignment, string) error {
	return func(f testCompany, a domain.Assignment, name string) error {
		var items []domain.ActivityItem
		for i := range n {
			items = append(items, domain.ActivityItem{Activity: progress(fmt.Sprintf("%s-%d", name, i), a.ID, f.s.Now(), domain.Points(i+1)*100)})
		}
		_, err := f.s.RecordActivities(f.t.Context(), items)
		return err
	}
}

var countedOperations = []countedOperation{
	{"list all assignments", 1, 2, listAssignments(func(domain.Assignment) domain.AssignmentFilter { return domain.AssignmentFilter{} })},
	{"list assignments by status", 1, 2, listAssignments(func(domain.Assignment) domain.AssignmentFilter {
		return domain.AssignmentFilter{Status: domain.StatusAssigned}
	})},
	{"list assignments by course", 1, 2, listAssignments(func(a domain.Assignment) domain.AssignmentFilter {
		return domain.AssignmentFilter{CourseID: a.CourseID}
	})},
	{"list assignments of an employee", 1, 2, listAssignments(func(domain.Assignment) domain.AssignmentFilter {
		return domain.AssignmentFilter{EmployeeExternalID: "E0"}
	})},
	{"list assignments since", 1, 2, listAssignments(func(domain.Assignment) domain.AssignmentFilter {
		return domain.AssignmentFilter{UpdatedSince: &time.Time{}}
	})},
	{"list assignments by two filters", 2, 2, listAssignments(func(a domain.Assignment) domain.AssignmentFilter {
		return domain.AssignmentFilter{CourseID: a.CourseID, UpdatedSince: &time.Time{}}
	})},
	{"list all employees", 1, 2, listEmployees(domain.EmployeeFilter{})},
	{"list employees by tag", 1, 2, listEmployees(domain.EmployeeFilter{Tag: "red"})},
	{"list employees by email", 1, 2, listEmployees(domain.EmployeeFilter{Email: "e0@x.test"})},
	{"read an assignment, its progress or its results", 1, 1, func(f testCompany, a domain.Assignment, _ string) error {
		_, err := f.s.Assignment(f.t.Context(), f.c.Company.ID, a.ID)
		return err
	}},
	{"read an employee", 1, 1, func(f testCompany, _ domain.Assignment, _ string) error {
		_, _, err := f.s.Employee(f.t.Context(), f.c.Company.ID, "E0")
		return err
	}},
	{"read an assignment by external id", 1, 1, func(f testCompany, a domain.Assignment, _ string) error {
		_, err := f.s.AssignmentByExternalID(f.t.Context(), f.c.Company.ID, a.ExternalID)
		return err
	}},
	{"list courses", 2, 2, func(f testCompany, _ domain.Assignment, _ string) error {
		_, _, err := f.s.Courses(f.t.Context(), f.c.Company.ID)
		return err
	}},
	{"provision", 8, 10, func(f testCompany, _ domain.Assignment, name string) error {
		_, _, err := f.s.Provision(f.t.Context(), f.c, domain.Provision{ExternalID: name, Email: name + "@x.test", Name: name})
		return err
	}},
	{"patch an employee", 5, 6, func(f testCompany, _ domain.Assignment, name string) error {
		_, err := f.s.PatchEmployee(f.t.Context(), f.c, "E1", domain.EmployeePatch{Name: &name})
		return err
	}},
	{"assign one", 11, 12, assignSome(1)},
	{"assign 200", 13, 12, assignSome(200)},
	{"report one activity", 6, 7, reportSome(1)},
	{"report 50 activities", 5, 6, reportSome(50)},
	{"report all assignments", 2, 2, func(f testCompany, _ domain.Assignment, _ string) error {
		return f.s.AssignmentReport(f.t.Context(), f.c.Company.ID, domain.AssignmentFilter{}, func([]domain.Assignment) error { return nil })
	}},
	{"revoke", 4, 4, func(f testCompany, a domain.Assignment, _ string) error { return f.s.Revoke(f.t.Context(), f.c, a.ID) }},
	{"offboard", 9, 11, func(f testCompany, _ domain.Assignment, _ string) error {
		_, err := f.patch("E1", domain.EmployeePatch{Active: ptr(false)})
		return err
	}},
	{"delete an employee", 31, 35, func(f testCompany, _ domain.Assignment, _ string) error { return f.erase("E0") }},
}

// Operations run the same statements in a company of two people and in one of 120.
func TestNumberOfStatements(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, size := range []int{2, 120} {
			seen, r := recordStatements(s)
			f := newTestCompany(t, s)
			people := numbered("E%d", 0, size)
			f.provisionAll(people...)
			course := f.addAssessment()
			_, made := f.bulk(keys(numbered(fmt.Sprintf("of %d: ", size)+"%d", 0, 2*size), people, course)...)
			for i, op := range countedOperations {
				run := func() error { return op.run(f.with(seen), made[0].Assignment, fmt.Sprintf("%d-%d", size, i)) }
				if i == 0 { // it learns once that the company has totals
					r.during(t, run)
				}
				if got, want := len(r.during(t, run)), op.statements(s.Engine().Name()); got != want {
					t.Errorf("%s takes %d statements in a company of %d people, want %d", op.name, got, size, want)
				}
			}
		}
	})
}

// What a server does to send deliveries takes the same statements for one and for many.
func TestNumberOfStatementsOfADispatcher(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		seen, r := recordStatements(s)
		want := []int{5, 3}
		for _, n := range []int{1, 40} {
			h := newEndpointFixture(t, s)
			h.hire("E", n)
			for i, fetch := range []func() ([]domain.EndpointLease, error){
				func() ([]domain.EndpointLease, error) {
					return seen.ClaimEndpoints(t.Context(), "one", time.Minute, h.ask(100))
				},
				func() ([]domain.EndpointLease, error) { return seen.DueDeliveries(t.Context(), h.ask(100)) },
			} {
				items := r.during(t, func() error {
					leases, err := fetch()
					if err == nil && (len(leases) != 1 || len(leases[0].Due) != n) {
						t.Errorf("fetched %+v, want %d deliveries", leases, n)
					}
					return err
				})
				equal(t, fmt.Sprintf("statements to claim, to fetch: %d, for %d deliveries", i, n), len(items), want[i])
			}
		}
	})
}

// A success can disable no endpoint, so it is recorded in the round trip of the commit.
func TestSuccessesAreRecordedInOneRoundTrip(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		seen, r := recordStatements(s)
		h := newEndpointFixture(t, s)
		h.hire("E", 2)
		due := h.claim("one", 10).Due
		h.s = seen
		for i, want := range []struct {
			state domain.DeliveryState
			sends int
		}{{domain.DeliveryDelivered, 0}, {domain.DeliveryPending, 1}} {
			before := r.sends
			if got := h.record(h.result(due[i], want.state)); len(got.Deliveries) != 1 || got.Deliveries[0].State != want.state {
				t.Errorf("recorded %+v, want one delivery that is %s", got, want.state)
			}
			if got := r.sends - before; got != want.sends {
				t.Errorf("a delivery that became %s took %d round trips besides the commit, want %d", want.state, got, want.sends)
			}
		}
	})
}
