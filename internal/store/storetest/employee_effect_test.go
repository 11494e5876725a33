package storetest_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestEmployeeIsChangedAndErased(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		t.Run("effects of an erasure", func(t *testing.T) { testErasureEffects(t, s) })
		t.Run("externalId", func(t *testing.T) { testExternalIDIsTaken(t, s) })
		t.Run("attributes", func(t *testing.T) { testAttributesAreReplaced(t, s) })
	})
}

// testErasureEffects expects that what an erasure would remove is counted before it is done.
func testErasureEffects(t *testing.T, s *store.Store) {
	f, other := newTestCompany(t, s), newTestCompany(t, s)
	f.provisionAll("E1", "E2")
	exam := f.addAssessment()
	f.assign("A1", "E1", exam)
	f.report(ended("1", f.assign("A2", "E1", exam).ID, s.Now(), 10_00))
	f.report(ended("2", f.assign("A3", "E2", exam).ID, s.Now(), 10_00))
	effects := func(company int64, e domain.Employee) domain.ErasureEffects {
		t.Helper()
		out, err := s.ErasureEffects(t.Context(), company, e.ID)
		wantNoError(t, "count the effects", err)
		return out
	}
	e := f.employee("E1")
	events := number(t, s, `SELECT count(*) FROM events WHERE employee_id = $1`, e.ID)
	equal(t, "effects", effects(f.c.Company.ID, e), domain.ErasureEffects{Assignments: 2, Results: 1, Events: events})
	equal(t, "effects in another company", effects(other.c.Company.ID, e), domain.ErasureEffects{})
	f.offboard("E1")
	if got := number(t, s, `SELECT count(*) FROM events WHERE employee_id = $1`, e.ID); got <= events {
		t.Fatalf("%d events after leaving, %d before", got, events)
	}
	equal(t, "events, without that of the leaving", effects(f.c.Company.ID, e).Events, events)
}

// testExternalIDIsTaken expects that an externalId is one live employee's of its company.
func testExternalIDIsTaken(t *testing.T, s *store.Store) {
	f, other := newTestCompany(t, s), newTestCompany(t, s)
	f.provisionAll("E1", "E2", "former")
	other.provisionAll("X1")
	f.offboard("former")
	e := f.employee("E1")
	_, err := f.patch("E1", domain.EmployeePatch{ExternalID: ptr("E2")})
	wantCode(t, "that of a colleague", err, domain.CodeExternalIDTaken)
	equal(t, "the employee", f.employee("E1"), e)
	for _, row := range []struct{ what, from, to string }{
		{"one's own", "E1", "E1"}, {"that of another company", "E1", "X1"}, {"that of a former colleague", "X1", "former"}, {"one's first", "former", "E1"},
	} {
		_, err := f.patch(row.from, domain.EmployeePatch{ExternalID: &row.to})
		wantNoError(t, row.what, err)
		equal(t, row.what, f.employee(row.to).ID, e.ID)
	}
	equal(t, "the other company's", other.employee("X1").Name, "Name of X1")
}

// testAttributesAreReplaced expects that attributes are replaced as a whole, and that those
// that stay the same leave no trace.
func testAttributesAreReplaced(t *testing.T, s *store.Store) {
	f, other := newTestCompany(t, s), newTestCompany(t, s)
	f.provisionAll("E1", "E2")
	other.provisionAll("E1")
	patch := func(a domain.Attributes) {
		t.Helper()
		_, err := f.patch("E1", domain.EmployeePatch{Attributes: a})
		wantNoError(t, "patch", err)
	}
	patch(domain.Attributes{"cost centre": "42", "Größe": "ё \"x\""})
	patch(domain.Attributes{"Größe": "ё \"x\"", "cost centre": "42"})
	equal(t, "attributes", f.record(f.employee("E1").ID).Attributes, domain.Attributes{"cost centre": "42", "Größe": "ё \"x\""})
	patch(domain.Attributes{"plant": "2"})
	_, err := f.patch("E1", domain.EmployeePatch{Name: ptr("New name")})
	wantNoError(t, "patch the name", err)
	equal(t, "attributes", f.record(f.employee("E1").ID).Attributes, domain.Attributes{"plant": "2"})
	patch(domain.Attributes{})
	equal(t, "no attributes", len(f.record(f.employee("E1").ID).Attributes), 0)
	for _, e := range []domain.Employee{f.employee("E2"), other.employee("E1")} {
		if got := (testCompany{t, s, domain.Caller{Company: domain.Company{ID: e.CompanyID}}}).record(e.ID).Attributes; len(got) != 0 {
			t.Errorf("employee %d has the attributes %v", e.ID, got)
		}
	}
	equal(t, "audit", texts(t, s, `SELECT detail FROM audit_entries WHERE company_id = $1 AND action = 'employee.changed' ORDER BY id`, f.c.Company.ID),
		[]string{"Changed: attributes.", "Changed: attributes.", "Changed: name.", "Changed: attributes."})
}
