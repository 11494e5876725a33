package storetest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// importRows returns the rows of an import as "number outcome problem cells".
func (f testCompany) importRows(in domain.Import, outcome domain.ImportOutcome, after int64, limit int) []string {
	f.t.Helper()
	rows, err := f.s.ImportRows(f.t.Context(), in, outcome, after, limit)
	wantNoError(f.t, "read the rows", err)
	out := []string{}
	for _, r := range rows {
		out = append(out, fmt.Sprint(r.Number, " ", r.Outcome, r.Course, " ", r.Problem, " ", r.Cells))
	}
	return out
}

func TestImportIsApplied(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		t.Run("rows", func(t *testing.T) { testImportIsCarriedOut(t, s) })
		t.Run("names", func(t *testing.T) { testImportedNames(t, s) })
	})
}

// testImportIsCarriedOut corrects an uploaded table and carries it out row by row. What was
// carried out is forgotten; what failed stays to be read.
func testImportIsCarriedOut(t *testing.T, s *store.Store) {
	f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
	in, theirs := f.upload(t, "a@x.test", "b@x.test", "c@x.test"), other.upload(t, "z@x.test")
	second := f.upload(t, "second@x.test")
	equal(t, "rows", f.importRows(in, "", 0, 10), []string{"1   [Somebody a@x.test]", "2   [Somebody b@x.test]", "3   [Somebody c@x.test]"})
	equal(t, "the next of them", f.importRows(in, "", 1, 1), []string{"2   [Somebody b@x.test]"})
	equal(t, "those of another company", f.importRows(domain.Import{CompanyID: f.c.Company.ID, ID: theirs.ID}, "", 0, 10), []string{})

	corrected := []domain.ImportRow{{Number: 1, Cells: []string{"Ann", "a@x.test"}}, {Number: 3, Cells: []string{`C "quoted"`, "c@x.test"}}, {Number: 9}}
	wantNoError(t, "correct", s.SetImportCells(ctx, in, corrected))
	equal(t, "corrected rows", f.importRows(in, "", 0, 10), []string{"1   [Ann a@x.test]", "2   [Somebody b@x.test]", `3   [C "quoted" c@x.test]`})
	job, err := s.StartImport(ctx, f.c, in)
	wantNoError(t, "start", err)
	wantCode(t, "correct what was started", s.SetImportCells(ctx, in, corrected[:1]), domain.CodeConflict)

	done := []domain.ImportRow{{Number: 1, Outcome: domain.ImportNew, Course: domain.CourseAssigned}, {Number: 2, Outcome: domain.ImportFailed, Problem: "no luck"}}
	wantNoError(t, "save", s.SaveImportRows(ctx, in, done, job, domain.JobProgress{Cursor: "2", Done: 2}))
	again := []domain.ImportRow{{Number: 2, Outcome: domain.ImportNew}}
	wantCode(t, "save a step twice", s.SaveImportRows(ctx, in, again, job, domain.JobProgress{Cursor: "2", Done: 1}), domain.CodeConflict)
	equal(t, "rows", f.importRows(in, "", 0, 10), []string{"1 newassigned  []", "2 failed no luck [Somebody b@x.test]", `3   [C "quoted" c@x.test]`})
	equal(t, "failed rows", f.importRows(in, domain.ImportFailed, 0, 10), []string{"2 failed no luck [Somebody b@x.test]"})
	equal(t, "failed rows after that", f.importRows(in, domain.ImportFailed, 2, 10), []string{})
	equal(t, "progress", f.job(job.ID).Done, int64(2))
	equal(t, "rows of another import", f.importRows(second, "", 0, 10), []string{"1   [Somebody second@x.test]"})
	equal(t, "rows of another company", other.importRows(theirs, "", 0, 10), []string{"1   [Somebody z@x.test]"})
}

// testImportedNames changes the names of many, with one audit entry each, and only where
// they change.
func testImportedNames(t *testing.T, s *store.Store) {
	f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
	f.provisionAll("E1", "E2", "E3", "E4")
	other.provisionAll("E1")
	ids := map[string]int64{}
	for _, id := range []string{"E1", "E2", "E3", "E4"} {
		ids[id] = f.employee(id).ID
	}
	f.offboard("E4")
	_, err := s.Join(ctx, f.c, domain.Newcomer{Email: "joined@x.test", Name: "Joined", Role: domain.RoleEmployee})
	wantNoError(t, "join", err)
	name := func(n string, tags ...string) domain.EmployeePatch {
		return domain.EmployeePatch{Name: &n, Tags: &tags}
	}
	wantNoError(t, "patch", s.PatchNames(ctx, f.c, map[int64]domain.EmployeePatch{
		ids["E1"]: name("Äda Lovelace", "new"), ids["E2"]: {Name: ptr("Name of E2")}, ids["E4"]: name("Gone"), other.employee("E1").ID: name("Theirs"),
	}))
	var got []string
	wantNoError(t, "read", s.EachEmployee(ctx, f.c.Company.ID, func(e domain.Employee) {
		got = append(got, fmt.Sprintf("%s <%s> %q", e.Name, e.Email, e.ExternalID))
	}))
	equal(t, "live employees, by id", got, []string{
		`Äda Lovelace <e1@x.test> "E1"`, `Name of E2 <e2@x.test> "E2"`, `Name of E3 <e3@x.test> "E3"`, `Joined <joined@x.test> ""`,
	})
	equal(t, "tags", f.tagsOf("E1", "E2"), []string{"E1 [new]", "E2 []"})
	equal(t, "the other company's", other.employee("E1").Name, "Name of E1")
	found, _, err := s.FindPeople(ctx, f.c.Company.ID, "lovel", nil, 10)
	if err != nil || len(found) != 1 || found[0].ID != ids["E1"] {
		t.Errorf("found by the new family name: %+v, %v", found, err)
	}
	audit := texts(t, s, `SELECT detail FROM audit_entries WHERE company_id = $1 AND action = 'employee.changed'`, f.c.Company.ID)
	equal(t, "audit", audit, []string{"Changed: name tags."})
	if at := slices.IndexFunc(f.audit(), func(a string) bool { return a == "employee.changed" }); at != len(f.audit())-1 {
		t.Errorf("the audit log is %v", f.audit())
	}
}
