package storetest_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func (f testCompany) employees(filter domain.EmployeeFilter, p domain.PageRequest) domain.Page[domain.Employee] {
	f.t.Helper()
	list, err := f.s.Employees(f.t.Context(), f.c.Company.ID, filter, p)
	if err != nil {
		f.t.Fatalf("list %+v: %v", filter, err)
	}
	return list
}

func (f testCompany) assignments(filter domain.AssignmentFilter, p domain.PageRequest) domain.AssignmentPage {
	f.t.Helper()
	list, err := f.s.Assignments(f.t.Context(), f.c.Company.ID, filter, p)
	if err != nil {
		f.t.Fatalf("list %+v: %v", filter, err)
	}
	return list
}

func externalIDs(list []domain.Employee) []string {
	out := []string{}
	for _, e := range list {
		out = append(out, e.ExternalID)
	}
	return out
}

func assignmentExternalIDs(list []domain.Assignment) []string {
	out := []string{}
	for _, a := range list {
		out = append(out, a.ExternalID)
	}
	return out
}

var firstTen = domain.PageRequest{Number: 1, Limit: 10}

func TestEmployeeFilters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E2", "E1", "e1x", "gone")
		f.join("", "joined")
		f.offboard("gone")
		other.join("E1", "E1")
		f.mustPatch("E2", domain.EmployeePatch{Tags: ptr([]string{"Night", "ё%"}), Email: ptr("Ünï@x.test")})
		f.mustPatch("E1", domain.EmployeePatch{Tags: ptr([]string{"Night"})})
		for _, c := range []struct {
			name   string
			filter domain.EmployeeFilter
			want   []string
		}{
			{"all, in the order of ids", domain.EmployeeFilter{}, []string{"E2", "E1", "e1x", ""}},
			{"externalId", domain.EmployeeFilter{ExternalID: "E1"}, []string{"E1"}},
			{"externalId in another case", domain.EmployeeFilter{ExternalID: "E1X"}, []string{}},
			{"a part of an externalId", domain.EmployeeFilter{ExternalID: "E"}, []string{}},
			{"a former employee's", domain.EmployeeFilter{ExternalID: "gone"}, []string{}},
			{"email in another case", domain.EmployeeFilter{Email: "ÜNÏ@X.test"}, []string{"E2"}},
			{"a part of an email", domain.EmployeeFilter{Email: "@x.test"}, []string{}},
			{"tag", domain.EmployeeFilter{Tag: "Night"}, []string{"E2", "E1"}},
			{"tag in another case", domain.EmployeeFilter{Tag: "night"}, []string{}},
			{"a tag is no pattern", domain.EmployeeFilter{Tag: "%"}, []string{}},
			{"all must hold", domain.EmployeeFilter{Tag: "Night", Email: "e1@x.test", ExternalID: "E1"}, []string{"E1"}},
			{"and do not", domain.EmployeeFilter{Tag: "ё%", ExternalID: "E1"}, []string{}},
		} {
			got := f.employees(c.filter, firstTen)
			equal(t, c.name, externalIDs(got.Items), c.want)
			equal(t, c.name+": total", got.Total, int64(len(c.want)))
		}
	})
}

func TestAssignmentFilters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1", "E2")
		other.join("E1", "e1")
		exam, course := f.addAssessment(), f.addCourse(domain.Course{Name: "Course"})
		a, b := f.assign("A", "E1", exam), f.assign("B", "E2", exam)
		c, revoked := f.assign("C", "E1", course), f.assign("R", "E1", exam)
		other.assign("A", "E1", other.addAssessment())
		if err := s.Revoke(t.Context(), f.c, revoked.ID); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, s, c.UpdatedAt.Add(time.Millisecond))
		f.report(progress("1", c.ID, s.Now(), 100_00))
		moved := f.assignment(c.ID).UpdatedAt
		waitUntil(t, s, moved.Add(time.Millisecond))
		f.report(ended("2", a.ID, s.Now(), 10_00))
		since := func(at time.Time) domain.AssignmentFilter { return domain.AssignmentFilter{UpdatedSince: &at} }
		second := f.assignment(a.ID).UpdatedAt
		for _, row := range []struct {
			name   string
			filter domain.AssignmentFilter
			want   []string
		}{
			{"all, in the order of ids", domain.AssignmentFilter{}, []string{"A", "B", "C"}},
			{"employee", domain.AssignmentFilter{EmployeeExternalID: "E1"}, []string{"A", "C"}},
			{"no such employee", domain.AssignmentFilter{EmployeeExternalID: "e1"}, []string{}},
			{"course", domain.AssignmentFilter{CourseID: exam}, []string{"A", "B"}},
			{"no such course", domain.AssignmentFilter{CourseID: 1 << 40}, []string{}},
			{"assigned", domain.AssignmentFilter{Status: domain.StatusAssigned}, []string{"B"}},
			{"needs_retry", domain.AssignmentFilter{Status: domain.StatusNeedsRetry}, []string{"A"}},
			{"failed", domain.AssignmentFilter{Status: domain.StatusFailed}, []string{}},
			{"all must hold", domain.AssignmentFilter{EmployeeExternalID: "E1", CourseID: course, Status: domain.StatusCompleted, UpdatedSince: &moved}, []string{"C"}},
			{"since the beginning, in the order of changes", since(time.UnixMilli(0)), []string{"B", "C", "A"}},
			{"since some changes", since(b.UpdatedAt.Add(time.Millisecond)), []string{"C", "A"}},
			{"the instant itself is included", since(moved), []string{"C", "A"}},
			{"since later than all", since(second.Add(time.Millisecond)), []string{}},
		} {
			got := f.assignments(row.filter, firstTen)
			equal(t, row.name, assignmentExternalIDs(got.Items), row.want)
			equal(t, row.name+": total", got.Total, int64(len(row.want)))
			equal(t, row.name+": has a watermark", got.Watermark != nil, row.filter.UpdatedSince != nil)
		}
	})
}

func TestPages(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll(numbered("E%d", 0, 5)...)
		f.bulk(keys(numbered("A%d", 0, 5), []string{"E0"}, f.addAssessment())...)
		for _, c := range []struct {
			number, limit int
			from, to      int
			more          bool
		}{{1, 2, 0, 2, true}, {2, 2, 2, 4, true}, {3, 2, 4, 5, false}, {4, 2, 5, 5, false}, {1, 5, 0, 5, false}, {1, 500, 0, 5, false}, {1_000_000_000_000, 500, 5, 5, false}} {
			page := domain.PageRequest{Number: c.number, Limit: c.limit}
			people := f.employees(domain.EmployeeFilter{}, page)
			equal(t, "employees", externalIDs(people.Items), append([]string{}, numbered("E%d", c.from, c.to)...))
			work := f.assignments(domain.AssignmentFilter{}, page)
			equal(t, "assignments", assignmentExternalIDs(work.Items), append([]string{}, numbered("A%d", c.from, c.to)...))
			if people.Total != 5 || work.Total != 5 || people.More != c.more || work.More != c.more {
				t.Errorf("page %+v: the totals are %d and %d, more is %v and %v", c, people.Total, work.Total, people.More, work.More)
			}
		}
	})
}
