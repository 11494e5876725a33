package storetest_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		var want []string
		for i := range store.MaxImports + 5 {
			want = append(want, strconv.FormatInt(f.upload(t, fmt.Sprintf("p%d@x.test", i)).ID, 10))
		}
		want = append([]string{strconv.FormatInt(running.ID, 10)}, want[5:]...)
		got := storetest.Texts(t, s, `SELECT CAST(i.id AS text) FROM imports i WHERE i.company_id = $1 ORDER BY i.id`, f.c.Company.ID)
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

// What the columns of a company's imports hold is remembered up to a number of heads:
// those that were chosen longest ago are forgotten. A head that is too long for an index,
// or that stands above two columns, does no harm.
func TestRememberedColumnsAreBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		match := func(f testCompany, fields []domain.ImportField, heads ...string) {
			t.Helper()
			made, err := s.AddImport(t.Context(), f.c, domain.Import{FileName: "people.csv", Header: heads, Fields: fields}, nil)
			if err == nil {
				err = s.SetImportFields(t.Context(), made)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		long := strings.Repeat("x", 4000)
		match(other, []domain.ImportField{domain.ImportName, domain.ImportEmail, "", "", ""}, "A", "A", long, "", "B")
		match(other, []domain.ImportField{domain.ImportTags}, "A")
		got, err := s.ImportColumns(t.Context(), other.c.Company.ID, []string{"A", "B", "C", long, ""})
		if err != nil || len(got) != 2 || got["A"] != domain.ImportTags || got["B"] != "" {
			t.Errorf("remembered are %d columns, %q, %v; want A and B", len(got), got["A"], err)
		}
		const files, columns = 12, 50
		for file := range files {
			heads, fields := make([]string, columns), make([]domain.ImportField, columns)
			for n := range heads {
				heads[n] = fmt.Sprintf("Head %d of file %d", n, file)
			}
			match(f, fields, heads...)
		}
		kept := storetest.Texts(t, s, `SELECT c.head FROM import_columns c WHERE c.company_id = $1`, f.c.Company.ID)
		if len(kept) != store.MaxImportColumns || slices.Contains(kept, "Head 0 of file 0") || !slices.Contains(kept, "Head 0 of file 11") {
			t.Errorf("%d heads are remembered, want the latest %d", len(kept), store.MaxImportColumns)
		}
		if kept := storetest.Texts(t, s, `SELECT c.head FROM import_columns c WHERE c.company_id = $1`, other.c.Company.ID); len(kept) != 2 {
			t.Errorf("the other company has %q", kept)
		}
	})
}
