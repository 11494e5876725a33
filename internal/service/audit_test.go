package service_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func TestAuditPages(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("anna@x.test")
		other, _ := f.company("bob@x.test")
		f.token(other)
		c := anna.Caller(here)
		for i := range 12 {
			_, _, err := f.tokens.Create(ctx, c, domain.NewToken{Name: fmt.Sprintf("token %d", i)})
			must(f.t, "create", err)
		}
		walk := func(filter domain.AuditFilter, limit int) (out []domain.AuditEntry) {
			page := domain.PageRequest{Limit: limit}
			for {
				got, err := f.audit.List(ctx, c, filter, page)
				must(f.t, "list", err)
				out = append(out, got.Items...)
				if page.After = service.NextAuditCursor(got); page.After == nil {
					return out
				}
			}
		}
		all := walk(domain.AuditFilter{}, 100)
		if len(all) != 16 || all[0].Detail != "token 11" || all[15].Action != "company.created" {
			f.t.Fatalf("%d entries: %+v", len(all), all)
		}
		first := all[0]
		want := domain.AuditEntry{
			CompanyID: acme.ID, ID: first.ID, At: first.At, Actor: c.Actor, Action: "token.created", RecordKind: "token", RecordID: first.RecordID, Detail: "token 11",
		}
		if diff := cmp.Diff(want, first); diff != "" {
			f.t.Error(diff)
		}
		for _, limit := range []int{1, 5, 16} {
			if diff := cmp.Diff(all, walk(domain.AuditFilter{}, limit)); diff != "" {
				f.t.Errorf("in pages of %d: %s", limit, diff)
			}
		}
		var exported []domain.AuditEntry
		must(f.t, "export", f.store.AuditReport(ctx, c.Company.ID, domain.AuditFilter{}, func(rows []domain.AuditEntry) error {
			exported = append(exported, rows...)
			return nil
		}))
		if diff := cmp.Diff(all, exported); diff != "" {
			f.t.Error(diff)
		}
		stop := errors.New("enough")
		wantErr(f.t, "an export that is cut", f.store.AuditReport(ctx, c.Company.ID, domain.AuditFilter{}, func([]domain.AuditEntry) error { return stop }), stop)

		middle, past := all[5].At, all[15].At.Add(-time.Hour)
		for name, row := range map[string]struct {
			filter domain.AuditFilter
			want   int
		}{
			"tokens":          {domain.AuditFilter{Action: "token."}, 12},
			"one action":      {domain.AuditFilter{Action: "company.created"}, 1},
			"no wildcard":     {domain.AuditFilter{Action: "%token"}, 0},
			"no joker either": {domain.AuditFilter{Action: "token_"}, 0},
			"people":          {domain.AuditFilter{Actor: domain.ActorPerson}, 14},
			"the operator":    {domain.AuditFilter{Actor: domain.ActorOperator, Action: "admin"}, 1},
			"since long":      {domain.AuditFilter{From: &past}, 16},
			"before all":      {domain.AuditFilter{To: &past}, 0},
		} {
			if got := walk(row.filter, 7); len(got) != row.want {
				f.t.Errorf("%s: %d entries, want %d", name, len(got), row.want)
			}
		}
		if before, after := walk(domain.AuditFilter{To: &middle}, 7), walk(domain.AuditFilter{From: &middle}, 7); len(before)+len(after) != 16 || len(after) < 6 {
			f.t.Errorf("%d before and %d after", len(before), len(after))
		}
		_, err := f.audit.List(ctx, c, domain.AuditFilter{Actor: "robot"}, domain.PageRequest{Limit: 1})
		wantCode(f.t, "an unknown actor", err, domain.CodeInvalid)
		reports := service.NewReports(f.store, service.ReportOptions{})
		err = reports.WriteAuditLog(ctx, c, domain.AuditFilter{Actor: "robot"}, service.ReportFile{Format: service.ReportCSV})
		wantCode(f.t, "export of an unknown actor", err, domain.CodeInvalid)
	})
}

