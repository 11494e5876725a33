package cabinet_test

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// TestTimelinesSayWhoAndFromWhere has a token, an import, an administrator, the learning
// platform and the operator do something to a person and to assignments. Both timelines
// name each, also after the audit log has expired.
func TestTimelinesSayWhoAndFromWhere(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(0)
		_, secret := v.createToken("HR sync")
		assigner := v.post(view.PathTokenNew, "name", "Robot", "scope", "b2b_assignment", "expiry", "90").follow().secret()
		f.provision(secret, 1, 1)
		person := v.get(view.PathEmployees + "?q=HR-1").find(`href="(` + view.PathEmployees + `/\d+)"`)
		second, third := l.addCourse(domain.Course{Name: "Data protection"}), l.addCourse(domain.Course{Name: "Fire drill"})
		if got := f.callAPI(assigner, http.MethodPost, "/assignments", map[string]any{"employeeExternalId": "HR-1", "courseId": l.course, "externalId": "by-token"}); got != http.StatusOK {
			f.Fatalf("assign: %d", got)
		}
		imported := v.upload("name,email,course\nPerson One,p1@baltic.example,Data protection\n")
		v.post(imported, "column0", "name", "column1", "email", "column2", "course").wantRedirect(imported + "/check")
		v.post(imported + "/check").wantStatus(http.StatusSeeOther)
		v.waitForText(imported+"/result", "All rows were imported")
		job := v.post(view.PathAssign, "everyone", "1", "course", strconv.FormatInt(third, 10)).wantStatus(http.StatusSeeOther).header.Get("Location")
		v.waitForText(job, "1 assigned")

		assignment := func(course int64) domain.Assignment {
			f.Helper()
			list, err := l.store.AssignmentList(f.Context(), l.caller.Company.ID, domain.AssignmentQuery{CourseID: course}, domain.PageRequest{Limit: 1})
			if err != nil || len(list.Items) != 1 {
				f.Fatal(err, list)
			}
			return list.Items[0]
		}
		failed := assignment(l.course)
		l.attempt(failed, "1", 10_00)
		v.post(view.PathAssignment(failed.ID, "grant")).wantStatus(http.StatusSeeOther)
		moved := view.PathAssignment(assignment(second).ID)
		v.post(moved+"/deadline", "deadline", "2099-01-02T10:00").wantStatus(http.StatusSeeOther)
		v.post(moved+"/required", "required", "yes").wantStatus(http.StatusSeeOther)
		byHand := view.PathAssignment(assignment(third).ID)
		byWhom := func(page, what, who string) {
			f.Helper()
			v.get(page).find(`(?s)>\s*` + regexp.QuoteMeta(what) + `\s*</span>(?:\s*<span>[^<]*</span>)?\s*<span class="muted">\s*(` + regexp.QuoteMeta(who) + `),`)
		}
		byWhom(view.PathAssignment(failed.ID), "Assigned", "Token Robot")
		byWhom(view.PathAssignment(failed.ID), "Failed", "Learning platform")
		byWhom(view.PathAssignment(failed.ID), "Another attempt granted", admin)
		byWhom(moved, "Assigned", "Import by "+admin)
		byWhom(moved, "Deadline changed", admin)
		byWhom(moved, "Made required", admin)
		byWhom(byHand, "Assigned", admin)
		v.post(byHand + "/revoke").wantStatus(http.StatusSeeOther)
		leave, back := false, true
		for _, active := range []*bool{&leave, &back} {
			if _, err := l.store.PatchEmployee(f.Context(), l.caller, "HR-1", domain.EmployeePatch{Active: active}); err != nil {
				f.Fatal(err)
			}
		}
		if err := l.store.ExpireAudit(f.Context(), time.Now().Add(time.Hour)); err != nil {
			f.Fatal(err)
		}
		page := v.get(person).wantStatus(http.StatusOK)
		for what, who := range map[string]string{
			"Added": "Token HR sync", "Assigned: Workplace safety": "Token Robot", "Assigned: Data protection": admin + ", by import",
			"Assigned: Fire drill": admin, "Failed: Workplace safety": "Learning platform", "Another attempt granted: Workplace safety": admin,
			"Deadline changed: Data protection": admin, "Revoked: Fire drill": admin, "Changed": admin + ", by import",
			"Offboarded": "Platform operator", "Brought back": "Platform operator",
		} {
			if got := page.find(`(?s)>\s*` + what + `\s*<.{0,300}?history-who muted break">([^<]*)<`); got != who {
				f.Errorf("%q was done by %q, want %q", what, got, who)
			}
		}
	})
}
