package storetest_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

var operator = domain.Actor{Kind: domain.ActorOperator, Label: "operator"}

// createCompany creates a company as the operator does, with a link for its administrator.
func createCompany(t *testing.T, s *store.Store, name, email string) testCompany {
	t.Helper()
	made, err := s.CreateCompany(t.Context(), operator, domain.NewCompany{Name: name, AdminEmail: email, TimeZone: "Europe/Riga"}, linkOf(domain.LinkOperator, name))
	wantNoError(t, "create a company", err)
	return testCompany{t, s, domain.Caller{Company: made, Actor: operator}}
}

func TestCompanyIsCreated(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		f := createCompany(t, s, "Ours", "Ann@x.test")
		got, err := s.Company(ctx, f.c.Company.ID)
		wantNoError(t, "read", err)
		want := domain.Company{ID: got.ID, Name: "Ours", TimeZone: "Europe/Riga", DefaultDeadlineDays: domain.DefaultDeadlineDays, CreatedAt: got.CreatedAt}
		equal(t, "the company", got, want)
		link, err := s.SignInLink(ctx, sha256.Sum256([]byte("Ours")))
		if err != nil || link.CompanyID != got.ID || link.CompanyName != "Ours" || link.Administrator.Email != "Ann@x.test" {
			t.Errorf("the link is %+v, %v", link, err)
		}
		members, _ := f.memberRoles()
		equal(t, "members", members, []string{"Ann@x.test owner by operator"})
		f.provisionAll("E1")
		counted, err := s.Employees(ctx, got.ID, domain.EmployeeFilter{}, firstTen)
		if err != nil || counted.Total != 1 {
			t.Errorf("%d employees are counted, %v; want 1", counted.Total, err)
		}
		if kept := number(t, s, `SELECT count(*) FROM total_companies WHERE company_id = $1 AND kept_at IS NOT NULL AND figures_kept_at IS NOT NULL`, got.ID); kept != 1 {
			t.Error("the totals of a new company are not complete")
		}

		// Someone who serves a company already joins the second one when they use the link.
		second := createCompany(t, s, "Second", "ann@x.test")
		members, invited := second.memberRoles()
		equal(t, "members of the second", members, []string{})
		equal(t, "invited to the second", invited, []string{"Ann@x.test owner Ann of Second"})
		third := createCompany(t, s, "Third", "bob@x.test")
		equal(t, "audit", third.audit(), []string{"company.created", "administrator.invited"})

		var names []string
		page := domain.PageRequest{Limit: 2}
		for more := true; more; {
			list, err := s.Companies(ctx, page)
			if err != nil || list.Total != 3 {
				t.Fatalf("%d companies, %v; want 3", list.Total, err)
			}
			for _, c := range list.Items {
				names = append(names, c.Name)
			}
			page.After, more = &domain.Cursor{ID: list.Items[len(list.Items)-1].ID}, list.More
		}
		equal(t, "companies by id, in pages of two", names, []string{"Ours", "Second", "Third"})
	})
}

func TestCompanySettings(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
		f.createToken("token")
		bodies := domain.RequestBodiesOff
		in := domain.CompanySettings{Name: ptr("New name"), TimeZone: ptr("Asia/Tokyo"), DefaultDeadlineDays: ptr(7), RequestBodies: &bodies}
		for range 2 { // the second time changes nothing
			got, err := s.UpdateCompany(ctx, f.c, in)
			wantNoError(t, "update", err)
			want := domain.Company{ID: got.ID, Name: "New name", TimeZone: "Asia/Tokyo", DefaultDeadlineDays: 7, RequestBodies: bodies, CreatedAt: got.CreatedAt}
			equal(t, "the answer", got, want)
			equal(t, "the company of its token", lookUp(t, s, "token").Token.Company, want)
		}
		version := lookUp(t, s, "token").Version
		for _, suspended := range []bool{true, true, false} {
			got, err := s.SuspendCompany(ctx, operator, f.c.Company.ID, suspended)
			wantNoError(t, "suspend or resume", err)
			equal(t, "suspended, in the answer", got.Suspended(), suspended)
			equal(t, "suspended, by its token", lookUp(t, s, "token").Token.Company.Suspended(), suspended)
		}
		equal(t, "changes that other processes notice", lookUp(t, s, "token").Version-version, int64(2))
		unchanged, err := s.Company(ctx, other.c.Company.ID)
		if err != nil || unchanged.Name != other.c.Company.Name || unchanged.Suspended() {
			t.Errorf("the other company is %+v, %v", unchanged, err)
		}
		nobody := other.c
		nobody.Company.ID += 100
		_, err = s.UpdateCompany(ctx, nobody, in)
		wantCode(t, "update none", err, domain.CodeCompanyNotFound)
		_, err = s.SuspendCompany(ctx, operator, nobody.Company.ID, true)
		wantCode(t, "suspend none", err, domain.CodeCompanyNotFound)
		equal(t, "audit", f.audit(), []string{"token.created", "settings.changed", "company.suspended", "company.resumed"})
	})
}

// A company's export has its rows, whatever the table, and neither secrets nor the rows of
// others.
func TestCompanyExport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
		other.provisionAll("X1")
		other.createToken("theirs")
		f.createToken("ours, of which the hash stays here")
		storetest.Endpoint(t, s, f.c.Company.ID)
		f.provisionAll("E1")
		f.mustPatch("E1", domain.EmployeePatch{Tags: ptr([]string{"night"})})
		f.assign("A1", "E1", f.addAssessment())
		rows, lines := map[string]int{}, []string{}
		wantNoError(t, "export", s.ExportCompany(ctx, f.c.Company.ID, func(table string, row map[string]any) error {
			rows[table]++
			text, err := json.Marshal(row)
			lines = append(lines, table+" "+string(text))
			return err
		}))
		counts, err := s.CountCompanyRows(ctx, f.c.Company.ID)
		wantNoError(t, "count", err)
		for _, table := range []string{"employees", "assignments", "tokens", "endpoints", "events", "deliveries", "audit_entries"} {
			if rows[table] == 0 || int64(rows[table]) != counts[table] {
				t.Errorf("%d rows of %s are exported, want %d", rows[table], table, counts[table])
			}
		}
		all := strings.Join(lines, "\n")
		for _, want := range []string{`"tags":["night"]`, `"external_id":"A1"`, `"is_required":false`, fmt.Sprintf(`"company_id":%d`, f.c.Company.ID)} {
			if !strings.Contains(all, want) {
				t.Errorf("the export lacks %s", want)
			}
		}
		for _, secret := range []string{`"hash"`, `"secret"`, "x1@x.test", "theirs", fmt.Sprintf(`"company_id":%d`, other.c.Company.ID)} {
			if strings.Contains(all, secret) {
				t.Errorf("the export holds %s", secret)
			}
		}
		failed := errors.New("the disk is full")
		err = s.ExportCompany(ctx, f.c.Company.ID, func(string, map[string]any) error { return failed })
		if !errors.Is(err, failed) {
			t.Errorf("an export that cannot be written: %v", err)
		}
	})
}
