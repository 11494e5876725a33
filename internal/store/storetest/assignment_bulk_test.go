package storetest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// bulk assigns several items and returns a line for each: the assignment's
// externalId and status, or the error code.
func (f testCompany) bulk(items ...domain.BulkItem) ([]string, []domain.BulkResult) {
	f.t.Helper()
	results, err := f.s.Assign(f.t.Context(), f.c, items)
	if err != nil {
		f.t.Fatal(err)
	}
	out := make([]string, len(results))
	for i, r := range results {
		out[i] = r.Assignment.ExternalID + " " + string(r.Assignment.Status)
		if r.Err != nil {
			out[i] = string(domain.CodeOf(r.Err))
		}
	}
	return out, results
}

func item(externalID, employee string, course int64) domain.BulkItem {
	return domain.BulkItem{New: domain.NewAssignment{ExternalID: externalID, EmployeeExternalID: employee, CourseID: course}}
}

func TestBulk(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1", "E2", "gone")
		f.offboard("gone")
		exam, theirs := f.addAssessment(), other.addAssessment()
		old := f.assign("old", "E1", exam)
		f.report(progress("x", old.ID, s.Now(), 10_00))
		broken := domain.BulkItem{Err: domain.Errorf(domain.CodeInvalid, "not an object")}
		required := item("Z", "E1", exam)
		required.New.IsRequired = ptr(true)
		got, results := f.bulk(
			item("Z", "E1", exam), broken, item("nobody", "E9", exam), item("A", "E2", exam), item("Z", "E1", exam), item("Z", "E2", exam),
			item("old", "E1", exam), item("gone", "gone", exam), item("none", "E1", 1<<40), item("wall", "E1", theirs), required, item("M", "E1", exam),
		)
		equal(t, "results", got, []string{
			"Z assigned", "invalid_request", "employee_not_found", "A assigned", "Z assigned", "idempotency_conflict",
			"old started", "employee_offboarded", "course_not_found", "wrong_company", "idempotency_conflict", "M assigned",
		})
		if results[0].Assignment.ID != results[4].Assignment.ID || results[6].Assignment.ID != old.ID {
			t.Error("a repeated item did not return the existing assignment")
		}
		equal(t, "a result is what is stored", results[3].Assignment, f.assignment(results[3].Assignment.ID))
		// Ids and events follow the order of the items, not of their keys.
		ids := []int64{results[0].Assignment.ID, results[3].Assignment.ID, results[11].Assignment.ID}
		if !slices.IsSorted(ids) {
			t.Errorf("the ids are not in the order of the items: %v", ids)
		}
		equal(t, "events", f.events()[5:], []string{"assignment.created Z", "assignment.created A", "assignment.created M"})
		equal(t, "one entry per request", f.audit()[5:], []string{"assignment.created", "assignment.created"})

		before := dump(t, s)
		none, _ := f.bulk()
		again, _ := f.bulk(item("Z", "E1", exam), broken)
		equal(t, "an empty request", none, []string{})
		equal(t, "a request again", again, []string{"Z assigned", "invalid_request"})
		equal(t, "what they wrote", dump(t, s), before)
	})
}

// keys returns an item for each name, distributed over the employees.
func keys(names []string, employees []string, course int64) []domain.BulkItem {
	items := make([]domain.BulkItem, len(names))
	for i, n := range names {
		items[i] = item(n, employees[int(n[len(n)-1])%len(employees)], course)
	}
	return items
}

func TestBulkTakesAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		seen, r := recordStatements(s)
		f := newTestCompany(t, s)
		storetest.Endpoint(t, s, f.c.Company.ID)
		employees := numbered("E%d", 0, 20)
		f.provisionAll(employees...)
		exam := f.addAssessment()
		count := func(items []domain.BulkItem) int {
			return len(r.during(t, func() error {
				results, err := seen.Assign(t.Context(), f.c, items)
				for _, res := range results {
					err = errors.Join(err, res.Err)
				}
				return err
			}))
		}
		few, many := count(keys(numbered("few%d", 0, 2), employees, exam)), count(keys(numbered("many%d", 0, 500), employees, exam))
		if few != many || many > 14 {
			t.Errorf("2 items take %d statements, 500 take %d", few, many)
		}
		if again := count(keys(numbered("many%d", 0, 500), employees, exam)); again > many {
			t.Errorf("500 items that exist already take %d statements", again)
		}
		equal(t, "assignments", number(t, s, `SELECT count(*) FROM assignments`), 502)
		equal(t, "deliveries", number(t, s, `SELECT count(*) FROM deliveries WHERE kind = 'assignment.created'`), 502)
	})
}

// Requests for the same keys in opposite orders all succeed and create each
// assignment once, while other requests offboard and change the employees.
func TestOverlappingBulks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		employees := numbered("E%d", 0, 10)
		f.provisionAll(employees...)
		exam := f.addAssessment()
		names := numbered("K%03d", 0, 250)
		var got resultCounts
		race(8, func(i int) {
			mine := slices.Clone(names[i*5 : i*5+200])
			if i%2 == 1 {
				slices.Reverse(mine)
			}
			results, err := s.Assign(t.Context(), f.c, keys(mine, employees, exam))
			got.add("request", err)
			for _, r := range results {
				got.add("item", r.Err)
			}
			_, err = f.patch(employees[i], domain.EmployeePatch{Email: ptr(fmt.Sprintf("new%d@x.test", i))})
			got.add("patch", err)
		})
		equal(t, "answers", got.counts, map[string]int{"request": 8, "item": 8 * 200, "patch": 8})
		equal(t, "assignments", number(t, s, `SELECT count(*) FROM assignments`), 235)
		equal(t, "keys", number(t, s, `SELECT count(DISTINCT external_id) FROM assignments`), 235)
		equal(t, "events", number(t, s, `SELECT count(DISTINCT assignment_id) FROM events WHERE kind = 'assignment.created'`), 235)
		equal(t, "all events", number(t, s, `SELECT count(*) FROM events WHERE kind = 'assignment.created'`), 235)
	})
}
