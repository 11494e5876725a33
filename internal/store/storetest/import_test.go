package storetest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// upload stores a table of addresses.
func (f testCompany) upload(t *testing.T, emails ...string) domain.Import {
	t.Helper()
	rows := make([][]string, len(emails))
	for i, email := range emails {
		rows[i] = []string{"Somebody", email}
	}
	in := domain.Import{FileName: "people.csv", Header: []string{"name", "email"}, Fields: []domain.ImportField{domain.ImportName, domain.ImportEmail}}
	made, err := f.s.AddImport(t.Context(), f.c, in, rows)
	if err != nil {
		t.Fatalf("upload: %v", err)
	}
	return made
}

// Files that are uploaded again and again, and never carried out, take bounded space: the
// oldest goes. One that is being carried out stays, and so do those of other companies.
func TestUploadsAreBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		kept := other.upload(t, "kept@x.test")
		running := f.upload(t, "running@x.test")
		if _, err := s.StartImport(t.Context(), f.c, running); err != nil {
			t.Fatalf("start: %v", err)
		}
		var want []int64
		for i := range store.MaxImports + 5 {
			want = append(want, f.upload(t, fmt.Sprintf("p%d@x.test", i)).ID)
		}
		want = append([]int64{running.ID}, want[5:]...)
		found, err := s.LatestImports(t.Context(), f.c.Company.ID, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, in := range slices.Backward(found) {
			got = append(got, in.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the imports are %v, want %v", got, want)
		}
		if _, err := s.Import(t.Context(), other.c.Company.ID, kept.ID); err != nil {
			t.Errorf("the import of another company: %v", err)
		}
		if rows := storetest.Texts(t, s, `SELECT cells FROM import_rows WHERE company_id = $1`, f.c.Company.ID); len(rows) != len(want) {
			t.Errorf("%d rows are stored, want %d", len(rows), len(want))
		}
	})
}

// Deleting an employee removes the rows that hold exactly that address, whatever
// characters it has, and no others.
func TestEraseRemovesUploadedRows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range []struct{ address, uploaded, similar string }{
			{"john_smith@x.test", "John_Smith@X.test", "john.smith@x.test"},
			{"r&d@x.test", "R&D@x.test", "rd@x.test"},
			{"100%@x.test", "100%@x.test", "1000@x.test"},
			{"wow!@x.test", "WOW!@x.test", "wow@x.test"},
			{"ann@x.test", "Ann@x.test", "joann@x.test"},
		} {
			f := newTestCompany(t, s)
			f.upload(t, c.uploaded, c.similar)
			if _, _, err := s.Provision(t.Context(), f.c, domain.Provision{ExternalID: "e", Email: c.address, Name: "E"}); err != nil {
				t.Fatal(err)
			}
			if err := s.DeleteEmployee(t.Context(), f.c, "e"); err != nil {
				t.Fatal(err)
			}
			got := storetest.Texts(t, s, `SELECT cells FROM import_rows WHERE company_id = $1`, f.c.Company.ID)
			if want := []string{`["Somebody","` + c.similar + `"]`}; !slices.Equal(got, want) {
				t.Errorf("after %s was erased the rows are %q, want %q", c.address, got, want)
			}
		}
	})
}

// What a company has uploaded about somebody belongs to what is kept about that person,
// also if the file was never carried out.
func TestPersonHasUploadedRows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		in := f.upload(t, "Zoe_K@x.test", "zoe.k@x.test")
		person, err := s.Person(t.Context(), "zoe_k@x.test")
		if err != nil {
			t.Fatal(err)
		}
		want := domain.PersonMention{CompanyID: f.c.Company.ID, Where: "import_rows.cells", ID: in.ID, Text: `["Somebody","Zoe_K@x.test"]`}
		if len(person.Mentions) != 1 || person.Mentions[0] != want {
			t.Errorf("the mentions are %v, want %v", person.Mentions, want)
		}
		if err := s.ErasePerson(t.Context(), domain.Actor{Kind: domain.ActorOperator}, "zoe_k@x.test"); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Texts(t, s, `SELECT cells FROM import_rows`); !slices.Equal(got, []string{`["Somebody","zoe.k@x.test"]`}) {
			t.Errorf("the rows are %q", got)
		}
	})
}
