package storetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// searchableCompany has two people with an assignment each, a token and an endpoint.
func searchableCompany(t *testing.T, s *store.Store) testCompany {
	f := newTestCompany(t, s)
	f.c.Actor = domain.Actor{Kind: domain.ActorOperator, Label: "operator"}
	storetest.Endpoint(t, s, f.c.Company.ID)
	exam := f.addAssessment()
	for _, who := range []domain.Provision{
		{ExternalID: "HR-Anna", Email: "Anna.K@" + strings.ToLower(t.Name()) + ".test", Name: "Anna Karenina"},
		{ExternalID: "hr-olga", Email: "olga@" + strings.ToLower(t.Name()) + ".test", Name: "Ольга Шмидт"},
	} {
		if _, _, err := s.Provision(t.Context(), f.c, who); err != nil {
			t.Fatal(err)
		}
	}
	f.assign("Task-One", "HR-Anna", exam)
	f.assign("task-two", "hr-olga", exam)
	if _, err := s.CreateToken(t.Context(), f.c, domain.NewToken{Name: "Payroll Sync"}, domain.DigestToken(t.Name())); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f testCompany) searchAudit(text string) []string {
	f.t.Helper()
	page, err := f.s.AuditEntries(f.t.Context(), f.c.Company.ID, domain.AuditFilter{Search: text}, domain.PageRequest{Limit: 50})
	if err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for _, e := range page.Items {
		out = append(out, e.Action+" "+e.EmployeeLabel)
	}
	slices.Sort(out)
	return out
}

func (f testCompany) searchDeliveries(text string) []string {
	f.t.Helper()
	page, err := f.s.Deliveries(f.t.Context(), f.c.Company.ID, domain.DeliveryFilter{Search: text}, nil, 50)
	if err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for _, d := range page.Items {
		out = append(out, d.ExternalID)
	}
	slices.Sort(out)
	return out
}

func TestSearchFindsByPrefixWhateverTheCase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := searchableCompany(t, s), newTestCompany(t, s)
		anna := []string{"assignment.created Anna Karenina", "employee.provisioned Anna Karenina"}
		olga := []string{"assignment.created Ольга Шмидт", "employee.provisioned Ольга Шмидт"}
		for _, row := range []struct {
			text              string
			audit, deliveries []string
		}{
			{"anna k", anna, []string{"HR-Anna", "Task-One"}},
			{"KAREN", anna, []string{"HR-Anna", "Task-One"}},
			{"anna.k@", anna, []string{"HR-Anna", "Task-One"}},
			{"hr-ANNA", anna, []string{"HR-Anna", "Task-One"}},
			{"ШМИ", olga, []string{"hr-olga", "task-two"}},
			{"HR-", append(slices.Clone(anna), olga...), []string{"HR-Anna", "Task-One", "hr-olga", "task-two"}},
			{"TASK-O", anna[:1], []string{"Task-One"}},
			{"payroll", []string{"token.created "}, nil},
			{"arenina", nil, nil},
			{"100%_", nil, nil},
		} {
			slices.Sort(row.audit)
			equal(t, "audit entries for "+row.text, f.searchAudit(row.text), row.audit)
			equal(t, "deliveries for "+row.text, f.searchDeliveries(row.text), row.deliveries)
			equal(t, "another company's entries for "+row.text, other.searchAudit(row.text), nil)
		}
		page, err := s.Deliveries(t.Context(), f.c.Company.ID, domain.DeliveryFilter{}, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "deliveries by the first part of an id", len(f.searchDeliveries(strings.ToUpper(page.Items[0].ID[:23]))), 1)
		f.checkLoggedIDs(page.Items[0].ID)
		found, err := s.Tokens(t.Context(), domain.TokenFilter{CompanyID: f.c.Company.ID, Search: "PAY"}, domain.PageRequest{Number: 1, Limit: 10})
		if err != nil || len(found.Items) != 1 {
			t.Errorf("tokens for PAY: %v, %v", found.Items, err)
		}
	})
}

// checkLoggedIDs checks that the log finds what happened to a delivery and what a request
// did by the first part of either id.
func (f testCompany) checkLoggedIDs(delivery string) {
	f.t.Helper()
	c := f.c
	c.Actor.RequestID = "Nightly-Sync.7"
	if err := f.s.Redeliver(f.t.Context(), c, delivery); err != nil {
		f.t.Fatal(err)
	}
	for _, text := range []string{"nightly", "NIGHTLY-SYNC.7", delivery, strings.ToUpper(delivery[:23])} {
		equal(f.t, "entries for "+text, f.searchAudit(text), []string{"delivery.redelivered "})
	}
	for _, text := range []string{"sync.7", "nightly-sync.70", delivery[9:]} {
		equal(f.t, "entries for "+text, f.searchAudit(text), nil)
	}
}

// A changed name is found under the new one only, and names that an older program
// wrote are found after FoldNames.
func TestSearchFollowsChangedNames(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := searchableCompany(t, s)
		f.mustPatch("HR-Anna", domain.EmployeePatch{Name: ptr("Anna Arkadyevna")})
		equal(t, "entries for the old name", f.searchAudit("karen"), nil)
		equal(t, "entries for the new name", len(f.searchAudit("arkady")), 3)
		change(t, s, `UPDATE employees SET name_folded = NULL, last_name_folded = NULL`)
		change(t, s, `UPDATE tokens SET name_folded = NULL`)
		equal(t, "entries before the names are folded", len(f.searchAudit("arkady")), 0)
		if err := s.FoldNames(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "entries after the names are folded", len(f.searchAudit("arkady")), 3)
		equal(t, "entries of the token after its name is folded", len(f.searchAudit("payroll s")), 1)
	})
}

// The ranges of a search are read from the indexes made for them, in order, so that
// a search for one letter ends when it has found enough.
func TestSearchReadsIndexes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := searchableCompany(t, s)
		storetest.Fill(t, s, f.c.Company.ID, storetest.Size{Employees: 5000, Courses: 1, Assignments: 5000})
		if err := s.FoldNames(t.Context()); err != nil {
			t.Fatal(err)
		}
		change(t, s, `ANALYZE`)
		watched, r := recordStatements(s)
		items := r.during(t, func() error {
			_, err := watched.AuditEntries(t.Context(), f.c.Company.ID, domain.AuditFilter{Search: "an"}, domain.PageRequest{Limit: 50})
			return err
		})
		plans := ""
		for _, it := range items {
			plans += fmt.Sprintf("%s\n%s\n", it.SQL, explain(t, s, it))
		}
		indexes := []string{
			"employees_name_search", "employees_last_name_search", "employees_email_search", "employees_external_id_search",
			"assignments_external_id_search",
		}
		if s.Engine().Name() == "sqlite" { // PostgreSQL reads small tables as a whole
			indexes = append(indexes, "tokens_name_search", "former_administrators_email_search")
		}
		for _, index := range indexes {
			if !strings.Contains(plans, index) {
				t.Errorf("no plan uses %s:\n%s", index, plans)
			}
		}
	})
}
