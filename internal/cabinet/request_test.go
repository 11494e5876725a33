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
