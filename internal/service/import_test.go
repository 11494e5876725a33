package service_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// TestImportContinuesAfterACrash carries rows out, loses the progress as a process
// that is killed would, and lets another process continue.
func TestImportContinuesAfterACrash(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, anna := f.companyWithPassword("anna@x.test")
		c := anna.Caller(here)
		var table strings.Builder
		table.WriteString("id,name,email,tags\n")
		for n := range 1100 {
			fmt.Fprintf(&table, "E%d,Name %d,e%d@import.test,a;b\n", n, n, n)
		}
		jobs := service.NewJobs(f.store, slog.New(slog.DiscardHandler))
		imports := service.NewImports(f.store, jobs)
		in, err := imports.Upload(ctx, c, "people.csv", []byte(table.String()))
		must(f.t, "upload", err)
		check, err := imports.Check(ctx, c, in)
		must(f.t, "check", err)
		if check.Counts[domain.ImportNew] != 1100 {
			f.t.Fatalf("the check counts %v, want 1100 new", check.Counts)
		}
		must(f.t, "start", imports.Start(ctx, c, in))
		if err := imports.Start(ctx, c, in); domain.CodeOf(err) != domain.CodeConflict {
			f.t.Errorf("start twice: %v", err)
		}
		// The first rows are carried out, but the progress is lost.
		people := make([]domain.Provision, 500)
		for n := range people {
			people[n] = domain.Provision{ExternalID: fmt.Sprintf("E%d", n), Email: fmt.Sprintf("e%d@import.test", n), Name: fmt.Sprintf("Name %d", n), Tags: []string{"a", "b"}}
		}
		_, err = f.store.ProvisionAll(ctx, c, people)
		must(f.t, "provision", err)

		next := service.NewJobs(f.store, slog.New(slog.DiscardHandler))
		service.NewImports(f.store, next)
		must(f.t, "run", next.RunOpen(ctx))
		in, _, err = imports.Get(ctx, c, in.ID)
		must(f.t, "get", err)
		job, err := next.Get(ctx, c, in.JobID)
		must(f.t, "job", err)
		if job.Running() || job.Done != 1100 || job.Problem != "" {
			text, _ := json.Marshal(job)
			f.t.Errorf("the job is %s", text)
		}
		list, err := f.store.Employees(ctx, c.Company.ID, domain.EmployeeFilter{Tag: "b"}, domain.PageRequest{Number: 1, Limit: 1})
		must(f.t, "list", err)
		if list.Total != 1100 {
			f.t.Errorf("%d employees have the tag, want 1100", list.Total)
		}
		if list.Items[0].Tags[1] != "b" {
			f.t.Errorf("the tags are %v", list.Items[0].Tags)
		}
	})
}

// TestFailedRowNamesItsPerson checks a file in which the rows of three employees are wrong,
// each in another way: they are in the file, so they are not missing from it.
func TestFailedRowNamesItsPerson(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, anna := f.companyWithPassword("anna@x.test")
		c := anna.Caller(here)
		for _, id := range []string{"E1", "E2", "E3", "E4"} {
			_, _, err := f.store.Provision(ctx, c, domain.Provision{ExternalID: id, Email: id + "@x.test", Name: "Name"})
			must(f.t, "provision", err)
		}
		imports := service.NewImports(f.store, service.NewJobs(f.store, slog.New(slog.DiscardHandler)))
		in, err := imports.Upload(ctx, c, "people.csv", []byte("id,name,email,course\nE1,One,no address,\nE2,Two,E1@x.test,\n,Three,E3@x.test,Nonsense\n"))
		must(f.t, "upload", err)
		check, err := imports.Check(ctx, c, in)
		must(f.t, "check", err)
		if check.Counts[domain.ImportFailed] != 3 || check.Missing != 1 || check.MissingPeople[0].ExternalID != "E4" {
			f.t.Errorf("the check counts %v and misses %v, want 3 failed and E4 missing", check.Counts, check.MissingPeople)
		}
	})
}

// TestColumnsAreRememberedForGood matches columns with names that nobody could guess, and
// uploads the same columns again when the first file is no longer kept. Another company
// remembers nothing of it.
func TestColumnsAreRememberedForGood(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, anna := f.companyWithPassword("anna@x.test")
		_, olaf := f.companyWithPassword("olaf@x.test")
		c, stranger := anna.Caller(here), olaf.Caller(here)
		imports := service.NewImports(f.store, service.NewJobs(f.store, slog.New(slog.DiscardHandler)))
		upload := func(c domain.Caller) domain.Import {
			f.t.Helper()
			in, err := imports.Upload(ctx, c, "people.csv", []byte("Kolumna A,Kolumna B,department\nAnna,anna@import.test,Riga\n"))
			must(f.t, "upload", err)
			return in
		}
		in := upload(c)
		if want := []domain.ImportField{"", "", domain.ImportTags}; !slices.Equal(in.Fields, want) {
			f.t.Fatalf("the first proposal is %q, want %q", in.Fields, want)
		}
		chosen := []domain.ImportField{domain.ImportName, domain.ImportEmail, ""}
		in.Fields = chosen
		must(f.t, "match", imports.Match(ctx, c, in))
		must(f.t, "expire", f.store.ExpireImports(ctx, f.store.Now().Add(time.Hour)))
		if again := upload(c); !slices.Equal(again.Fields, chosen) {
			f.t.Errorf("the proposal is %q, want what was chosen, %q", again.Fields, chosen)
		}
		if other := upload(stranger); other.Fields[0] != "" {
			f.t.Errorf("another company is proposed %q", other.Fields)
		}
	})
}
