package cabinet_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func recordRequests(c *app.ServeConfig) { c.Retention.Requests = 7 * 24 * time.Hour }

func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	onEachEngineWith(t, apptest.Options{Serve: recordRequests}, func(f fixture) {
		v := f.administrator()
		v.get(view.PathRequests).wantStatus(http.StatusOK).wantText("No requests yet")
		path, token := v.createToken("HR sync")
		f.provision(token, 1, 1)
		f.callAPI(token, http.MethodPost, "/employees/provision", map[string]string{"externalId": "nobody-here"})
		v.waitForText(view.PathRequests, "400 invalid request").wantText("2 requests", "POST /api/v1/employees/provision", "HR sync").wantNoText("nobody-here")
		v.get(view.PathRequests+"?outcome=failed").wantStatus(http.StatusOK).wantText("1 request", "400 invalid request")
		v.get(view.PathRequests + "?outcome=succeeded&period=1h").wantStatus(http.StatusOK).wantText("1 request").wantNoText("invalid request")
		v.get(view.PathRequests + "?q=no-such-id").wantStatus(http.StatusOK).wantText("Nothing matches")
		v.get(path).wantStatus(http.StatusOK).wantText("1 succeeded, 1 failed")
		f.exec(`UPDATE api_request_hours SET failed = failed + 3, server_errors = server_errors + 3`)
		v.get(view.PathRequests).wantStatus(http.StatusOK).wantText(`data-key="delivered">1<`, `data-key="retrying">1</b> client errors (4xx)`, `data-key="failed">3</b> server errors (5xx)`)
		detail := v.get(view.PathRequests + "?outcome=failed").find(`href="(` + view.PathRequests + `/\d+)"`)
		v.get(detail).wantStatus(http.StatusOK).wantText("email", "is required", "externalId", "•••", "Audit log entries of this request").wantNoText("nobody-here")
		v.get(view.PathRequests + "/99999").wantStatus(http.StatusNotFound)

		// The audit entry of a call leads to the call, and back.
		made := v.get(view.PathRequests + "?outcome=succeeded").find(`href="(` + view.PathRequests + `/\d+)"`)
		back := v.get(made).wantStatus(http.StatusOK).wantNoText("Request body").find(`href="(` + view.PathAudit + `\?q=[^"]+)"`)
		there := v.get(back).wantStatus(http.StatusOK).wantText("Person 1").find(`href="(` + view.PathRequests + `\?q=[^"]+)"`)
		v.get(there).wantStatus(http.StatusOK).wantText("1 request")
	})
}

func TestFailedRequestsAreKeptAsTheCompanyChooses(t *testing.T) {
	t.Parallel()
	onEachEngineWith(t, apptest.Options{Serve: recordRequests}, func(f fixture) {
		v := f.administrator()
		save := func(pairs ...string) {
			v.post(view.PathSettings, append(pairs, "name", "Baltic Freight", "timeZone", "UTC", "deadlineDays", "30")...).wantStatus(http.StatusSeeOther)
		}
		v.get(view.PathSettings).wantText("Keep the request body").find(`name="mask" value="externalId" (checked)`)
		save("keepBodies", "1", "mask", "email", "mask", "name", "mask", "tags")
		v.get(view.PathSettings).wantStatus(http.StatusOK).find(`name="mask" value="externalId"(>)`)
		const failed, link = view.PathRequests + "?outcome=failed", `href="(` + view.PathRequests + `/\d+)"`
		_, token := v.createToken("Shows external ids")
		f.provision(token, 1, 1)
		f.callAPI(token, http.MethodPost, "/employees/provision", map[string]string{
			"externalId": "HR-1", "email": "other@baltic.example", "name": "Somebody Else",
		})
		shown := v.waitForText(failed, "external id taken").find(link)
		v.get(shown).wantStatus(http.StatusOK).wantText("HR-1").wantNoText("other@baltic.example", "Somebody Else")
		f.callAPI(token, http.MethodDelete, "/employees/HR-1", nil)
		v.get(shown).wantStatus(http.StatusOK).wantText("deleted together with").wantNoText("HR-1")

		save()
		_, token = v.createToken("Keeps no bodies") // a new token is not in the cache with the old settings
		f.callAPI(token, http.MethodPost, "/employees/provision", map[string]string{"externalId": "HR-2"})
		off := v.waitForText(failed, "400 invalid request").find(link)
		v.get(off).wantStatus(http.StatusOK).wantText("is required", "does not keep the bodies").wantNoText("HR-2")

		// A page explains that its search is bounded.
		f.exec(`INSERT INTO api_requests (company_id, at, token_id, method, route, status, duration_us, request_id, code)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
			SELECT r.company_id, r.at, r.token_id, r.method, r.route, 200, 1, 'same-' || n.i, '' FROM n, api_requests r WHERE r.id = (SELECT max(id) FROM api_requests)`)
		v.get(view.PathRequests + "?q=same-").wantStatus(http.StatusOK).wantText("Type more of it")
		v.get(view.PathRequests + "?q=same-7").wantStatus(http.StatusOK).wantNoText("Type more of it")
	})
}

func TestRequestsCanBeOff(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.get(view.PathRequests).wantStatus(http.StatusOK).wantText("Requests are not recorded")
		path, _ := v.createToken("HR sync")
		v.get(path).wantStatus(http.StatusOK).wantText("not recorded")
	})
}
