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
	acme, ended := newLeaver(t, database, "60s")
	quiet := serve(t, database, "--no-webhooks")
	acme.mustSend(t, http.MethodDelete, quiet.url+"/api/v1/employees/leaving", nil)
	waitFor(t, ended, "the end of the attempt at the receiver")
	list := runJSON[struct{ Deliveries []struct{ State string } }](t, database, "delivery", "list", "--company", formatID(acme.id), "--state", "pending")
	if len(list.Deliveries) != 0 {
		t.Errorf("%d deliveries are pending, want none", len(list.Deliveries))
	}
}

// The command that erases a person keeps the promise of DELETE: when it ends, the server
// sends nothing about the person any more. On PostgreSQL the server cancels the attempt,
// on SQLite the command waits for its end.
func TestErasureByACommand(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		webhookTimeout := "60s"
		if database[0] == 's' {
			webhookTimeout = "1s"
		}
		_, ended := newLeaver(t, database, webhookTimeout)
		runJSON[struct{ Erased bool }](t, database, "person", "erase", "--email", newPerson("leaving").Email, "--webhook-timeout", webhookTimeout)
		if database[0] == 's' { // the command has waited four seconds longer than the attempt could last
			select {
			case <-ended:
			default:
				t.Error("the command ended while the server was sending")
			}
		}
		waitFor(t, ended, "the end of the attempt at the receiver")
	})
}

// newLeaver starts a server that is sending a webhook about the employee "leaving". The
// channel is closed when the receiver sees the end of the request.
func newLeaver(t *testing.T, database, webhookTimeout string) (company, <-chan struct{}) {
	t.Helper()
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
	sending := serve(t, database, "--webhook-timeout", webhookTimeout)
	acme.provision(t, sending.url, "leaving")
	waitFor(t, began, "the webhook about the new employee")
	return acme, ended
}

func waitFor(t *testing.T, signal <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(timeout):
		t.Fatalf("%s did not come within %s", what, timeout)
	}
}
