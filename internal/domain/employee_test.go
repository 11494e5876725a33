package domain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestDecideProvision(t *testing.T) {
	t.Parallel()
	in := domain.Provision{ExternalID: "E1", Email: "Anna@x.test", Name: "Anna"}
	anna := &domain.Employee{ExternalID: "E1", Email: "anna@X.test"}
	unlinked := &domain.Employee{Email: "anna@x.test"}
	elsewhere := &domain.Employee{ExternalID: "E2", Email: "anna@x.test"}
	namesake := &domain.Employee{ExternalID: "E1", Email: "bob@x.test"}
	for _, c := range []struct {
		name  string
		state domain.ProvisionState
		want  domain.ProvisionAction
		code  domain.Code
	}{
		{"nobody", domain.ProvisionState{}, domain.ProvisionJoin, ""},
		{"the same", domain.ProvisionState{ByExternalID: anna, ByEmail: anna}, domain.ProvisionNothing, ""},
		{"the same, with a former one", domain.ProvisionState{ByExternalID: anna, ByEmail: anna, Former: unlinked}, domain.ProvisionNothing, ""},
		{"the identifier is another's", domain.ProvisionState{ByExternalID: namesake}, 0, domain.CodeExternalIDTaken},
		{"the identifier is another's, the address a third one's",
			domain.ProvisionState{ByExternalID: namesake, ByEmail: elsewhere}, 0, domain.CodeExternalIDTaken},
		{"the identifier is another's, the address is free to link",
			domain.ProvisionState{ByExternalID: namesake, ByEmail: unlinked}, 0, domain.CodeExternalIDTaken},
		{"the address is another's", domain.ProvisionState{ByEmail: elsewhere}, 0, domain.CodeEmailTaken},
		{"not linked yet", domain.ProvisionState{ByEmail: unlinked}, domain.ProvisionSetExternalID, ""},
		{"not linked yet, with a former one", domain.ProvisionState{ByEmail: unlinked, Former: elsewhere}, domain.ProvisionSetExternalID, ""},
		{"a former one", domain.ProvisionState{Former: elsewhere}, domain.ProvisionBringBack, ""},
		{"a former one, the identifier is another's", domain.ProvisionState{ByExternalID: namesake, Former: anna}, 0, domain.CodeExternalIDTaken},
	} {
		act, err := domain.DecideProvision(in, c.state)
		if c.code != "" {
			if err == nil || domain.CodeOf(err) != c.code {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if act != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, act, err)
		}
	}
}

func TestProvisionCheck(t *testing.T) {
	t.Parallel()
	p := domain.Provision{ExternalID: "E1", Email: " Anna@x.test ", Name: " Jose\u0301 "}
	if err := p.Normalize(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(domain.Provision{ExternalID: "E1", Email: "Anna@x.test", Name: "José"}, p); diff != "" {
		t.Error(diff)
	}
	wantFields(t, (&domain.Provision{}).Normalize(), "externalId", "email", "name")
	wantFields(t, (&domain.Provision{ExternalID: " E", Email: "a@b", Name: "A"}).Normalize(), "externalId")
}

func TestEmployeePatch(t *testing.T) {
	t.Parallel()
	e := domain.Employee{ID: 1, Name: "Anna", Email: "a@x.test", Tags: []string{"a", "b"}, Role: domain.RoleManager}
	if p := (domain.EmployeePatch{Active: ptr(true)}); p.Changes(e) {
		t.Error("active alone changes no field")
	}
	same := domain.EmployeePatch{Name: ptr("Anna"), Email: ptr("a@x.test"), Tags: ptr([]string{"a", "b"})}
	if same.Changes(e) {
		t.Error("the same values change nothing")
	}
	for name, p := range map[string]domain.EmployeePatch{
		"name": {Name: ptr("Ann")}, "the case of an address": {Email: ptr("A@x.test")}, "the order of tags": {Tags: ptr([]string{"b", "a"})},
		"no tags": {Tags: ptr([]string{})},
	} {
		if !p.Changes(e) {
			t.Errorf("%s is a change", name)
		}
	}
	p := domain.EmployeePatch{Name: ptr(" Ann "), Tags: ptr([]string{"c", "c"}), Email: ptr(" b@x.test")}
	if err := p.Normalize(); err != nil {
		t.Fatal(err)
	}
	want := domain.Employee{ID: 1, Name: "Ann", Email: "b@x.test", Tags: []string{"c"}, Role: domain.RoleManager}
	if diff := cmp.Diff(want, p.Apply(e)); diff != "" {
		t.Error(diff)
	}
	bad := domain.EmployeePatch{Name: ptr(""), Tags: ptr([]string{""}), Email: ptr("x")}
	wantFields(t, bad.Normalize(), "name", "tags", "email")
}

func TestCheckRole(t *testing.T) {
	t.Parallel()
	for _, r := range []domain.Role{domain.RoleEmployee, domain.RoleManager, domain.RoleAdmin} {
		if err := domain.CheckRole(r); err != nil {
			t.Error(err)
		}
	}
	if domain.CheckRole("owner") == nil || domain.CheckRole("") == nil {
		t.Error("roles that do not exist pass")
	}
}
