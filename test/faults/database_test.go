package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// unavailable checks that every kind of call says so, in the error body.
func unavailable(t *testing.T, f firm, caller *http.Client, base string) {
	t.Helper()
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPost, "/api/v1/employees/provision", someone("lost")},
		{http.MethodGet, "/api/v1/employees", nil},
		{http.MethodGet, "/api/v1/employees/there", nil},
		{http.MethodPost, "/api/v1/assignments/bulk", map[string]any{"items": []task{{"there", f.course, "lost"}}}},
		{http.MethodGet, "/api/v1/assignments?updatedSince=2026-01-01T00:00:00Z", nil},
	} {
		began := time.Now()
		got, err := f.call(t.Context(), caller, c.method, base+c.path, c.body)
		if err != nil {
			t.Fatalf("%s %s: no answer after %s: %v", c.method, c.path, time.Since(began), err)
		}
		wantError(t, got, http.StatusServiceUnavailable, "unavailable")
	}
}

// works waits until a change goes through and is told of.
func works(t *testing.T, f firm, caller *http.Client, base, who string, inbox *receiver) {
	t.Helper()
	took := eventually(t, 15*time.Second, "a change after the outage", func() error {
		got, err := f.call(t.Context(), caller, http.MethodPost, base+"/api/v1/employees/provision", someone(who))
		return want(got.status, err, http.StatusOK)
	})
	eventually(t, 15*time.Second, "/readyz after the outage", func() error {
		status, err := probe(caller, base+"/readyz")
		return want(status, err, http.StatusOK)
	})
	inbox.about(t, 15*time.Second, who, 1)
	t.Logf("changes go through after %s", took.Round(time.Millisecond))
}

func TestPostgresGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	if direct == "" {
		return
	}
	f, caller, inbox := newFirm(t, direct), newCaller(t), newReceiver(t, nil)
	f.listen(t, inbox.URL)
	database, line := behindProxy(t, direct)
	server := serve(t, database)
	f.join(t, caller, server.url, "there")
	inbox.about(t, patience, "there", 1)
	for round := range 2 {
		line.cut()
		eventually(t, patience, "/readyz turns red", func() error {
			status, err := probe(caller, server.url+"/readyz")
			return want(status, err, http.StatusServiceUnavailable)
		})
		unavailable(t, f, caller, server.url)
		if status, err := probe(caller, server.url+"/healthz"); err != nil || status != http.StatusOK {
			t.Errorf("/healthz: %d, %v: the process itself is well", status, err)
		}
		line.open(t)
		works(t, f, caller, server.url, fmt.Sprintf("back-%d", round), inbox)
	}
	if f.has(t, caller, server.url, "lost") {
		t.Error("a change that was refused has happened")
	}
}

// A database that stops answering keeps nobody waiting for ever.
func TestPostgresFallsSilent(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	if direct == "" {
		return
	}
	f, caller, inbox := newFirm(t, direct), newCaller(t), newReceiver(t, nil)
	f.listen(t, inbox.URL)
	database, line := behindProxy(t, direct)
	server := serve(t, database)
	f.join(t, caller, server.url, "there")
	line.freeze()
	began := time.Now()
	got, err := f.call(t.Context(), caller, http.MethodGet, server.url+"/api/v1/employees/there", nil)
	if err != nil {
		t.Fatalf("no answer after %s: %v", time.Since(began), err)
	}
	wantError(t, got, http.StatusServiceUnavailable, "unavailable")
	t.Logf("answered after %s", time.Since(began).Round(time.Millisecond))
	if status, err := probe(caller, server.url+"/readyz"); err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %d, %v", status, err)
	}
	line.thaw()
	works(t, f, caller, server.url, "back", inbox)
}

// What waits in the queue while the database is away is sent once it is back.
func TestDeliveriesOutliveAnOutage(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	if direct == "" {
		return
	}
	goOn := make(chan struct{})
	f, caller := newFirm(t, direct), newCaller(t)
	inbox := newReceiver(t, func(_ *receiver, w http.ResponseWriter, _ arrival) {
		<-goOn
		w.WriteHeader(http.StatusNoContent)
	})
	hook := f.listen(t, inbox.URL)
	database, line := behindProxy(t, direct)
	server := serve(t, database)
	f.join(t, caller, server.url, "under-way")
	inbox.about(t, patience, "under-way", 1)
	line.cut()
	close(goOn) // the receiver took it, and the outcome can't be written down
	direct2 := serve(t, direct, quickRetries...)
	f.join(t, caller, direct2.url, "meanwhile")
	line.open(t)
	inbox.about(t, patience, "meanwhile", 1)
	eventually(t, patience, "every outcome is recorded", func() error {
		list := ask[struct {
			Deliveries []struct{ ID, State string }
		}](t, direct, "delivery", "list", "--company", id(f.company))
		var states []string
		for _, d := range list.Deliveries {
			states = append(states, d.State)
		}
		return want(strings.Join(states, " "), nil, "delivered delivered")
	})
	all, _ := inbox.all()
	for _, a := range all {
		if !a.signed(hook.Secret) {
			t.Errorf("the signature of %s is wrong", a.delivery)
		}
	}
}
