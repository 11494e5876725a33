package storetest_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// provisionRow is a row of the decision table of provisioning: a situation, and what
// the same call (E1, Anna) must return and write in it.
type provisionRow struct {
	name   string
	before func(f, other testCompany)
	want   domain.ProvisionStatus
	code   domain.Code
	// keeps reports that the employee existed before.
	keeps  bool
	events []string
	audit  []string
}

var provisionTable = []provisionRow{
	{name: "nobody knows them", before: func(_, _ testCompany) {}, want: domain.ProvisionCreated,
		events: []string{"employee.joined E1"}, audit: []string{"employee.provisioned"}},
	{name: "same externalId, same email", before: func(f, _ testCompany) { f.join("E1", "anna") },
		want: domain.ProvisionFound, keeps: true},
	{name: "same externalId, another email", before: func(f, _ testCompany) { f.join("E1", "bob") }, code: domain.CodeExternalIDTaken},
	{name: "another externalId, same email", before: func(f, _ testCompany) { f.join("E2", "ANNA") }, code: domain.CodeEmailTaken},
	{name: "two others hold the two", before: func(f, _ testCompany) { f.join("E1", "bob"); f.join("E2", "anna") },
		code: domain.CodeExternalIDTaken},
	{name: "another holds the externalId, the email is not linked",
		before: func(f, _ testCompany) { f.join("E1", "bob"); f.join("", "anna") }, code: domain.CodeExternalIDTaken},
	{name: "joined through the cabinet", before: func(f, _ testCompany) { f.join("", "ANNA") },
		want: domain.ProvisionLinked, keeps: true, events: []string{}, audit: []string{"employee.linked"}},
	{name: "a former employee", before: func(f, _ testCompany) { f.join("E1", "anna"); f.offboard("E1") },
		want: domain.ProvisionLinked, keeps: true, events: []string{"employee.joined E1"}, audit: []string{"employee.provisioned"}},
	{name: "a former employee under another externalId", before: func(f, _ testCompany) { f.join("E9", "anna"); f.offboard("E9") },
		want: domain.ProvisionLinked, keeps: true, events: []string{"employee.joined E1"}, audit: []string{"employee.provisioned"}},
	{name: "a former employee, the externalId is another's now",
		before: func(f, _ testCompany) { f.join("E1", "anna"); f.offboard("E1"); f.join("E1", "bob") }, code: domain.CodeExternalIDTaken},
	{name: "a former employee had the externalId, with another email", before: func(f, _ testCompany) { f.join("E1", "bob"); f.offboard("E1") },
		want: domain.ProvisionCreated, events: []string{"employee.joined E1"}, audit: []string{"employee.provisioned"}},
	{name: "an account of another company", before: func(_, other testCompany) { other.join("E7", "anna") },
		want: domain.ProvisionLinked, events: []string{"employee.joined E1"}, audit: []string{"employee.provisioned"}},
	{name: "a former employee of another company", before: func(_, other testCompany) { other.join("E1", "anna"); other.offboard("E1") },
		want: domain.ProvisionLinked, events: []string{"employee.joined E1"}, audit: []string{"employee.provisioned"}},
	{name: "erased before", before: func(f, _ testCompany) { f.join("E1", "anna"); _ = f.erase("E1") },
		want: domain.ProvisionCreated, events: []string{"employee.joined E1"}, audit: []string{"employee.provisioned"}},
}

// join creates an employee, as the cabinet does if there is no externalId.
func (f testCompany) join(externalID, who string) {
	f.t.Helper()
	var err error
	if externalID == "" {
		_, err = f.s.Join(f.t.Context(), f.c, domain.Newcomer{Email: f.email(who), Name: "Joined", Role: domain.RoleEmployee})
	} else {
		_, _, err = f.provision(externalID, f.email(who))
	}
	if err != nil {
		f.t.Fatalf("join %s: %v", who, err)
	}
}

// email returns an address. Companies share accounts, so each test has a host of its
// own.
func (f testCompany) email(who string) string { return who + "@" + f.t.Name() + ".test" }

