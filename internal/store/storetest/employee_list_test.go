package storetest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// listed returns the external ids that a walk over all pages of the list finds.
func (f testCompany) listed(filter domain.EmployeeListFilter) []string {
	f.t.Helper()
	out := []string{}
	p := domain.PageRequest{Limit: 2}
	for {
		page, err := f.s.EmployeeOverviews(f.t.Context(), f.c.Company.ID, filter, p)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, e := range page.Items {
			out = append(out, e.ExternalID)
		}
		if !page.More {
			return out
		}
		p.After = page.Next
	}
}

func TestEmployeeOverviews(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1", "E2", "E3", "E4", "E5")
		other.provisionAll("X1")
		exam := f.addAssessment()
		f.assign("A1", "E1", exam)
		late := f.assignWithDeadline("A2", "E1", exam, before(s, time.Hour))
		f.assignWithDeadline("A3", "E3", exam, before(s, time.Hour))
		done := f.assign("A4", "E2", exam)
		at := s.Now()
		f.report(ended("1", done.ID, at, 100_00), started("2", late.ID, at))
		f.sweep(10)
		f.mustPatch("E4", domain.EmployeePatch{Tags: ptr([]string{"night"})})
		f.mustPatch("E5", domain.EmployeePatch{Active: ptr(false)})

		for _, row := range []struct {
			name   string
			filter domain.EmployeeListFilter
			want   []string
		}{
			{"everybody who works here", domain.EmployeeListFilter{}, []string{"E1", "E2", "E3", "E4"}},
			{"overdue", domain.EmployeeListFilter{Select: domain.EmployeesOverdue}, []string{"E1", "E3"}},
			{"without assignments", domain.EmployeeListFilter{Select: domain.EmployeesUnassigned}, []string{"E4"}},
			{"left", domain.EmployeeListFilter{Select: domain.EmployeesLeft}, []string{"E5"}},
			{"tag", domain.EmployeeListFilter{Tag: "night"}, []string{"E4"}},
			{"tag, overdue", domain.EmployeeListFilter{Tag: "night", Select: domain.EmployeesOverdue}, []string{}},
			{"externalId", domain.EmployeeListFilter{Search: "e3"}, []string{"E3"}},
			{"name, two words", domain.EmployeeListFilter{Search: "E2 NAME"}, []string{"E2"}},
			{"a wildcard is a character", domain.EmployeeListFilter{Search: "E_"}, []string{}},
		} {
			equal(t, row.name, f.listed(row.filter), row.want)
		}
		page, err := s.EmployeeOverviews(t.Context(), f.c.Company.ID, domain.EmployeeListFilter{}, domain.PageRequest{Limit: 10})
		if err != nil || page.Total != 4 {
			t.Fatalf("total %d, %v", page.Total, err)
		}
		e := page.Items[slices.IndexFunc(page.Items, func(e domain.EmployeeOverview) bool { return e.ExternalID == "E1" })]
		if e.Open != 2 || e.Overdue != 1 || e.LastActivityAt == nil || !e.LastActivityAt.Equal(at) {
			t.Errorf("E1 has %d open, %d overdue, last activity %v; want 2, 1, %v", e.Open, e.Overdue, e.LastActivityAt, at)
		}
		if e := page.Items[1]; e.Open != 0 {
			t.Errorf("E2 has completed all and has %d open", e.Open)
		}
		var exported int
		err = s.EmployeeListReport(t.Context(), f.c.Company.ID, domain.EmployeeListFilter{}, func(rows []domain.EmployeeOverview) error {
			exported += len(rows)
			return nil
		})
		if err != nil || exported != 4 {
			t.Errorf("%d rows exported, %v; want 4", exported, err)
		}
	})
}

// A page that looks for people without assignments ends after some employees, and
// the pages together find everybody. A search that stops at its limit reports so.
func TestEmployeeOverviewsAreBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		company := newTestCompany(t, s)
		c := company.c
		storetest.Fill(t, s, c.Company.ID, storetest.Size{Employees: 600, Courses: 1, Assignments: 600}) // one each
		company.provisionAll("E1", "E2", "E3")
		list := func(f domain.EmployeeListFilter, after *domain.Cursor) domain.EmployeePage {
			t.Helper()
			page, err := s.EmployeeOverviews(t.Context(), c.Company.ID, f, domain.PageRequest{Limit: 2, After: after})
			if err != nil {
				t.Fatal(err)
			}
			return page
		}
		unassigned := domain.EmployeeListFilter{Select: domain.EmployeesUnassigned}
		first := list(unassigned, nil)
		if len(first.Items) != 0 || first.Next == nil {
			t.Fatalf("the first page has %d people and the cursor %v; want nobody, and a cursor", len(first.Items), first.Next)
		}
		var found []string
		for after := first.Next; after != nil; {
			page := list(unassigned, after)
			for _, e := range page.Items {
				found = append(found, e.ExternalID)
			}
			after = page.Next
		}
		equal(t, "the people of all pages", found, []string{"E1", "E2", "E3"})
		if !list(domain.EmployeeListFilter{Search: "emp-"}, nil).Capped || list(domain.EmployeeListFilter{Search: "emp-77"}, nil).Capped {
			t.Error("a search with more matches than its limit does not say so, or one with fewer does")
		}
	})
}
