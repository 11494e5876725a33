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
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, anna := o.settled("anna@x.test")
		other, _ := o.company("bob@x.test")
		o.token(other)
		c := anna.Caller(here)
		for i := range 12 {
			_, _, err := o.tokens.Create(ctx, c, domain.NewToken{Name: fmt.Sprintf("token %d", i)})
			must(o.t, "create", err)
		}
		walk := func(f domain.AuditFilter, limit int) (out []domain.AuditEntry) {
			page := domain.PageRequest{Limit: limit}
			for {
				got, err := o.audit.List(ctx, c, f, page)
				must(o.t, "list", err)
				out = append(out, got.Items...)
				if page.After = service.NextAudit(got); page.After == nil {
					return out
				}
			}
		}
		all := walk(domain.AuditFilter{}, 100)
		if len(all) != 16 || all[0].Detail != "token 11" || all[15].Action != "company.created" {
			o.t.Fatalf("%d entries: %+v", len(all), all)
		}
		first := all[0]
		want := domain.AuditEntry{
			CompanyID: acme.ID, ID: first.ID, At: first.At, Actor: c.Actor, Action: "token.created", RecordKind: "token", RecordID: first.RecordID, Detail: "token 11",
		}
		if diff := cmp.Diff(want, first); diff != "" {
			o.t.Error(diff)
		}
		for _, limit := range []int{1, 5, 16} {
			if diff := cmp.Diff(all, walk(domain.AuditFilter{}, limit)); diff != "" {
				o.t.Errorf("in pages of %d: %s", limit, diff)
			}
		}
		var exported []domain.AuditEntry
		must(o.t, "export", o.audit.Export(ctx, c, domain.AuditFilter{}, func(e domain.AuditEntry) error {
			exported = append(exported, e)
			return nil
		}))
		if diff := cmp.Diff(all, exported); diff != "" {
			o.t.Error(diff)
		}
		stop := errors.New("enough")
		wantErr(o.t, "an export that is cut", o.audit.Export(ctx, c, domain.AuditFilter{}, func(domain.AuditEntry) error { return stop }), stop)

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
				o.t.Errorf("%s: %d entries, want %d", name, len(got), row.want)
			}
		}
		if before, after := walk(domain.AuditFilter{To: &middle}, 7), walk(domain.AuditFilter{From: &middle}, 7); len(before)+len(after) != 16 || len(after) < 6 {
			o.t.Errorf("%d before and %d after", len(before), len(after))
		}
		_, err := o.audit.List(ctx, c, domain.AuditFilter{Actor: "robot"}, domain.PageRequest{Limit: 1})
		wantCode(o.t, "an unknown actor", err, domain.CodeInvalid)
		wantCode(o.t, "an unknown actor", o.audit.Export(ctx, c, domain.AuditFilter{Actor: "robot"}, nil), domain.CodeInvalid)
	})
}

func TestAuditSearch(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, anna := o.settled("Anna@x.test")
		_, bob := o.settled("bob@x.test")
		by := anna.Caller(service.Origin{RequestID: "req-7"})
		token, _, err := o.tokens.Create(ctx, by, domain.NewToken{Name: "HR sync"})
		must(o.t, "create", err)
		machine := domain.Caller{Company: acme, Actor: domain.Actor{Kind: domain.ActorToken, ID: token.ID, Label: "HR sync", RequestID: "req-2"}}
		for _, c := range []domain.Caller{machine, bob.Caller(here)} {
			for _, id := range []string{"E1", "E2"} {
				_, _, err := o.store.Provision(ctx, c, domain.Provision{ExternalID: id, Email: id + fmt.Sprint(c.Company.ID) + "@x.test", Name: "Eva Ek"})
				must(o.t, "provision", err)
			}
		}
		search := func(f domain.AuditFilter) (out []string) {
			page := domain.PageRequest{Limit: 1}
			for {
				got, err := o.audit.List(ctx, by, f, page)
				must(o.t, "search", err)
				for _, e := range got.Items {
					out = append(out, e.Action)
				}
				if page.After = service.NextAudit(got); page.After == nil {
					break
				}
			}
			var exported []string
			must(o.t, "export", o.audit.Export(ctx, by, f, func(e domain.AuditEntry) error {
				exported = append(exported, e.Action)
				return nil
			}))
			if diff := cmp.Diff(out, exported); diff != "" {
				o.t.Errorf("%+v: shown and exported differ: %s", f, diff)
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
			{domain.AuditFilter{Search: "HR sync"}, []string{joined, joined}},
			{domain.AuditFilter{Search: "HR sync", Action: "token."}, nil},
			{domain.AuditFilter{Search: fmt.Sprintf("Token %d", token.ID)}, []string{"token.created"}},
			{domain.AuditFilter{Search: "anna@X.test", Action: "token."}, []string{"token.created"}},
			{domain.AuditFilter{Search: "anna@x.test", Actor: domain.ActorToken}, nil},
			{domain.AuditFilter{Search: "bob@x.test"}, nil},
			{domain.AuditFilter{Search: "nobody"}, nil},
			{domain.AuditFilter{Search: "%"}, nil},
		} {
			if diff := cmp.Diff(row.want, search(row.filter)); diff != "" {
				o.t.Errorf("%+v (- want): %s", row.filter, diff)
			}
		}
		must(o.t, "erase", o.store.DeleteEmployee(ctx, machine, "E1"))
		if got := search(domain.AuditFilter{Search: "E1"}); len(got) != 0 {
			o.t.Errorf("an erased person is found by what they were called: %v", got)
		}
	})
}

