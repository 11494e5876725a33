package cabinet_test

import (
	"net/http"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

// A view keeps the filters of its page, but not what somebody searched for.
func TestViewsAreSavedRenamedAndRemoved(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.get(view.PathReports).wantText("Filter a report")
		v.get(view.PathReport("overdue") + "?tag=night+shift&required=yes").wantText("Save view")
		form := "?page=overdue&q=anna&tag=night+shift&required=yes&after=7"
		v.get(view.PathViewNew+form).wantStatus(http.StatusOK).wantText("Who is overdue?", "Tag night shift, Required").wantNoText("anna\"")
		save := func(page, name string, more ...string) response {
			return v.post(view.PathViewNew, append([]string{"page", page, "name", name}, more...)...)
		}
		save("overdue", "  ").wantStatus(http.StatusUnprocessableEntity).wantText("Who is overdue?")
		saved := view.PathReport("overdue") + "?required=yes&tag=night+shift"
		save("overdue", "Night, late", "q", "anna", "tag", "night shift", "required", "yes").wantRedirect(saved).
			wantText("The view was saved.", `aria-label="Saved views"`, ">Night, late<")
		save("employees", "NIGHT, late").wantStatus(http.StatusUnprocessableEntity).wantText("Another view has this name")
		save("employees", "Nobody forgotten", "show", "unassigned").wantRedirect(view.PathEmployees + "?show=unassigned").wantText(">Nobody forgotten<")
		save("assignments", "Failed", "tab", "failed").wantRedirect(view.PathAssignments + "?tab=failed").wantText(">Failed<")
		save("tokens", "No page").wantStatus(http.StatusNotFound)
		v.get(view.PathViewNew + "?page=tokens").wantStatus(http.StatusNotFound)

		list := v.get(view.PathReports).wantText("Nobody forgotten", "No assignments", "Night, late", "by "+admin)
		rename := list.find(`href="(` + view.PathViews + `/\d+/rename)"[^>]*>Rename<span class="sr-only"> Night, late`)
		v.get(rename).wantStatus(http.StatusOK).wantText("Night, late")
		v.post(rename, "name", "Failed").wantStatus(http.StatusUnprocessableEntity).wantText("Another view has this name")
		v.post(rename, "name", "Night shift").wantRedirect(view.PathReports).wantText("The view was renamed.", `href="`+saved+`">Night shift<`)
		remove := list.find(`href="(` + view.PathViews + `/\d+/remove)"[^>]*>Remove<span class="sr-only"> Failed`)
		v.get(remove).wantStatus(http.StatusOK).wantText("Remove the view “Failed”?")
		v.post(remove).wantRedirect(view.PathReports).wantText("“Failed” was removed.").wantNoText(">Failed<")
		v.post(remove).wantStatus(http.StatusNotFound)
		v.get(view.PathAudit).wantText("View saved", "View renamed", "View removed")
	})
}
