package cabinet_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// TestEmptyListsSayWhyAndWhatNext opens every list of an empty company, and with a
// filter that nothing matches. Each explains itself; the first offers the next step
// to those who may take it, the second to clear the filter.
func TestEmptyListsSayWhyAndWhatNext(t *testing.T) {
	t.Parallel()
	lists := []struct {
		path, title, next, query string
	}{
		{view.PathEmployees, "No employees yet", view.PathImport, "q=nobody"},
		{view.PathEmployees, "No employees yet", view.PathImport, "tag=nobody"},
		{view.PathCourses, "No courses yet", "", "q=nothing"},
		{view.PathAssignments, "No assignments yet", view.PathAssign, "q=nobody"},
		{view.PathAssignments, "No assignments yet", view.PathAssign, "tag=nobody&required=no"},
		{view.PathReport("courses"), "Nothing to report yet", view.PathAssign, "tag=nobody"},
		{view.PathReport("matrix"), "Nothing to report yet", view.PathAssign, "q=nobody"},
		{view.PathReport("overdue"), "Nobody is overdue", view.PathAssignments, "tag=nobody"},
		{view.PathReport("tags"), "No tags yet", view.PathEmployees, "course=1&required=yes"},
		{view.PathReport("compliance"), "Nothing was due", view.PathAssignments, ""},
		{view.PathReport("person"), "No employees yet", view.PathImport, "q=nobody"},
	}
	changes := map[string]bool{view.PathAssign: true, view.PathImport: true}
	onEachEngine(t, func(f fixture) {
		owner := f.administrator()
		viewer := f.visitor()
		viewer.useLink(owner.post(view.PathInvite, "email", "viewer@baltic.example", "role", "viewer").follow().secret())
		empty := func(r response) string { return r.wantStatus(http.StatusOK).find(`(?s)<div class="empty">(.*?)</div>`) }
		for _, list := range lists {
			if got := empty(owner.get(list.path)); !strings.Contains(got, list.title) || list.next != "" && !strings.Contains(got, `href="`+list.next) {
				f.Errorf("%s without rows: %s", list.path, got)
			}
			if got := empty(viewer.get(list.path)); !strings.Contains(got, list.title) || strings.Contains(got, "href=") && changes[list.next] {
				f.Errorf("%s without rows, for a viewer: %s", list.path, got)
			}
		}
		l := f.newLearners(2)
		l.attempt(l.assign(1, time.Now().Add(-time.Hour)), "1", 90_00)
		if _, err := l.store.PatchEmployee(f.Context(), l.caller, "HR-1", domain.EmployeePatch{Tags: &[]string{"night"}}); err != nil {
			f.Fatal(err)
		}
		for _, list := range lists {
			if list.query == "" {
				continue
			}
			got := empty(owner.get(list.path + "?" + list.query))
			if strings.Contains(got, list.title) || !strings.Contains(got, `href="`+list.path+`"`) || !strings.Contains(got, ">Clear the ") {
				f.Errorf("%s?%s: %s", list.path, list.query, got)
			}
		}
	})
}