func TestProvision(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, row := range provisionTable {
			t.Run(row.name, func(t *testing.T) { row.check(t, newTestCompany(t, s), newTestCompany(t, s)) })
		}
	})
}

func (row provisionRow) check(t *testing.T, f, other testCompany) {
	t.Helper()
	row.before(f, other)
	var old domain.Employee
	if row.keeps {
		old = f.employeeByEmail("anna")
	}
	before, events, audit := dump(t, f.s), f.events(), f.audit()
	in := domain.Provision{ExternalID: "E1", Email: f.email("Anna"), Name: "Anna"}
	e, status, err := f.s.Provision(t.Context(), f.c, in)
	if row.code != "" {
		wantCode(t, "provision", err, row.code)
		equal(t, "what a conflict wrote", dump(t, f.s), before)
		return
	}
	if err != nil || status != row.want {
		t.Fatalf("%s, %v; want %s", status, err, row.want)
	}
	if status == domain.ProvisionFound {
		equal(t, "what found wrote", dump(t, f.s), before)
		equal(t, "the employee found", e, old)
		return
	}
	equal(t, "events", f.events()[len(events):], row.events)
	equal(t, "audit", f.audit()[len(audit):], row.audit)
	want := domain.Employee{
		CompanyID: f.c.Company.ID, ID: e.ID, ExternalID: "E1", Email: in.Email, Name: in.Name, Role: domain.RoleEmployee,
		Tags: []string{}, JoinedAt: e.JoinedAt,
	}
	if row.keeps {
		want.ID = old.ID
	}
	if len(row.events) == 0 { // linked: the membership stays as it was
		want = old
		want.ExternalID = "E1"
	}
	equal(t, "the answer", e, want)
	equal(t, "what is stored", f.employee("E1"), want)
	again, status, err := f.s.Provision(t.Context(), f.c, in)
	if err != nil || status != domain.ProvisionFound || !cmp.Equal(again, want) {
		t.Errorf("again: %+v, %s, %v", again, status, err)
	}
}

// employeeByEmail returns the one employee, live or former, with the address.
func (f testCompany) employeeByEmail(who string) domain.Employee {
	f.t.Helper()
	email := f.email(who)
	found, err := f.s.Employees(f.t.Context(), f.c.Company.ID, domain.EmployeeFilter{Email: email}, domain.PageRequest{Number: 1, Limit: 1})
	if err != nil {
		f.t.Fatal(err)
	}
	if len(found.Items) == 1 {
		return found.Items[0]
	}
	ids := column[int64](f.t, f.s, `SELECT id FROM employees WHERE company_id = $1 AND email_folded = $2`, f.c.Company.ID, domain.FoldEmail(email))
	if len(ids) != 1 {
		f.t.Fatalf("%d employees have the address %s, want 1", len(ids), email)
	}
	return domain.Employee{ID: ids[0]}
}

func TestComingBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		first := f.employee("E1")
		if _, err := f.patch("E1", domain.EmployeePatch{Tags: ptr([]string{"shift"})}); err != nil {
			t.Fatal(err)
		}
		a := f.assign("A1", "E1", f.addAssessment())
		f.offboard("E1")
		waitUntil(t, s, first.JoinedAt.Add(time.Millisecond))
		e, status, err := f.provision("E5", "e1@X.test")
		if err != nil || status != domain.ProvisionLinked {
			t.Fatalf("%s, %v", status, err)
		}
		if e.ID != first.ID || !e.JoinedAt.After(first.JoinedAt) || e.Name != "Name of E5" {
			t.Errorf("the employee came back as %+v, before %+v", e, first)
		}
		e, list, err := s.Employee(t.Context(), f.c.Company.ID, "E5")
		if err != nil || len(list) != 0 {
			t.Errorf("an employee who came back has assignments: %v, %v", list, err)
		}
		equal(t, "tags", e.Tags, []string{"shift"})
		_, err = s.Assignment(t.Context(), f.c.Company.ID, a.ID)
		wantCode(t, "the old assignment", err, domain.CodeAssignmentRevoked)
		_, _, err = s.Employee(t.Context(), f.c.Company.ID, "E1")
		wantCode(t, "the old externalId", err, domain.CodeEmployeeNotFound)
	})
}