func TestAuditSearch(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("Anna@x.test")
		_, bob := f.companyWithPassword("bob@x.test")
		by := anna.Caller(service.Origin{RequestID: "req-7"})
		token, _, err := f.tokens.Create(ctx, by, domain.NewToken{Name: "HR sync"})
		must(f.t, "create", err)
		machine := domain.Caller{Company: acme, Actor: domain.Actor{Kind: domain.ActorToken, ID: token.ID, Label: "HR sync", RequestID: "req-2"}}
		for _, c := range []domain.Caller{machine, bob.Caller(here)} {
			for _, id := range []string{"E1", "E2"} {
				_, _, err := f.store.Provision(ctx, c, domain.Provision{ExternalID: id, Email: id + fmt.Sprint(c.Company.ID) + "@x.test", Name: "Eva Ek"})
				must(f.t, "provision", err)
			}
		}
		search := func(filter domain.AuditFilter) (out []string) {
			page := domain.PageRequest{Limit: 1}
			for {
				got, err := f.audit.List(ctx, by, filter, page)
				must(f.t, "search", err)
				for _, e := range got.Items {
					out = append(out, e.Action)
				}
				if page.After = service.NextAuditCursor(got); page.After == nil {
					break
				}
			}
			var exported []string
			must(f.t, "export", f.store.AuditReport(ctx, by.Company.ID, filter, func(rows []domain.AuditEntry) error {
				for _, e := range rows {
					exported = append(exported, e.Action)
				}
				return nil
			}))
			if diff := cmp.Diff(out, exported); diff != "" {
				f.t.Errorf("%+v: shown and exported differ: %s", filter, diff)
			}
			return out
		}
		const joined = "employee.provisioned"
		for _, row := range []struct {
			filter domain.AuditFilter
			want   []string
		}{
			{domain.AuditFilter{Search: "E1"}, []string{joined}},
			{domain.AuditFilter{Search: "req-2"}, []string{joined, joined}},
			{domain.AuditFilter{Search: "req-7"}, []string{"token.created"}},
			{domain.AuditFilter{Search: "HR sync"}, []string{joined, joined, "token.created"}},
			{domain.AuditFilter{Search: "hr s", Action: "token."}, []string{"token.created"}},
			{domain.AuditFilter{Search: "eva"}, []string{joined, joined}},
			{domain.AuditFilter{Search: fmt.Sprintf("Token %d", token.ID)}, []string{"token.created"}},
			{domain.AuditFilter{Search: "anna@X.test", Action: "token."}, []string{"token.created"}},
			{domain.AuditFilter{Search: "anna@x.test", Actor: domain.ActorToken}, nil},
			{domain.AuditFilter{Search: "bob@x.test"}, nil},
			{domain.AuditFilter{Search: "nobody"}, nil},
			{domain.AuditFilter{Search: "%"}, nil},
		} {
			if diff := cmp.Diff(row.want, search(row.filter)); diff != "" {
				f.t.Errorf("%+v (- want): %s", row.filter, diff)
			}
		}
		must(f.t, "erase", f.store.DeleteEmployee(ctx, machine, "E1"))
		if got := search(domain.AuditFilter{Search: "E1"}); len(got) != 0 {
			f.t.Errorf("an erased person is found by what they were called: %v", got)
		}
	})
}

func TestAuditShowsPeopleAsTheyAre(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("anna@x.test")
		c := anna.Caller(here)
		employee, _, err := f.store.Provision(ctx, c, domain.Provision{ExternalID: "E1", Email: "eva@x.test", Name: "Eva Ek"})
		must(f.t, "provision", err)
		labels := func() (employees, records []string) {
			page, err := f.audit.List(ctx, f.caller(acme), domain.AuditFilter{}, domain.PageRequest{Limit: 100})
			must(f.t, "list", err)
			for _, e := range page.Items {
				if e.EmployeeID == employee.ID || e.EmployeeID == domain.ErasedEmployeeID {
					employees = append(employees, e.EmployeeLabel)
				} else if e.EmployeeLabel != "" {
					f.t.Errorf("%s is labelled %q", e.Action, e.EmployeeLabel)
				}
				if e.Action == "administrator.invited" {
					records = append(records, e.RecordLabel)
				}
			}
			return employees, records
		}
		employees, records := labels()
		if diff := cmp.Diff([]string{"Eva Ek"}, employees) + cmp.Diff([]string{"anna@x.test"}, records); diff != "" {
			f.t.Error(diff)
		}
		must(f.t, "erase", f.store.DeleteEmployee(ctx, c, "E1"))
		const addresses = `SELECT count(*) FROM audit_entries WHERE action LIKE 'employee.%' AND
			actor_label || ' ' || record_id || ' ' || detail || ' ' || request_id || ' ' || address LIKE `
		if n := f.count(addresses + `'%@%'`); n != 0 {
			f.t.Errorf("%d entries about an erased employee hold an address, want none: administrators are named by id", n)
		}
		if employees, _ = labels(); len(employees) != 2 || employees[0] != domain.ErasedEmployee || employees[1] != domain.ErasedEmployee {
			f.t.Errorf("an erased employee is shown as %q", employees)
		}
		f.exec(`DELETE FROM company_administrators`)
		f.exec(`DELETE FROM administrators`)
		if _, records = labels(); records[0] != domain.FormerAdministrator {
			f.t.Errorf("an administrator who is gone is shown as %q", records)
		}
	})
}

func TestSweep(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		_, id := f.companyWithPassword("anna@x.test")
		f.session(id.Administrator.ID, "live")
		_, _, err := f.administrators.Invite(f.t.Context(), id.Caller(here), invitation("bob@x.test"))
		must(f.t, "invite", err)
		_, err = f.signIn.Password(f.t.Context(), "anna@x.test", "wrong", here)
		wantErr(f.t, "wrong password", err, domain.ErrWrongCredentials)
		rows := func() [3]int {
			return [3]int{f.count(`SELECT count(*) FROM sessions`), f.count(`SELECT count(*) FROM sign_in_throttles`), f.count(`SELECT count(*) FROM sign_in_links`)}
		}
		must(f.t, "sweep", f.sessions.Sweep(f.t.Context()))
		if got := rows(); got != [3]int{1, 2, 2} {
			f.t.Errorf("after a sweep of what is live: %v", got)
		}
		old := f.store.Now().Add(-60 * 24 * time.Hour)
		f.exec(`UPDATE sessions SET expires_at = $1`, old)
		f.exec(`UPDATE sign_in_throttles SET blocked_until = $1, updated_at = $1`, old)
		f.exec(`UPDATE sign_in_links SET expires_at = $1`, old)
		must(f.t, "sweep", f.sessions.Sweep(f.t.Context()))
		if got := rows(); got != [3]int{} {
			f.t.Errorf("after a sweep of what is past: %v", got)
		}
	})
}
