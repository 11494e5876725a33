package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func (f testCompany) mustPatch(externalID string, p domain.EmployeePatch) domain.Employee {
	f.t.Helper()
	out, err := f.patch(externalID, p)
	if err != nil {
		f.t.Fatalf("patch %s: %v", externalID, err)
	}
	return out.Employee
}

// tagged returns the employees that are found by a tag.
func (f testCompany) tagged(tag string) []string {
	f.t.Helper()
	list, err := f.s.Employees(f.t.Context(), f.c.Company.ID, domain.EmployeeFilter{Tag: tag}, domain.PageRequest{Number: 1, Limit: 10})
	if err != nil {
		f.t.Fatal(err)
	}
	out := []string{}
	for _, e := range list.Items {
		out = append(out, e.ExternalID)
	}
	return out
}

func TestPatchNameAndTags(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1", "E2")
		other.join("E1", "elsewhere")
		before := dump(t, s)
		f.mustPatch("E1", domain.EmployeePatch{})
		f.mustPatch("E1", domain.EmployeePatch{Name: ptr("Name of E1"), Tags: ptr([]string{}), Email: ptr("e1@x.test"), Active: ptr(true)})
		equal(t, "what a patch without changes wrote", dump(t, s), before)

		want := f.employee("E1")
		want.Name, want.Tags = "José", []string{"b", "a", "ё"}
		got := f.mustPatch("E1", domain.EmployeePatch{Name: &want.Name, Tags: &want.Tags})
		equal(t, "the answer", got, want)
		equal(t, "what is stored", f.employee("E1"), want)
		f.mustPatch("E2", domain.EmployeePatch{Tags: ptr([]string{"a"})})
		equal(t, "found by tag", f.tagged("a"), []string{"E1", "E2"})
		equal(t, "found by another company", other.tagged("a"), []string{})
		f.mustPatch("E1", domain.EmployeePatch{Tags: ptr([]string{"c"})})
		equal(t, "a tag taken away", f.tagged("a"), []string{"E2"})
		equal(t, "a tag added", f.tagged("c"), []string{"E1"})
		f.mustPatch("E1", domain.EmployeePatch{Tags: ptr([]string{})})
		equal(t, "rows of tags", number(t, s, `SELECT count(*) FROM employee_tags`), 1)
		equal(t, "events", f.events(), []string{"employee.joined E1", "employee.joined E2"})
		equal(t, "entries", f.audit(), []string{"employee.provisioned", "employee.provisioned",
			"employee.changed", "employee.changed", "employee.changed", "employee.changed"})
		_, err := f.patch("nobody", domain.EmployeePatch{Name: ptr("x")})
		wantCode(t, "a patch of nobody", err, domain.CodeEmployeeNotFound)
	})
}

func TestPatchEmail(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1", "E2")
		a, revoked := f.assign("A1", "E1", f.addAssessment()), f.assign("A2", "E1", f.addAssessment())
		if err := s.Revoke(t.Context(), f.c, revoked.ID); err != nil {
			t.Fatal(err)
		}
		_, err := f.patch("E1", domain.EmployeePatch{Email: ptr("E2@x.test"), Name: ptr("Not written")})
		wantCode(t, "an address that is taken", err, domain.CodeEmailTaken)
		equal(t, "after the refusal", f.employee("E1").Name, "Name of E1")

		waitUntil(t, s, a.UpdatedAt.Add(time.Millisecond))
		f.mustPatch("E1", domain.EmployeePatch{Email: ptr("E1@X.test")})
		folded := f.assignment(a.ID)
		if folded.EmployeeEmail != "E1@X.test" || !folded.UpdatedAt.After(a.UpdatedAt) {
			t.Errorf("after a change of case: %s, updated at %v, before at %v", folded.EmployeeEmail, folded.UpdatedAt, a.UpdatedAt)
		}
		waitUntil(t, s, folded.UpdatedAt.Add(time.Millisecond))
		f.mustPatch("E1", domain.EmployeePatch{Email: ptr("new@x.test")})
		if moved := f.assignment(a.ID); moved.EmployeeEmail != "new@x.test" || !moved.UpdatedAt.After(folded.UpdatedAt) {
			t.Errorf("after a change of address: %s, updated at %v, before at %v", moved.EmployeeEmail, moved.UpdatedAt, folded.UpdatedAt)
		}
		f.mustPatch("E1", domain.EmployeePatch{Name: ptr("Anna")})
		equal(t, "accounts", texts(t, s, `SELECT email_folded FROM accounts ORDER BY email_folded`), []string{"e2@x.test", "new@x.test"})
		// The old address has no account any more; the new one has.
		if _, status, err := other.provision("O1", "e1@x.test"); status != domain.ProvisionCreated {
			t.Errorf("provision the old address: %s, %v", status, err)
		}
		if _, status, err := other.provision("O2", "NEW@x.test"); status != domain.ProvisionLinked {
			t.Errorf("provision the new address elsewhere: %s, %v", status, err)
		}
		f.mustPatch("E1", domain.EmployeePatch{Email: ptr("third@x.test")})
		equal(t, "an account that another company uses stays",
			number(t, s, `SELECT count(*) FROM accounts WHERE email_folded = 'new@x.test'`), 1)
	})
}

// writtenSoFar counts the events and audit entries that were checked so far.
type writtenSoFar struct{ events, entries int }

