package storetest_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func (f testCompany) homeFigures() domain.HomeFigures {
	f.t.Helper()
	figures, err := f.s.HomeFigures(f.t.Context(), f.c.Company.ID, before(f.s, 60*24*time.Hour))
	if err != nil {
		f.t.Fatal(err)
	}
	return figures
}

func TestHomeFigures(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		exam := f.addAssessment()
		f.provisionAll("E1", "E2")
		other.provisionAll("X1")
		other.assign("X", "X1", other.addAssessment())
		required := true
		assign := func(externalID string, deadline time.Time) domain.Assignment {
			a, err := f.tryAssign(domain.NewAssignment{
				ExternalID: externalID, EmployeeExternalID: "E1", CourseID: exam, Deadline: &deadline, IsRequired: &required,
			})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		passed := assign("passed", before(s, -time.Hour))
		assign("overdue", before(s, time.Minute))
		assign("in ten minutes", before(s, -10*time.Minute))
		assign("in a day", before(s, -24*time.Hour))
		assign("within the last hour of the week", before(s, -domain.DueSoon+time.Minute))
		assign("after the week", before(s, -domain.DueSoon-time.Minute))
		f.report(ended("1", passed.ID, s.Now(), 90_00))
		f.assign("optional", "E2", exam)
		for _, state := range []string{"with changes", "folded"} {
			got := f.homeFigures()
			equal(t, "figures "+state, got.Today, domain.DayFigures{Employees: 2, Overdue: 1, Required: 6, RequiredCompleted: 1})
			if got.Counting || got.DueSoon != 3 {
				t.Errorf("%s: %d are due soon, and counting is %v; want 3 and false", state, got.DueSoon, got.Counting)
			}
			if len(got.Completions) != 1 || got.Completions[0].N != 1 || s.Now().Sub(got.Completions[0].Start) > 2*time.Hour {
				t.Errorf("%s: the completions are %v, want one of this hour", state, got.Completions)
			}
			tabs, err := s.TabCounts(t.Context(), f.c.Company.ID, domain.AssignmentQuery{})
			if err != nil || tabs.N[domain.TabDueSoon] != 3 {
				t.Errorf("%s: the tab counts %d that are due soon, %v; want 3", state, tabs.N[domain.TabDueSoon], err)
			}
			f.fold()
		}
	})
}

func TestFiguresOfADayAreKeptOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		keep := func() {
			if err := s.KeepDayFigures(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		f.provisionAll("E1")
		keep()
		if got := f.homeFigures(); got.EarlierAt != nil {
			t.Errorf("the figures of today are compared with those of %v", got.EarlierAt)
		}
		day := int64(24 * 60 * 60)
		change(t, s, `UPDATE totals SET number_key = number_key - $1 WHERE kind = 'day'`, 20*day)
		f.provisionAll("E2")
		keep()
		f.provisionAll("E3")
		keep()
		got := f.homeFigures()
		if got.EarlierAt == nil || got.Earlier.Employees != 1 || got.Today.Employees != 3 {
			t.Errorf("there were %d employees on %v and are %d, want 1 and 3", got.Earlier.Employees, got.EarlierAt, got.Today.Employees)
		}
		if n := number(t, s, `SELECT n FROM totals WHERE kind = 'day' AND text_key = 'employees' ORDER BY number_key DESC LIMIT 1`); n != 2 {
			t.Errorf("today's figure is %d, want 2, as it was when the day was first seen", n)
		}
		change(t, s, `UPDATE totals SET number_key = number_key - $1 WHERE kind = 'day'`, 390*day)
		keep()
		if n := number(t, s, `SELECT count(DISTINCT number_key) FROM totals WHERE kind = 'day'`); n != 2 {
			t.Errorf("the figures of %d days are kept, want 2", n)
		}
	})
}
