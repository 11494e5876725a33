package service_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestCompanies(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		for name, bad := range map[string]domain.NewCompany{
			"no name": {AdminEmail: "a@x.test"}, "no address": {Name: "A"}, "no zone": {Name: "A", AdminEmail: "a@x.test", TimeZone: "Mars"},
		} {
			_, _, err := o.companies.Create(ctx, operator, bad)
			wantCode(o.t, name, err, domain.CodeInvalid)
		}
		acme, _ := o.company("anna@x.test")
		if acme.TimeZone != "UTC" || acme.DefaultDeadlineDays != domain.DefaultDeadlineDays || acme.CreatedAt.IsZero() {
			o.t.Errorf("%+v", acme)
		}
		zone, days := "Europe/Riga", 14
		changed, err := o.companies.UpdateSettings(ctx, o.caller(acme), domain.CompanySettings{TimeZone: &zone, DefaultDeadlineDays: &days})
		must(o.t, "change", err)
		_, err = o.companies.UpdateSettings(ctx, o.caller(acme), domain.CompanySettings{TimeZone: &zone})
		must(o.t, "change nothing", err)
		got, err := o.companies.Get(ctx, acme.ID)
		if diff := cmp.Diff(changed, got); diff != "" || err != nil || got.TimeZone != zone || got.DefaultDeadlineDays != days || got.Name != "Acme" {
			o.t.Error(err, diff)
		}
		_, err = o.companies.Get(ctx, 999)
		wantCode(o.t, "get none", err, domain.CodeCompanyNotFound)
		_, err = o.companies.Suspend(ctx, operator, 999)
		wantCode(o.t, "suspend none", err, domain.CodeCompanyNotFound)
		for range 2 {
			held, err := o.companies.Suspend(ctx, operator, acme.ID)
			if err != nil || !held.Suspended() {
				o.t.Errorf("suspend: %+v, %v", held, err)
			}
		}
		for range 2 {
			back, err := o.companies.Resume(ctx, operator, acme.ID)
			if err != nil || back.Suspended() {
				o.t.Errorf("resume: %+v, %v", back, err)
			}
		}
		want := []string{
			"company.created by operator", "administrator.invited by operator", "settings.changed by operator",
			"company.suspended by operator", "company.resumed by operator",
		}
		if diff := cmp.Diff(want, o.actions(acme.ID)); diff != "" {
			o.t.Error(diff)
		}
		o.company("bob@x.test")
		o.company("bob@x.test") // one administrator, two companies
		first, err := o.companies.List(ctx, domain.PageRequest{Number: 1, Limit: 2})
		if err != nil || first.Total != 3 || len(first.Items) != 2 || !first.More {
			o.t.Errorf("%+v, %v", first, err)
		}
		rest, err := o.companies.List(ctx, domain.PageRequest{Limit: 2, After: &domain.Cursor{ID: first.Items[1].ID}})
		if err != nil || len(rest.Items) != 1 || rest.More {
			o.t.Errorf("%+v, %v", rest, err)
		}
		second, err := o.companies.List(ctx, domain.PageRequest{Number: 2, Limit: 2})
		if diff := cmp.Diff(rest, second); diff != "" || err != nil {
			o.t.Error(err, diff)
		}
	})
}
