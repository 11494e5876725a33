package storetest_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// countCompletion is what CompletionByCourse should count.
func countCompletion(list []domain.Assignment, now time.Time) []domain.Completion {
	byCourse := map[int64]*domain.Completion{}
	for _, a := range list {
		c := byCourse[a.CourseID]
		if c == nil {
			c = &domain.Completion{CourseID: a.CourseID}
			byCourse[a.CourseID] = c
		}
		c.Assigned++
		switch a.Status {
		case domain.StatusStarted:
			c.Started++
		case domain.StatusCompleted:
			c.Completed++
		case domain.StatusNeedsRetry:
			c.NeedsRetry++
		case domain.StatusFailed:
			c.Failed++
		}
		if a.Overdue(now) {
			c.Overdue++
		}
	}
	var out []domain.Completion
	for _, c := range byCourse {
		out = append(out, *c)
	}
	return sortedByCourse(out)
}

func sortedByCourse(rows []domain.Completion) []domain.Completion {
	slices.SortFunc(rows, func(x, y domain.Completion) int { return cmp.Compare(x.CourseID, y.CourseID) })
	return rows
}

func TestReportsCountTheList(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Report").Company.ID
		other := storetest.Company(t, s, "Other").Company.ID
		filled := storetest.Fill(t, s, c, storetest.Size{Employees: 60, Courses: 5, Assignments: 600})
		storetest.Fill(t, s, other, storetest.Size{Employees: 10, Courses: 2, Assignments: 50})
		change(t, s, `UPDATE assignments SET revoked_at = updated_at WHERE company_id = $1 AND id % 11 = 0`, c)
		change(t, s, `UPDATE assignments SET is_required = false WHERE company_id = $1 AND id % 3 = 0`, c)
		all := listed(t, s, c, domain.AssignmentFilter{})
		for name, want := range map[string]struct {
			question domain.ReportQuestion
			keep     func(domain.Assignment) bool
		}{
			"all":      {domain.ReportQuestion{}, func(domain.Assignment) bool { return true }},
			"course":   {domain.ReportQuestion{CourseID: filled.Courses[1]}, func(a domain.Assignment) bool { return a.CourseID == filled.Courses[1] }},
			"required": {domain.ReportQuestion{Required: domain.RequiredOnly}, func(a domain.Assignment) bool { return a.IsRequired }},
			"optional": {domain.ReportQuestion{Required: domain.OptionalOnly}, func(a domain.Assignment) bool { return !a.IsRequired }},
			"nobody":   {domain.ReportQuestion{Tag: "nobody"}, func(domain.Assignment) bool { return false }},
		} {
			kept := slices.DeleteFunc(slices.Clone(all), func(a domain.Assignment) bool { return !want.keep(a) })
			got, err := s.CompletionByCourse(t.Context(), c, want.question)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(countCompletion(kept, s.Now()), sortedByCourse(got)); diff != "" {
				t.Errorf("%s: completion (-want +got):\n%s", name, diff)
			}
			late, err := s.Lateness(t.Context(), c, want.question)
			if err != nil {
				t.Fatal(err)
			}
			if want := countLateness(kept, s.Now()); late != want {
				t.Errorf("%s: lateness %v, want %v", name, late, want)
			}
		}
	})
}

func countLateness(list []domain.Assignment, now time.Time) (out domain.Lateness) {
	for _, a := range list {
		if !a.Overdue(now) {
			continue
		}
		step := 0
		for step < len(domain.LateSteps) && a.Deadline.Before(now.AddDate(0, 0, -domain.LateSteps[step])) {
			step++
		}
		out[step]++
	}
	return out
}

func TestComplianceLooksBackAtADay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		course := f.addAssessment()
		f.provisionAll("E1", "E2", "E3", "E4", "E5")
		day := f.s.Now().AddDate(0, 0, -10).Truncate(24 * time.Hour)
		early, late, after := day.AddDate(0, 0, -6), day.AddDate(0, 0, -1), day.AddDate(0, 0, 3)
		for i, fate := range []struct {
			status    domain.Status
			completed time.Time
			required  bool
		}{
			{domain.StatusCompleted, early, true},  // in time
			{domain.StatusCompleted, late, true},   // late, before the day is over
			{domain.StatusCompleted, after, true},  // only after the day
			{domain.StatusFailed, early, true},     // ended, but not passed
			{domain.StatusCompleted, early, false}, // not required
		} {
			person := fmt.Sprintf("E%d", i+1)
			a := f.assignWithDeadline("A"+person, person, course, day.AddDate(0, 0, -5))
			change(t, s, `UPDATE assignments SET assigned_at = $2, status = $3, completed_at = $4, is_required = $5 WHERE id = $1`,
				a.ID, day.AddDate(0, 0, -30), string(fate.status), fate.completed, fate.required)
		}
		got, err := f.s.Compliance(f.t.Context(), f.c.Company.ID, domain.ReportQuestion{On: day})
		if want := (domain.Compliance{CourseID: course, InTime: 1, Late: 1, Missing: 2}); err != nil || len(got) != 1 || got[0] != want {
			f.t.Errorf("compliance %+v, %v, want %+v", got, err, want)
		}
		before, err := f.s.Compliance(f.t.Context(), f.c.Company.ID, domain.ReportQuestion{On: day.AddDate(0, 0, -20)})
		if err != nil || len(before) != 0 {
			f.t.Errorf("compliance before anything was due: %+v, %v", before, err)
		}
	})
}

func TestCompletionByTagAndMatrix(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		course := f.addAssessment()
		f.provisionAll("E1", "E2", "E3")
		f.mustPatch("E1", domain.EmployeePatch{Tags: &[]string{"red", "blue"}})
		f.mustPatch("E2", domain.EmployeePatch{Tags: &[]string{"red"}})
		f.assign("old", "E1", course)
		newest := f.assign("new", "E1", course)
		f.assign("two", "E2", course)
		f.assign("three", "E3", course)
		got, err := f.s.CompletionByTag(f.t.Context(), f.c.Company.ID, domain.ReportQuestion{CourseID: course})
		if err != nil {
			f.t.Fatal(err)
		}
		slices.SortFunc(got, func(x, y domain.Completion) int { return cmp.Compare(x.Tag, y.Tag) })
		if diff := gocmp.Diff([]domain.Completion{{Tag: "blue", Assigned: 2}, {Tag: "red", Assigned: 3}}, got); diff != "" {
			f.t.Errorf("completion by tag (-want +got):\n%s", diff)
		}
		people, err := f.s.PeopleByTag(f.t.Context(), f.c.Company.ID)
		if diff := gocmp.Diff(map[string]int64{"blue": 1, "red": 2}, people); err != nil || diff != "" {
			f.t.Errorf("people by tag, %v (-want +got):\n%s", err, diff)
		}
		first, third := f.employee("E1").ID, f.employee("E3").ID
		cells, err := f.s.MatrixCells(f.t.Context(), f.c.Company.ID, []int64{first}, []int64{course})
		if err != nil || len(cells) != 1 || cells[domain.MatrixKey{EmployeeID: first, CourseID: course}].AssignmentID != newest.ID {
			f.t.Errorf("cells %+v, %v, want the newest assignment %d", cells, err, newest.ID)
		}
		if cells, err := f.s.MatrixCells(f.t.Context(), f.c.Company.ID, []int64{third}, []int64{course + 1}); err != nil || len(cells) != 0 {
			f.t.Errorf("cells of another course: %+v, %v", cells, err)
		}
	})
}