// waitUntil waits until the database's clock has reached the instant.
func waitUntil(t *testing.T, s *store.Store, at time.Time) {
	t.Helper()
	for s.Now().Before(at) {
		select {
		case <-t.Context().Done():
			t.Fatal("the database's clock did not reach the instant")
		case <-time.After(time.Until(at) + time.Millisecond):
		}
	}
}

// Join sets tags and role in the same transaction, so that a crash leaves nobody half
// added, and its event has both.
func TestJoinWithTagsAndRole(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		for _, want := range []domain.Newcomer{
			{Email: "eva@x.test", Name: "Eva", Tags: []string{"night", "office"}, Role: domain.RoleManager},
			{Email: "eva@x.test", Name: "Eva B", Tags: []string{"day"}, Role: domain.RoleAdmin}, // a former employee then
			{Email: "eva@x.test", Name: "Eva", Tags: []string{}, Role: domain.RoleEmployee},
		} {
			e, err := s.Join(t.Context(), f.c, want)
			if err != nil {
				t.Fatal(err)
			}
			stored, err := s.EmployeeRecord(t.Context(), f.c.Company.ID, e.ID)
			if err != nil || stored.Role != want.Role || !slices.Equal(stored.Tags, want.Tags) || stored.Name != want.Name {
				t.Errorf("stored %+v, %v, want %+v", stored.Employee, err, want)
			}
			equal(t, "tags", texts(t, s, `SELECT tag FROM employee_tags WHERE employee_id = $1 ORDER BY tag`, e.ID), want.Tags)
			bodies := column[[]byte](t, s, `SELECT body FROM events WHERE company_id = $1 ORDER BY id DESC LIMIT 1`, f.c.Company.ID)
			var sent struct {
				Data struct {
					Role domain.Role
					Tags []string
				}
			}
			if err := json.Unmarshal(bodies[0], &sent); err != nil || sent.Data.Role != want.Role || !slices.Equal(sent.Data.Tags, want.Tags) {
				t.Errorf("the event is %s, %v, want the tags and the role of %+v", bodies[0], err, want)
			}
			equal(t, "audit", f.audit()[len(f.audit())-1:], []string{"employee.joined"})
			leave := false
			if _, err := s.PatchEmployeeByID(t.Context(), f.c, e.ID, domain.EmployeePatch{Active: &leave}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestJoin(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		e, err := s.Join(t.Context(), f.c, domain.Newcomer{Email: "anna@x.test", Name: "Anna", Role: domain.RoleEmployee})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "events", f.events(), []string{"employee.joined "})
		_, err = s.Join(t.Context(), f.c, domain.Newcomer{Email: "ANNA@x.test", Name: "Anna", Role: domain.RoleEmployee})
		wantCode(t, "joining twice", err, domain.CodeEmailTaken)
		_, err = s.Join(t.Context(), f.c, domain.Newcomer{Email: "bob@x.test", Name: "Bob", Role: domain.RoleEmployee})
		if err != nil {
			t.Error("join a second employee without an externalId:", err)
		}
		if _, _, err := f.provision("E1", "anna@x.test"); err != nil {
			t.Fatal(err)
		}
		f.offboard("E1")
		back, err := s.Join(t.Context(), f.c, domain.Newcomer{Email: "Anna@x.test", Name: "Anna B", Role: domain.RoleEmployee})
		if err != nil || back.ID != e.ID || back.ExternalID != "" || back.Name != "Anna B" {
			t.Errorf("join a former employee: %+v, %v", back, err)
		}
		_, _, err = s.Employee(t.Context(), f.c.Company.ID, "E1")
		wantCode(t, "the externalId they had", err, domain.CodeEmployeeNotFound)
	})
}
