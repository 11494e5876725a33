package faults

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A person is deleted through a server that sends no webhooks while another replica
// sends one about them: when the request is answered, nothing is under way any more.
func TestErasureThroughAServerWithoutWebhooks(t *testing.T) {
	t.Parallel()
	database := postgresDatabase(t)
	acme := newCompany(t, database)
	began, ended := make(chan struct{}), make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(began)
		<-r.Context().Done()
		close(ended)
	}))
	t.Cleanup(hanging.Close)
	acme.addWebhook(t, hanging.URL)
	sending, quiet := serve(t, database, "--webhook-timeout", "60s"), serve(t, database, "--no-webhooks")
	acme.provision(t, sending.url, "leaving")
	waitFor(t, began, "the webhook about the new employee")
	acme.mustSend(t, http.MethodDelete, quiet.url+"/api/v1/employees/leaving", nil)
	waitFor(t, ended, "the end of the attempt at the receiver")
	list := runJSON[struct{ Deliveries []struct{ State string } }](t, database, "delivery", "list", "--company", formatID(acme.id), "--state", "pending")
	if len(list.Deliveries) != 0 {
		t.Errorf("%d deliveries are pending, want none", len(list.Deliveries))
	}
}

func waitFor(t *testing.T, signal <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(timeout):
		t.Fatalf("%s did not come within %s", what, timeout)
	}
}
