package storetest_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

var platform = domain.Actor{Kind: domain.ActorPlatform, ID: 1, Label: "platform"}

// courseIDs returns the ids of the courses that the company may assign.
func (f testCompany) courseIDs() []int64 {
	f.t.Helper()
	list, _, err := f.s.Courses(f.t.Context(), f.c.Company.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	out := []int64{}
	for _, c := range list {
		out = append(out, c.ID)
	}
	return out
}

func (f testCompany) put(c domain.Course) (int64, string) {
	f.t.Helper()
	id, status, err := f.s.PutCourse(f.t.Context(), domain.Actor{}, c)
	if err != nil {
		f.t.Fatalf("put %s: %v", c.ExternalID, err)
	}
	return id, status
}

func (f testCompany) grant(externalID string, granted bool) {
	f.t.Helper()
	if _, err := f.s.GrantCourse(f.t.Context(), platform, externalID, f.c.Company.ID, granted); err != nil {
		f.t.Fatalf("grant %s: %v", externalID, err)
	}
}

func TestCoursesOfACompany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		equal(t, "courses of a new company", f.courseIDs(), []int64{})
		want := domain.Course{
			OwnerCompanyID: f.c.Company.ID, ExternalID: "C/1", Name: "Safety", IsAssessment: true, PassMark: 66_60, AllowedAttempts: 7,
			Modules: []string{"Two", "One", "Two"},
		}
		want.ID = f.addCourse(want)
		slice := f.addCourse(domain.Course{Name: "Slice", ParentID: want.ID, Modules: []string{"One"}})
		theirs := other.addCourse(domain.Course{ExternalID: "C/1", Name: "Same key elsewhere"})

		got, err := s.Course(t.Context(), f.c.Company.ID, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "a course", got, want)
		equal(t, "the courses", f.courseIDs(), []int64{want.ID, slice})
		equal(t, "the other company's", other.courseIDs(), []int64{theirs})
		list, _, err := s.Courses(t.Context(), f.c.Company.ID)
		if err != nil || list[1].ParentID != want.ID || list[1].ExternalID != "" {
			t.Errorf("the list with a slice: %+v, %v", list, err)
		}
		_, err = s.Course(t.Context(), f.c.Company.ID, theirs)
		wantCode(t, "a course of another company", err, domain.CodeWrongCompany)
		_, err = s.Course(t.Context(), f.c.Company.ID, 1<<40)
		wantCode(t, "no course", err, domain.CodeCourseNotFound)
		_, err = s.AddCourse(t.Context(), f.c, domain.Course{ExternalID: "C/1", Name: "Again"})
		wantCode(t, "a key that is taken", err, domain.CodeExternalIDTaken)
		nobody := domain.Caller{Company: domain.Company{ID: 1 << 40}}
		_, err = s.AddCourse(t.Context(), nobody, domain.Course{Name: "Nobody's"})
		wantCode(t, "a course of no company", err, domain.CodeCompanyNotFound)
		equal(t, "entries", f.audit(), []string{"course.added", "course.added"})
		equal(t, "courses", number(t, s, `SELECT count(*) FROM courses`), 3)
	})
}

func TestPutCourse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		c := domain.Course{ExternalID: "P1", Name: "Platform", PassMark: 80_00, AllowedAttempts: 3, Modules: []string{"a", "b"}}
		id, status := f.put(c)
		equal(t, "first", status, "created")
		for name, change := range map[string]func(*domain.Course){
			"name": func(c *domain.Course) { c.Name = "Other" }, "kind": func(c *domain.Course) { c.IsAssessment = true },
			"pass mark": func(c *domain.Course) { c.PassMark = 1 }, "attempts": func(c *domain.Course) { c.AllowedAttempts = 0 },
			"modules": func(c *domain.Course) { c.Modules = []string{"b", "a"} }, "no modules": func(c *domain.Course) { c.Modules = nil },
		} {
			before := dump(t, s)
			if same, status := f.put(c); same != id || status != "unchanged" {
				t.Errorf("%s: the same course again returned %d, %s", name, same, status)
			}
			equal(t, "what unchanged wrote", dump(t, s), before)
			change(&c)
			if same, status := f.put(c); same != id || status != "updated" {
				t.Errorf("%s: the changed course returned %d, %s", name, same, status)
			}
			f.grant("P1", true)
			got, err := s.Course(t.Context(), f.c.Company.ID, id)
			want := c
			want.ID = id
			if err != nil {
				t.Fatal(err)
			}
			equal(t, name, got, want)
		}
		for _, key := range numbered("R%d", 0, 5) {
			var got resultCounts
			race(8, func(int) {
				_, status, err := s.PutCourse(t.Context(), domain.Actor{}, domain.Course{ExternalID: key, Name: "Race", Modules: []string{"m"}})
				got.add(status, err)
			})
			equal(t, "8 puts of one course", got.counts, map[string]int{"created": 1, "unchanged": 7})
		}
	})
}

