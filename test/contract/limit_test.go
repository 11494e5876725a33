package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

// manyAssignments brings an employee to the limit of 10,000 assignments. The
// answer that shows all of them is whole, and one more is refused.
func manyAssignments(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "BUSY")
	const most, atOnce = 10_000, 500
	for made := 0; made < most; made += atOnce {
		items := make([]string, atOnce)
		for i := range items {
			items[i] = fmt.Sprintf(`{"employeeExternalId":"BUSY","courseId":%d,"externalId":"MANY-%d"}`, f.course, made+i)
		}
		a := f.send(t, "POST", "/assignments/bulk", `{"items":[`+strings.Join(items, ",")+`]}`)
		if results := a.list("results"); len(results) != atOnce || apicheck.Lookup(results[atOnce-1], "ok") != true {
			t.Fatalf("bulk from %d: %d %.300s", made, a.status, a.text)
		}
	}
	if shown := f.send(t, "GET", "/employees/BUSY", "").list("assignments"); len(shown) != most {
		t.Errorf("%d assignments are shown, want %d", len(shown), most)
	}
	oneMore := fmt.Sprintf(`{"employeeExternalId":"BUSY","courseId":%d,"externalId":"MANY"}`, f.course)
	f.send(t, "POST", "/assignments", oneMore).wantFailure(t, "one more", 409, "too_many_assignments", "")
	bulk := f.send(t, "POST", "/assignments/bulk", `{"items":[`+oneMore+`]}`)
	if bulk.status != 200 || bulk.str("results.0.code") != "too_many_assignments" {
		t.Errorf("one more in bulk: %d %s", bulk.status, bulk.text)
	}
}

// archivedCourse archives a course: it leaves the list, what was assigned stays, and
// nothing more can be assigned.
func archivedCourse(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "ARCHIVE")
	f.assign(t, "ARCHIVE", f.exam, "BEFORE")
	if _, err := f.suite.ArchiveCourse(t.Context(), f.id, f.exam); err != nil {
		t.Fatal(err)
	}
	late := fmt.Sprintf(`{"employeeExternalId":"ARCHIVE","courseId":%d,"externalId":"AFTER"}`, f.exam)
	f.send(t, "POST", "/assignments", late).wantFailure(t, "archived", 409, "course_archived", "")
	bulk := f.send(t, "POST", "/assignments/bulk", `{"items":[`+late+`]}`)
	if bulk.status != 200 || bulk.str("results.0.code") != "course_archived" {
		t.Errorf("in bulk: %d %s", bulk.status, bulk.text)
	}
	if courses := f.send(t, "GET", "/courses", "").list("items"); len(courses) != 1 {
		t.Errorf("%d courses are listed, want 1", len(courses))
	}
	if kept := f.send(t, "GET", "/assignments/by-external-id/BEFORE", ""); kept.status != 200 {
		t.Errorf("the assignment made before: %d %s", kept.status, kept.text)
	}
}
