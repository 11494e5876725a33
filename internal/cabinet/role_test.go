package cabinet_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

// access is what a page needs.
type access int

const (
	look   access = iota // everybody sees it
	own                  // everybody does it for themselves
	change               // owners and administrators do it
	manage               // owners do it
)

// routeAccess lists what each page that needs a session requires. A page that is
// missing here fails the test.
var routeAccess = map[string]access{
	"GET " + view.PathHome: look, "GET " + view.PathImports + "/{id}/missing.csv": look, "GET " + view.PathOverview: look, "GET " + view.PathAudit: look, "GET " + view.PathAuditExport: look,

	"GET " + view.PathCompanies: look, "POST " + view.PathCompanies: own, "GET " + view.PathMySignIn: look,
	"GET " + view.PathPassword: look, "POST " + view.PathPassword: own, "GET " + view.PathSecondFactor: look,
	"POST " + view.PathSecondFactor: own, "GET " + view.PathRemoveSecondFactor: look, "POST " + view.PathRemoveSecondFactor: own,
	"GET " + view.PathRecovery: look, "POST " + view.PathRecovery: own, "GET " + view.PathRecoveryCodes: look,
	"GET " + view.PathSessions: look, "POST " + view.PathSessions + "/{id}/end": own,
	"GET " + view.PathEndOthers: look, "POST " + view.PathEndOthers: own,

	"GET " + view.PathEmployees: look, "GET " + view.PathEmployeeExport: look,
	"GET " + view.PathPeopleBulk: look, "POST " + view.PathPeopleBulk: change,
	"GET " + view.PathImport: look, "POST " + view.PathImport: change, "GET " + view.PathImportTemplate: look,
	"GET " + view.PathImports + "/{id}": look, "POST " + view.PathImports + "/{id}": change,
	"GET " + view.PathImports + "/{id}/check": look, "POST " + view.PathImports + "/{id}/check": change,
	"GET " + view.PathImports + "/{id}/result": look, "GET " + view.PathImports + "/{id}/failed.csv": look,
	"GET " + view.PathImports + "/{id}/result.csv": look, "POST " + view.PathImports + "/{id}/rows": change,
	"GET " + view.PathEmployeeNew: look, "POST " + view.PathEmployeeNew: change, "GET " + view.PathEmployees + "/{id}": look,
	"GET " + view.PathEmployees + "/{id}/edit": look, "POST " + view.PathEmployees + "/{id}/edit": change,
	"GET " + view.PathEmployees + "/{id}/offboard": look, "POST " + view.PathEmployees + "/{id}/offboard": change,
	"GET " + view.PathEmployees + "/{id}/keep": look, "POST " + view.PathEmployees + "/{id}/keep": change,
	"GET " + view.PathEmployees + "/{id}/bring-back": look, "POST " + view.PathEmployees + "/{id}/bring-back": change,
	"GET " + view.PathEmployees + "/{id}/erase": look, "POST " + view.PathEmployees + "/{id}/erase": change,

	"GET " + view.PathCourses: look, "GET " + view.PathCoursesExport: look, "GET " + view.PathCourses + "/{id}": look,
	"GET " + view.PathCourses + "/{id}/slice": look, "POST " + view.PathCourses + "/{id}/slice": change,
	"GET " + view.PathCourses + "/{id}/edit": look, "POST " + view.PathCourses + "/{id}/edit": change,
	"GET " + view.PathCourses + "/{id}/archive": look, "POST " + view.PathCourses + "/{id}/archive": change,
	"GET " + view.PathCourses + "/{id}/restore": look, "POST " + view.PathCourses + "/{id}/restore": change,

	"GET " + view.PathFind: look, "GET " + view.PathRequests: look, "GET " + view.PathRequests + "/{id}": look,
	"GET " + view.PathAssignments: look, "GET " + view.PathAssignmentsExport: look, "GET " + view.PathAssignments + "/{id}": look,
	"GET " + view.PathAssign: look, "POST " + view.PathAssignPreview: look, "POST " + view.PathAssign: change,
	"GET " + view.PathAssignments + "/{id}/deadline": look, "POST " + view.PathAssignments + "/{id}/deadline": change,
	"GET " + view.PathAssignments + "/{id}/required": look, "POST " + view.PathAssignments + "/{id}/required": change,
	"GET " + view.PathAssignments + "/{id}/grant": look, "POST " + view.PathAssignments + "/{id}/grant": change,
	"GET " + view.PathAssignments + "/{id}/revoke": look, "POST " + view.PathAssignments + "/{id}/revoke": change,
	"GET " + view.PathBulk: look, "POST " + view.PathBulk: change, "GET " + view.PathJobs + "/{id}": look,
	"GET " + view.PathJobs + "/{id}/cancel": look, "POST " + view.PathJobs + "/{id}/cancel": change, "POST " + view.PathJobs + "/{id}/undo": change,

	"GET " + view.PathReports: look, "GET " + view.PathReport("person"): look,
	"GET " + view.PathViewNew: look, "POST " + view.PathViewNew: change,
	"GET " + view.PathViews + "/{id}/rename": look, "POST " + view.PathViews + "/{id}/rename": change,
	"GET " + view.PathViews + "/{id}/remove": look, "POST " + view.PathViews + "/{id}/remove": change,
	"GET " + view.PathReport("overdue"): look, "GET " + view.PathReport("overdue", "export"): look,
	"GET " + view.PathReport("courses"): look, "GET " + view.PathReport("courses", "export"): look,
	"GET " + view.PathReport("tags"): look, "GET " + view.PathReport("tags", "export"): look,
	"GET " + view.PathReport("compliance"): look, "GET " + view.PathReport("compliance", "export"): look,
	"GET " + view.PathReport("matrix"): look, "GET " + view.PathReport("matrix", "export"): look,
	"GET " + view.PathEmployees + "/{id}/record": look, "GET " + view.PathEmployees + "/{id}/record/export": look,

	"GET " + view.PathTokens: look, "GET " + view.PathTokenNew: look, "POST " + view.PathTokenNew: change,
	"GET " + view.PathTokens + "/{id}": look, "GET " + view.PathTokens + "/{id}/created": look,
	"GET " + view.PathWebhookEvents:               look,
	"GET " + view.PathTokens + "/{id}/regenerate": look, "POST " + view.PathTokens + "/{id}/regenerate": change,
	"GET " + view.PathTokens + "/{id}/end-old": look, "POST " + view.PathTokens + "/{id}/end-old": change,
	"GET " + view.PathTokens + "/{id}/rename": look, "POST " + view.PathTokens + "/{id}/rename": change,
	"GET " + view.PathTokens + "/{id}/revoke": look, "POST " + view.PathTokens + "/{id}/revoke": change,

	"GET " + view.PathWebhooks: look, "GET " + view.PathWebhookNew: look, "POST " + view.PathWebhookNew: change,
	"POST " + view.PathWebhookCheck: look, "GET " + view.PathWebhooks + "/{id}": look,
	"GET " + view.PathWebhooks + "/{id}/edit": look, "POST " + view.PathWebhooks + "/{id}/edit": change,
	"POST " + view.PathWebhooks + "/{id}/secret": change, "POST " + view.PathWebhooks + "/{id}/test": change,
	"GET " + view.PathWebhooks + "/{id}/rotate": look, "POST " + view.PathWebhooks + "/{id}/rotate": change,
	"GET " + view.PathWebhooks + "/{id}/disable": look, "POST " + view.PathWebhooks + "/{id}/disable": change,
	"GET " + view.PathWebhooks + "/{id}/enable": look, "POST " + view.PathWebhooks + "/{id}/enable": change,
	"GET " + view.PathWebhooks + "/{id}/remove": look, "POST " + view.PathWebhooks + "/{id}/remove": change,

	"GET " + view.PathDeliveriesExport: look, "GET " + view.PathRequestsExport: look,
	"GET " + view.PathTokensExport: look, "GET " + view.PathWebhooksExport: look,

	"GET " + view.PathDeliveries: look, "GET " + view.PathDeliveries + "/{id}": look,
	"POST " + view.PathDeliveries + "/{id}/redeliver": change,
	"GET " + view.PathRedeliver:                       look, "POST " + view.PathRedeliver: change, "GET " + view.PathRedeliver + "/{id}": look,

	"GET " + view.PathSettings: look, "POST " + view.PathSettings: manage,
	"GET " + view.PathAdministrators: look, "GET " + view.PathInvite: look, "POST " + view.PathInvite: manage,
	"GET " + view.PathAdministrators + "/{id}/invited": look,
	"GET " + view.PathAdministrators + "/{id}/link":    look, "POST " + view.PathAdministrators + "/{id}/link": manage,
	"GET " + view.PathAdministrators + "/{id}/role": look, "POST " + view.PathAdministrators + "/{id}/role": manage,
	"GET " + view.PathAdministrators + "/{id}/remove": look, "POST " + view.PathAdministrators + "/{id}/remove": manage,
}