func TestGrantCourse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		id, _ := f.put(domain.Course{ExternalID: "P1", Name: "Platform"})
		f.provisionAll("E1")
		_, err := f.tryAssign(domain.NewAssignment{ExternalID: "A1", EmployeeExternalID: "E1", CourseID: id})
		wantCode(t, "before the grant", err, domain.CodeWrongCompany)
		f.grant("P1", true)
		f.grant("P1", true)
		equal(t, "granted", f.courseIDs(), []int64{id})
		equal(t, "elsewhere", other.courseIDs(), []int64{})
		a := f.assign("A1", "E1", id)
		f.grant("P1", false)
		f.grant("P1", false)
		equal(t, "withdrawn", f.courseIDs(), []int64{})
		equal(t, "what was assigned", f.assignment(a.ID).CourseName, "Platform")
		_, err = f.tryAssign(domain.NewAssignment{ExternalID: "A2", EmployeeExternalID: "E1", CourseID: id})
		wantCode(t, "after the withdrawal", err, domain.CodeWrongCompany)
		if again, err := f.tryAssign(domain.NewAssignment{ExternalID: "A1", EmployeeExternalID: "E1", CourseID: id}); err != nil || again.ID != a.ID {
			t.Errorf("the same request again: %+v, %v", again, err)
		}
		equal(t, "entries", f.audit(), []string{"employee.provisioned", "course.granted", "assignment.created", "course.withdrawn"})

		_, err = s.GrantCourse(t.Context(), platform, "P9", f.c.Company.ID, true)
		wantCode(t, "no such course", err, domain.CodeCourseNotFound)
		_, err = s.GrantCourse(t.Context(), platform, "P1", 1<<40, true)
		wantCode(t, "no such company", err, domain.CodeCompanyNotFound)
		f.addCourse(domain.Course{ExternalID: "own", Name: "Own"})
		_, err = s.GrantCourse(t.Context(), platform, "own", other.c.Company.ID, true)
		wantCode(t, "a company's own course", err, domain.CodeCourseNotFound)
	})
}

// An assignment shows the course's name. So a rename changes the assignment, even if
// the course can't be assigned any more.
func TestRenamedCourseStampsAssignments(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, withdrawn := newTestCompany(t, s), newTestCompany(t, s)
		id, _ := f.put(domain.Course{ExternalID: "P1", Name: "Old"})
		var list []domain.Assignment
		for _, c := range []testCompany{f, withdrawn} {
			c.join("E1", "e1")
			c.grant("P1", true)
			list = append(list, c.assign("A1", "E1", id))
		}
		withdrawn.grant("P1", false)
		waitUntil(t, s, list[1].UpdatedAt.Add(time.Millisecond))
		f.put(domain.Course{ExternalID: "P1", Name: "Old", AllowedAttempts: 1})
		equal(t, "attempts are no part of an assignment", f.assignment(list[0].ID).UpdatedAt, list[0].UpdatedAt)
		f.put(domain.Course{ExternalID: "P1", Name: "New", AllowedAttempts: 1})
		for i, c := range []testCompany{f, withdrawn} {
			if got := c.assignment(list[i].ID); got.CourseName != "New" || !got.UpdatedAt.After(list[i].UpdatedAt) {
				t.Errorf("company %d: the assignment shows %s and was updated at %v, before at %v", i, got.CourseName, got.UpdatedAt, list[i].UpdatedAt)
			}
		}
	})
}
