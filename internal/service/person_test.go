package service_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func TestPersonIsExportedAndErased(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		people := service.NewPeople(f.store)
		_, err := people.Export(ctx, "pat@x.test")
		wantErr(f.t, "export of a stranger", err, domain.ErrPersonNotFound)
		_, anna := f.companyWithPassword("anna@x.test")
		beta, _ := f.companyWithPassword("bert@x.test")
		for _, c := range []domain.Caller{anna.Caller(here), f.caller(beta)} {
			_, _, err := f.store.Provision(ctx, c, domain.Provision{ExternalID: "E1", Email: "Pat@x.test", Name: "Pat Example"})
			must(f.t, "provision", err)
		}
		pat := f.join(anna.Caller(here), "pat@x.test")
		f.session(pat.Administrator.ID, "pat")
		got, err := people.Export(ctx, " PAT@x.test")
		must(f.t, "export", err)
		text, err := json.Marshal(got)
		must(f.t, "encode", err)
		if len(got.Employments) != 2 || len(got.Employments[0].Events) != 1 || got.Administrator == nil || len(got.Administrator.Sessions) != 1 ||
			len(got.Log) < 4 || !strings.Contains(string(text), "Pat Example") || strings.Contains(string(text), "argon2id") {
			f.t.Errorf("export: %s", text)
		}
		must(f.t, "erase", people.Erase(ctx, operator, "pat@x.test"))
		_, err = people.Export(ctx, "pat@x.test")
		wantErr(f.t, "export after erasure", err, domain.ErrPersonNotFound)
		if _, _, found := f.find("pat"); found {
			f.t.Error("an erased person is still signed in")
		}
		wantErr(f.t, "erase the last owner", people.Erase(ctx, operator, "anna@x.test"), domain.ErrLastOwner)
	})
}
