package faults

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"
)

// quickRetries are retry delays that are short enough for a test.
var quickRetries = []string{"--webhook-retry-delays", "100ms,200ms,300ms,400ms,500ms"}

// failSometimes answers every 20th request, at random, with an error, so that
// deliveries are retried.
func failSometimes(_ *receiver, w http.ResponseWriter, _ arrival) {
	if rand.IntN(20) == 0 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// whileWriting runs fn while several goroutines write to the ledger.
func whileWriting(t *testing.T, l *ledger, writers int, fn func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() { l.write(ctx, t, i) })
	}
	defer all.Wait()
	defer cancel()
	fn()
}

// pauseRandomly waits for up to 60 ms, so that a kill hits any phase of the work.
func pauseRandomly() { <-time.After(time.Duration(rand.IntN(60)) * time.Millisecond) }

func TestKillingTheOnlyServerLosesNothing(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	acme, inbox := newCompany(t, database), newReceiver(t, failSometimes)
	webhook := acme.addWebhook(t, inbox.URL)
	server := serve(t, database, quickRetries...)
	servers := &fleet{urls: []string{server.url}}
	l := newLedger(t, acme, servers)
	whileWriting(t, l, 4, func() {
		for range 12 {
			l.waitForAcks(t, 40)
			pauseRandomly()
			server.kill()
			before, _ := inbox.all()
			began := time.Now()
			server = serve(t, database, quickRetries...)
			ready := time.Since(began)
			servers.set(0, server.url)
			inbox.waitUntil(t, 10*time.Second, "deliveries after a restart", func(all []arrival) bool { return len(all) > len(before) })
			t.Logf("killed; ready after %s, delivering after %s", ready.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
		}
		l.waitForAcks(t, 40)
	})
	l.checkDeliveries(t, server.url, inbox, webhook)
}

func TestKillingOneOfTwoReplicasLosesNothing(t *testing.T) {
	t.Parallel()
	database := postgresDatabase(t)
	acme, inbox := newCompany(t, database), newReceiver(t, failSometimes)
	webhook := acme.addWebhook(t, inbox.URL)
	replicas := []*process{serve(t, database, quickRetries...), serve(t, database, quickRetries...)}
	servers := &fleet{urls: []string{replicas[0].url, replicas[1].url}}
	l := newLedger(t, acme, servers)
	whileWriting(t, l, 4, func() {
		for range 8 {
			l.waitForAcks(t, 60)
			pauseRandomly()
			i := rand.IntN(2)
			replicas[i].kill()
			l.waitForAcks(t, 20) // the other replica works alone
			replicas[i] = serve(t, database, quickRetries...)
			servers.set(i, replicas[i].url)
		}
		l.waitForAcks(t, 40)
	})
	l.checkDeliveries(t, replicas[0].url, inbox, webhook)
}

// When a replica dies, another one sends to its endpoints as soon as the leases
// have expired.
func TestAnotherReplicaTakesOverExpiredLeases(t *testing.T) {
	t.Parallel()
	database := postgresDatabase(t)
	acme := newCompany(t, database)
	inbox := newReceiver(t, func(r *receiver, w http.ResponseWriter, a arrival) {
		if a.subject == "stuck" && a.attempt == "1" {
			first, _ := r.all()
			if countSubject(first, "stuck") == 1 {
				<-r.done // the replica is killed while it waits for this answer
				return
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
	acme.addWebhook(t, inbox.URL)
	first := serve(t, database)
	acme.provision(t, first.url, "stuck")
	inbox.waitFor(t, timeout, "stuck", 1)
	second := serve(t, database)
	first.kill()
	died := time.Now()
	acme.provision(t, second.url, "after")
	inbox.waitFor(t, 12*time.Second, "after", 1)
	again := inbox.waitFor(t, 12*time.Second, "stuck", 2)
	if again[0].delivery != again[1].delivery {
		t.Errorf("the delivery has two ids: %s and %s", again[0].delivery, again[1].delivery)
	}
	took := again[1].at.Sub(died)
	t.Logf("another replica took over after %s", took.Round(time.Millisecond))
	if took > 10*time.Second {
		t.Errorf("the takeover took %s, want at most 10 s", took)
	}
}

func countSubject(all []arrival, subject string) int {
	n := 0
	for _, a := range all {
		if a.subject == subject {
			n++
		}
	}
	return n
}