func TestAuditShowsPeopleAsTheyAre(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, anna := o.settled("anna@x.test")
		c := anna.Caller(here)
		employee, _, err := o.store.Provision(ctx, c, domain.Provision{ExternalID: "E1", Email: "eva@x.test", Name: "Eva Ek"})
		must(o.t, "provision", err)
		labels := func() (employees, records []string) {
			page, err := o.audit.List(ctx, o.caller(acme), domain.AuditFilter{}, domain.PageRequest{Limit: 100})
			must(o.t, "list", err)
			for _, e := range page.Items {
				if e.EmployeeID == employee.ID {
					employees = append(employees, e.EmployeeLabel)
				} else if e.EmployeeLabel != "" {
					o.t.Errorf("%s is labelled %q", e.Action, e.EmployeeLabel)
				}
				if e.Action == "administrator.invited" {
					records = append(records, e.RecordLabel)
				}
			}
			return employees, records
		}
		employees, records := labels()
		if diff := cmp.Diff([]string{"Eva Ek"}, employees) + cmp.Diff([]string{"anna@x.test"}, records); diff != "" {
			o.t.Error(diff)
		}
		must(o.t, "erase", o.store.DeleteEmployee(ctx, c, "E1"))
		const addresses = `SELECT count(*) FROM audit_entries WHERE action LIKE 'employee.%' AND
			actor_label || ' ' || record_id || ' ' || detail || ' ' || request_id || ' ' || address LIKE `
		if own, all := o.count(addresses+`'anna@x.test %'`), o.count(addresses+`'%@%'`); own != 2 || all != own {
			o.t.Errorf("%d entries about an erased employee hold an address, %d that of who serves; want 2", all, own)
		}
		if employees, _ = labels(); len(employees) != 2 || employees[0] != domain.ErasedEmployee || employees[1] != domain.ErasedEmployee {
			o.t.Errorf("an erased employee is shown as %q", employees)
		}
		o.exec(`DELETE FROM company_administrators`)
		o.exec(`DELETE FROM administrators`)
		if _, records = labels(); records[0] != domain.FormerAdministrator {
			o.t.Errorf("an administrator who is gone is shown as %q", records)
		}
	})
}

func TestSweep(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		_, id := o.settled("anna@x.test")
		o.session(id.Administrator.ID, "live")
		_, _, err := o.administrators.Invite(o.t.Context(), id.Caller(here), "bob@x.test", "")
		must(o.t, "invite", err)
		_, err = o.signIn.Password(o.t.Context(), "anna@x.test", "wrong", here)
		wantErr(o.t, "wrong password", err, domain.ErrSignIn)
		rows := func() [3]int {
			return [3]int{o.count(`SELECT count(*) FROM sessions`), o.count(`SELECT count(*) FROM sign_in_throttles`), o.count(`SELECT count(*) FROM sign_in_links`)}
		}
		must(o.t, "sweep", o.sessions.Sweep(o.t.Context()))
		if got := rows(); got != [3]int{1, 2, 2} {
			o.t.Errorf("after a sweep of what is live: %v", got)
		}
		old := o.store.Now().Add(-60 * 24 * time.Hour)
		o.exec(`UPDATE sessions SET expires_at = $1`, old)
		o.exec(`UPDATE sign_in_throttles SET blocked_until = $1, updated_at = $1`, old)
		o.exec(`UPDATE sign_in_links SET expires_at = $1`, old)
		must(o.t, "sweep", o.sessions.Sweep(o.t.Context()))
		if got := rows(); got != [3]int{} {
			o.t.Errorf("after a sweep of what is past: %v", got)
		}
	})
}
