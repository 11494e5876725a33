package service_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestCompanies(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		for name, bad := range map[string]domain.NewCompany{
			"no name": {AdminEmail: "a@x.test"}, "no address": {Name: "A"}, "no zone": {Name: "A", AdminEmail: "a@x.test", TimeZone: "Mars"},
		} {
			_, _, err := f.companies.Create(ctx, operator, bad)
			wantCode(f.t, name, err, domain.CodeInvalid)
		}
		acme, _ := f.company("anna@x.test")
		if acme.TimeZone != "UTC" || acme.DefaultDeadlineDays != domain.DefaultDeadlineDays || acme.CreatedAt.IsZero() {
			f.t.Errorf("%+v", acme)
		}
		zone, days := "Europe/Riga", 14
		changed, err := f.companies.UpdateSettings(ctx, f.caller(acme), domain.CompanySettings{TimeZone: &zone, DefaultDeadlineDays: &days})
		must(f.t, "change", err)
		_, err = f.companies.UpdateSettings(ctx, f.caller(acme), domain.CompanySettings{TimeZone: &zone})
		must(f.t, "change nothing", err)
		got, err := f.companies.Get(ctx, acme.ID)
		if diff := cmp.Diff(changed, got); diff != "" || err != nil || got.TimeZone != zone || got.DefaultDeadlineDays != days || got.Name != "Acme" {
			f.t.Error(err, diff)
		}
		_, err = f.companies.Get(ctx, 999)
		wantCode(f.t, "get none", err, domain.CodeCompanyNotFound)
		_, err = f.companies.Suspend(ctx, operator, 999)
		wantCode(f.t, "suspend none", err, domain.CodeCompanyNotFound)
		for range 2 {
			held, err := f.companies.Suspend(ctx, operator, acme.ID)
			if err != nil || !held.Suspended() {
				f.t.Errorf("suspend: %+v, %v", held, err)
			}
		}
		for range 2 {
			back, err := f.companies.Resume(ctx, operator, acme.ID)
			if err != nil || back.Suspended() {
				f.t.Errorf("resume: %+v, %v", back, err)
			}
		}
		want := []string{
			"company.created by operator", "administrator.invited by operator", "settings.changed by operator",
			"company.suspended by operator", "company.resumed by operator",
		}
		if diff := cmp.Diff(want, f.actions(acme.ID)); diff != "" {
			f.t.Error(diff)
		}
		f.company("bob@x.test")
		f.company("bob@x.test") // one administrator, two companies
		first, err := f.companies.List(ctx, domain.PageRequest{Number: 1, Limit: 2})
		if err != nil || first.Total != 3 || len(first.Items) != 2 || !first.More {
			f.t.Errorf("%+v, %v", first, err)
		}
		rest, err := f.companies.List(ctx, domain.PageRequest{Limit: 2, After: &domain.Cursor{ID: first.Items[1].ID}})
		if err != nil || len(rest.Items) != 1 || rest.More {
			f.t.Errorf("%+v, %v", rest, err)
		}
		second, err := f.companies.List(ctx, domain.PageRequest{Number: 2, Limit: 2})
		if diff := cmp.Diff(rest, second); diff != "" || err != nil {
			f.t.Error(err, diff)
		}
	})
}
