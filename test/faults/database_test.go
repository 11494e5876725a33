package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// wantUnavailable checks that every kind of call is answered with the error
// "unavailable".
func wantUnavailable(t *testing.T, acme company, base string) {
	t.Helper()
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPost, "/api/v1/employees/provision", newPerson("lost")},
		{http.MethodGet, "/api/v1/employees", nil},
		{http.MethodGet, "/api/v1/employees/there", nil},
		{http.MethodPost, "/api/v1/assignments/bulk", map[string]any{"items": []assignment{{"there", acme.courseID, "lost"}}}},
		{http.MethodGet, "/api/v1/assignments?updatedSince=2026-01-01T00:00:00Z", nil},
	} {
		began := time.Now()
		got, err := acme.send(t.Context(), c.method, base+c.path, c.body)
		if err != nil {
			t.Fatalf("%s %s: no answer after %s: %v", c.method, c.path, time.Since(began), err)
		}
		wantError(t, got, http.StatusServiceUnavailable, "unavailable")
	}
}

// waitForRecovery waits until a change succeeds and its webhook arrives.
func waitForRecovery(t *testing.T, acme company, base, who string, inbox *receiver) {
	t.Helper()
	took := eventually(t, 15*time.Second, "a change after the outage", func() error {
		got, err := acme.send(t.Context(), http.MethodPost, base+"/api/v1/employees/provision", newPerson(who))
		return expect(got.status, err, http.StatusOK)
	})
	eventually(t, 15*time.Second, "/readyz after the outage", func() error {
		status, err := probe(acme.client, base+"/readyz")
		return expect(status, err, http.StatusOK)
	})
	inbox.waitFor(t, 15*time.Second, who, 1)
	t.Logf("changes go through after %s", took.Round(time.Millisecond))
}

func TestPostgresGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	direct := postgresDatabase(t)
	acme, inbox := newCompany(t, direct), newReceiver(t, nil)
	acme.addWebhook(t, inbox.URL)
	database, line := behindProxy(t, direct)
	server := serve(t, database)
	acme.provision(t, server.url, "there")
	inbox.waitFor(t, timeout, "there", 1)
	for round := range 2 {
		line.disconnect()
		eventually(t, timeout, "/readyz turns red", func() error {
			status, err := probe(acme.client, server.url+"/readyz")
			return expect(status, err, http.StatusServiceUnavailable)
		})
		wantUnavailable(t, acme, server.url)
		if status, err := probe(acme.client, server.url+"/healthz"); err != nil || status != http.StatusOK {
			t.Errorf("/healthz: %d, %v: want 200, the process is alive", status, err)
		}
		line.listen(t)
		waitForRecovery(t, acme, server.url, fmt.Sprintf("back-%d", round), inbox)
	}
	if acme.hasEmployee(t, server.url, "lost") {
		t.Error("a change that was refused was made after all")
	}
}

// Requests are answered with an error while the database does not respond.
func TestPostgresStopsResponding(t *testing.T) {
	t.Parallel()
	direct := postgresDatabase(t)
	acme, inbox := newCompany(t, direct), newReceiver(t, nil)
	acme.addWebhook(t, inbox.URL)
	database, line := behindProxy(t, direct)
	server := serve(t, database)
	acme.provision(t, server.url, "there")
	line.freeze()
	began := time.Now()
	got, err := acme.send(t.Context(), http.MethodGet, server.url+"/api/v1/employees/there", nil)
	if err != nil {
		t.Fatalf("no answer after %s: %v", time.Since(began), err)
	}
	wantError(t, got, http.StatusServiceUnavailable, "unavailable")
	t.Logf("answered after %s", time.Since(began).Round(time.Millisecond))
	if status, err := probe(acme.client, server.url+"/readyz"); err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %d, %v", status, err)
	}
	line.thaw()
	waitForRecovery(t, acme, server.url, "back", inbox)
}

// Deliveries that were queued before an outage are sent after it.
func TestDeliveriesOutliveAnOutage(t *testing.T) {
	t.Parallel()
	direct := postgresDatabase(t)
	release := make(chan struct{})
	acme := newCompany(t, direct)
	inbox := newReceiver(t, func(_ *receiver, w http.ResponseWriter, _ arrival) {
		<-release
		w.WriteHeader(http.StatusNoContent)
	})
	webhook := acme.addWebhook(t, inbox.URL)
	database, line := behindProxy(t, direct)
	server := serve(t, database)
	acme.provision(t, server.url, "under-way")
	inbox.waitFor(t, timeout, "under-way", 1)
	line.disconnect()
	close(release) // the receiver accepts it, but the outcome can't be recorded
	other := serve(t, direct, quickRetries...)
	acme.provision(t, other.url, "meanwhile")
	line.listen(t)
	inbox.waitFor(t, timeout, "meanwhile", 1)
	eventually(t, timeout, "every outcome is recorded", func() error {
		list := runJSON[struct {
			Deliveries []struct{ ID, State string }
		}](t, direct, "delivery", "list", "--company", formatID(acme.id))
		var states []string
		for _, d := range list.Deliveries {
			states = append(states, d.State)
		}
		return expect(strings.Join(states, " "), nil, "delivered delivered")
	})
	all, _ := inbox.all()
	for _, a := range all {
		if !a.hasSignature(webhook.Secret) {
			t.Errorf("the signature of %s is wrong", a.delivery)
		}
	}
}

// Connections break after COMMIT was carried out and before its answer arrived. What
// was acknowledged is there, a repeated request makes nothing twice, and every change
// that was made has its event.
func TestConnectionsCutInTheMiddleOfACommit(t *testing.T) {
	t.Parallel()
	repeatUnderTorture(t, cutCommits)
}

func cutCommits(t *testing.T) {
	t.Helper()
	direct := postgresDatabase(t)
	acme, inbox := newCompany(t, direct), newReceiver(t, failSometimes)
	webhook := acme.addWebhook(t, inbox.URL)
	database, line := behindProxy(t, direct)
	server := serve(t, database, quickRetries...)
	l := newLedger(t, acme, &fleet{urls: []string{server.url}})
	whileWriting(t, l, 4, func() {
		l.waitForAcks(t, 20)
		line.cutCommits(5)
		l.waitForAcks(t, 150)
		// Commits of webhooks are cut too. They may be all of them for a while.
		for deadline := time.Now().Add(timeout); l.inDoubt() == 0 && time.Now().Before(deadline); {
			l.waitForAcks(t, 20)
		}
		line.cutCommits(0)
		l.waitForAcks(t, 20)
	})
	if l.inDoubt() == 0 {
		t.Error("no request was left in doubt: the connections were not cut")
	}
	l.checkDeliveries(t, server.url, inbox, webhook)
}