// TestEveryPageAsEachRole sends every form as people who may not, and opens every
// page as a viewer, also of a suspended company.
func TestEveryPageAsEachRole(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		owner := f.administrator()
		token, _ := owner.createToken("HR")
		webhook := owner.addWebhook("https://hooks.example.com/hr")
		person := owner.addPerson("Janis Kalns", "janis@baltic.example")
		imported := owner.upload("name,email\nX,x@baltic.example\n")
		owner.post(view.PathViewNew, "page", "overdue", "tag", "night", "name", "Night shift").wantStatus(http.StatusSeeOther)
		owner.post(view.PathInvite, "email", "guest@baltic.example", "role", "viewer").wantStatus(http.StatusSeeOther)
		guest := owner.get(view.PathAdministrators).find(`href="(` + view.PathAdministrators + `/\d+)/remove"`)
		invited := func(role string) *visitor {
			link := owner.post(view.PathInvite, "email", role+"@baltic.example", "role", role).follow().secret()
			v := f.visitor()
			v.useLink(link)
			return v
		}
		viewer, administrator := invited("viewer"), invited("administrator")
		path := func(pattern string) string {
			_, path, _ := strings.Cut(pattern, " ")
			for prefix, real := range map[string]string{view.PathTokens: token, view.PathWebhooks: webhook, view.PathEmployees: person, view.PathImports: imported, view.PathAdministrators: guest} {
				path = strings.Replace(path, prefix+"/{id}", real, 1)
			}
			return strings.Replace(path, "{id}", "1", 1)
		}
		check := func(pattern, who string, v *visitor, denied bool) {
			method, _, _ := strings.Cut(pattern, " ")
			form := []string{}
			if method == http.MethodPost {
				form = append(form, "name", "x", "role", "viewer", "scope", "b2b_provision", "expiry", "90", "grace", "1")
			}
			var got int
			if method == http.MethodPost {
				got = v.post(path(pattern), form...).status
			} else {
				got = v.get(path(pattern)).status
			}
			if denied != (got == http.StatusForbidden) || got >= http.StatusInternalServerError {
				f.Errorf("%s as %s: status %d, want denied %v", pattern, who, got, denied)
			}
		}
		for _, pattern := range cabinet.PrivatePatterns() {
			need, listed := routeAccess[pattern]
			if !listed {
				f.Errorf("%s has no row in routeAccess", pattern)
				continue
			}
			if need == own {
				continue // signs the person out, or changes the password
			}
			check(pattern, "a viewer", viewer, need == change || need == manage)
			if need == manage {
				check(pattern, "an administrator", administrator, true)
			}
		}
		f.exec(`UPDATE companies SET suspended_at = $1`, time.Now().UTC())
		for _, pattern := range cabinet.PrivatePatterns() {
			if need := routeAccess[pattern]; need != own {
				check(pattern, "an owner of a suspended company", owner, need == change || need == manage)
			}
		}
		owner.get(view.PathHome).wantStatus(http.StatusOK).wantText("Your company is suspended.")
	})
}
