package storetest_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestSliceIsEditedWhileNobodyHasIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		whole := f.addCourse(domain.Course{Name: "Whole", ExternalID: "W", Modules: []string{"One", "Two", "Three"}})
		slice := domain.Course{Name: "Slice", ParentID: whole, Modules: []string{"Two"}, Sources: []int{2}}
		slice.ID = f.addCourse(slice)
		slice.Name, slice.ExternalID, slice.Modules, slice.Sources = "Renamed", "S", []string{"Three", "One"}, []int{3, 1}
		if err := s.EditSlice(t.Context(), f.c, slice); err != nil {
			t.Fatal(err)
		}
		got, err := s.Course(t.Context(), f.c.Company.ID, slice.ID)
		if err != nil {
			t.Fatal(err)
		}
		slice.OwnerCompanyID = f.c.Company.ID
		equal(t, "the slice", got, slice)
		f.provisionAll("E1")
		a := f.assign("A", "E1", slice.ID)
		want := func(what string, c domain.Caller, edited domain.Course, code domain.Code) {
			t.Helper()
			edited.Name, edited.Modules, edited.Sources = "X", []string{"One"}, []int{1}
			err := s.EditSlice(t.Context(), c, edited)
			if domain.CodeOf(err) != code {
				t.Errorf("%s: %v, want %q", what, err, code)
			}
		}
		want("a slice that somebody has", f.c, domain.Course{ID: slice.ID}, domain.CodeConflict)
		want("a course that is no slice", f.c, domain.Course{ID: whole}, domain.CodeConflict)
		want("a slice of another company", other.c, domain.Course{ID: slice.ID}, domain.CodeWrongCompany)
		want("a slice that is not there", f.c, domain.Course{ID: 1 << 40}, domain.CodeCourseNotFound)
		if err := s.Revoke(t.Context(), f.c, a.ID); err != nil {
			t.Fatal(err)
		}
		want("an external id that is taken", f.c, domain.Course{ID: slice.ID, ExternalID: "W"}, domain.CodeExternalIDTaken)
		if err := s.EditSlice(t.Context(), f.c, slice); err != nil {
			t.Errorf("a slice that nobody has any more: %v", err)
		}
		if err := s.ArchiveCourse(t.Context(), f.c, slice.ID); err != nil {
			t.Fatal(err)
		}
		list, err := s.CourseOverviews(t.Context(), f.c.Company.ID)
		if err != nil || len(list) != 2 || list[0].ModuleCount != 3 || !list[1].Archived() {
			t.Errorf("the courses are %+v, %v; want the course with 3 modules and the archived slice", list, err)
		}
		if err := s.RestoreCourse(t.Context(), other.c, slice.ID); domain.CodeOf(err) != domain.CodeWrongCompany {
			t.Errorf("another company restores the slice: %v", err)
		}
		if err := s.RestoreCourse(t.Context(), f.c, slice.ID); err != nil {
			t.Fatal(err)
		}
		f.assign("B", "E1", slice.ID)
	})
}

// The history of an assignment has the time when something happened, not when it was
// reported.
func TestHistoryHasTheTimeOfTheActivity(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		exam := f.addAssessment()
		f.provisionAll("E1")
		a := f.assign("A", "E1", exam)
		happened := s.Now().Add(-time.Hour).Truncate(time.Millisecond)
		f.report(ended("x", a.ID, happened, 100_00))
		history, err := s.AssignmentHistory(t.Context(), f.c.Company.ID, a.ID)
		if err != nil || len(history) != 2 || !history[1].At.Equal(happened) || history[1].To != domain.StatusCompleted {
			t.Errorf("the history is %+v, %v; want it completed at %s", history, err, happened)
		}
	})
}

func TestDaysToComplete(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		exam := f.addAssessment()
		f.provisionAll("E1", "E2")
		for _, name := range []string{"E1", "E2"} {
			f.report(ended(name, f.assign(name, name, exam).ID, s.Now(), 100_00))
		}
		for range 2 {
			got, err := s.DaysToComplete(t.Context(), f.c.Company.ID, exam)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "days", got, map[int]int64{0: 2})
			f.fold()
		}
	})
}