func (l *writtenSoFar) want(f testCompany, what string, events, entries []string) {
	f.t.Helper()
	allEvents, allEntries := f.events(), f.audit()
	equal(f.t, what+": events", allEvents[l.events:], events)
	equal(f.t, what+": entries", allEntries[l.entries:], entries)
	l.events, l.entries = len(allEvents), len(allEntries)
}

func TestPatchActive(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		first := f.employee("E1")
		a := f.assign("A1", "E1", f.addAssessment())
		var told writtenSoFar
		told.want(f, "hired", []string{"employee.joined E1", "assignment.created A1"},
			[]string{"employee.provisioned", "course.added", "assignment.created"})
		f.mustPatch("E1", domain.EmployeePatch{Active: ptr(true)})
		told.want(f, "active already", []string{}, []string{})

		out, err := f.patch("E1", domain.EmployeePatch{Active: ptr(false), Name: ptr("Anna"), Tags: ptr([]string{"left"}), Email: ptr("anna@x.test")})
		if err != nil || !out.Offboarded || out.Employee.ExternalID != "E1" {
			t.Fatalf("offboard: %+v, %v", out, err)
		}
		told.want(f, "offboarded", []string{"employee.removed E1"}, []string{"employee.changed", "employee.offboarded"})
		f.wantFormer("E1", a)
		out, err = f.patch("E1", domain.EmployeePatch{Active: ptr(false), Name: ptr("Ignored")})
		if err != nil || !out.Offboarded {
			t.Errorf("offboard again: %+v, %v", out, err)
		}
		_, err = f.patch("E1", domain.EmployeePatch{Name: ptr("Ignored")})
		wantCode(t, "a patch of a former employee", err, domain.CodeEmployeeOffboarded)
		told.want(f, "offboarded again", []string{}, []string{})

		waitUntil(t, s, first.JoinedAt.Add(time.Millisecond))
		back := f.mustPatch("E1", domain.EmployeePatch{Active: ptr(true), Tags: ptr([]string{"back"})})
		if back.ID != first.ID || back.Name != "Anna" || !back.JoinedAt.After(first.JoinedAt) {
			t.Errorf("came back as %+v", back)
		}
		equal(t, "stored", f.employee("E1"), back)
		equal(t, "by tag", fmt.Sprint(f.tagged("left"), f.tagged("back")), "[] [E1]")
		told.want(f, "brought back", []string{"employee.joined E1"}, []string{"employee.brought_back"})
		_, err = s.AssignmentByExternalID(t.Context(), f.c.Company.ID, "A1")
		wantCode(t, "the assignment of before", err, domain.CodeAssignmentRevoked)
	})
}

// wantFormer checks that the employee is reported as offboarded and is in no list.
func (f testCompany) wantFormer(externalID string, a domain.Assignment) {
	f.t.Helper()
	ctx, company := f.t.Context(), f.c.Company.ID
	_, _, err := f.s.Employee(ctx, company, externalID)
	wantCode(f.t, "a former employee", err, domain.CodeEmployeeOffboarded)
	_, err = f.s.Assignment(ctx, company, a.ID)
	wantCode(f.t, "their assignment", err, domain.CodeAssignmentRevoked)
	_, err = f.tryAssign(domain.NewAssignment{ExternalID: "late", EmployeeExternalID: externalID, CourseID: a.CourseID})
	wantCode(f.t, "another assignment", err, domain.CodeEmployeeOffboarded)
	people, err := f.s.Employees(ctx, company, domain.EmployeeFilter{}, domain.PageRequest{Number: 1, Limit: 10})
	if err != nil || people.Total != 0 {
		f.t.Errorf("the list of employees: %+v, %v", people, err)
	}
	since := a.UpdatedAt
	for _, filter := range []domain.AssignmentFilter{{}, {EmployeeExternalID: externalID}, {UpdatedSince: &since}} {
		list, err := f.s.Assignments(ctx, company, filter, domain.PageRequest{Number: 1, Limit: 10})
		if err != nil || list.Total != 0 || len(list.Items) != 0 {
			f.t.Errorf("assignments %+v: %+v, %v", filter, list, err)
		}
	}
}

func TestBringBackByPatch(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1", "E2", "E3")
		f.offboard("E1")
		f.mustPatch("E2", domain.EmployeePatch{Email: ptr("e1@x.test")})
		_, err := f.patch("E1", domain.EmployeePatch{Active: ptr(true)})
		wantCode(t, "back, but the address is another's now", err, domain.CodeEmailTaken)
		back := f.mustPatch("E1", domain.EmployeePatch{Active: ptr(true), Email: ptr("fresh@x.test")})
		equal(t, "back with another address", back.Email, "fresh@x.test")
		f.offboard("E3")
		f.mustPatch("E3", domain.EmployeePatch{Active: ptr(true), Email: ptr("third@x.test")})
		equal(t, "accounts", texts(t, s, `SELECT email_folded FROM accounts ORDER BY email_folded`),
			[]string{"e1@x.test", "fresh@x.test", "third@x.test"})

		f.offboard("E1")
		f.provisionAll("E4")
		f.join("E1", "new-holder")
		_, err = f.patch("E1", domain.EmployeePatch{Active: ptr(true)})
		if err != nil {
			t.Error("patch the present owner of the externalId:", err)
		}
		equal(t, "who has the externalId", f.employee("E1").Email, f.email("new-holder"))
	})
}
