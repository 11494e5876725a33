package faults

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// quickRetries are delays that a test can wait for.
var quickRetries = []string{"--webhook-retry-delays", "100ms,200ms,300ms,400ms,500ms"}

// moody fails now and then, so that retries are part of the load.
func moody(_ *receiver, w http.ResponseWriter, _ arrival) {
	if rand.IntN(20) == 0 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// underLoad runs writers while fn does harm.
func underLoad(t *testing.T, l *ledger, writers int, fn func()) {
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

// atAnyMoment picks the instant of a kill.
func atAnyMoment() { <-time.After(time.Duration(rand.IntN(60)) * time.Millisecond) }

func TestKillingTheOnlyServerLosesNothing(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	f, inbox := newFirm(t, database), newReceiver(t, moody)
	hook := f.listen(t, inbox.URL)
	server := serve(t, database, quickRetries...)
	servers := &fleet{urls: []string{server.url}}
	l := newLedger(t, f, servers)
	underLoad(t, l, 4, func() {
		for range 12 {
			l.grow(t, 40)
			atAnyMoment()
			server.kill()
			before, _ := inbox.all()
			began := time.Now()
			server = serve(t, database, quickRetries...)
			ready := time.Since(began)
			servers.set(0, server.url)
			inbox.until(t, 10*time.Second, "deliveries after a restart", func(all []arrival) bool { return len(all) > len(before) })
			t.Logf("killed; ready after %s, delivering after %s", ready.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
		}
		l.grow(t, 40)
	})
	l.audit(t, server.url, inbox, hook)
}

func TestKillingOneOfTwoReplicasLosesNothing(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	if database == "" {
		return
	}
	f, inbox := newFirm(t, database), newReceiver(t, moody)
	hook := f.listen(t, inbox.URL)
	replicas := []*process{serve(t, database, quickRetries...), serve(t, database, quickRetries...)}
	servers := &fleet{urls: []string{replicas[0].url, replicas[1].url}}
	l := newLedger(t, f, servers)
	underLoad(t, l, 4, func() {
		for range 8 {
			l.grow(t, 60)
			atAnyMoment()
			i := rand.IntN(2)
			replicas[i].kill()
			l.grow(t, 20) // the other one carries on alone
			replicas[i] = serve(t, database, quickRetries...)
			servers.set(i, replicas[i].url)
		}
		l.grow(t, 40)
	})
	l.audit(t, replicas[0].url, inbox, hook)
}

// The lease of a dead replica is the longest that its endpoints wait.
func TestAnotherReplicaTakesOver(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	if database == "" {
		return
	}
	f, caller := newFirm(t, database), newCaller(t)
	inbox := newReceiver(t, func(r *receiver, w http.ResponseWriter, a arrival) {
		if a.subject == "stuck" && a.attempt == "1" {
			first, _ := r.all()
			if countAbout(first, "stuck") == 1 {
				<-r.leave // the replica dies waiting for this one
				return
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
	f.listen(t, inbox.URL)
	first := serve(t, database)
	f.join(t, caller, first.url, "stuck")
	inbox.about(t, patience, "stuck", 1)
	second := serve(t, database)
	first.kill()
	died := time.Now()
	f.join(t, caller, second.url, "after")
	inbox.about(t, 12*time.Second, "after", 1)
	again := inbox.about(t, 12*time.Second, "stuck", 2)
	if again[0].delivery != again[1].delivery {
		t.Errorf("the delivery has two ids: %s and %s", again[0].delivery, again[1].delivery)
	}
	took := again[1].at.Sub(died)
	t.Logf("taken over after %s", took.Round(time.Millisecond))
	if took > 10*time.Second {
		t.Errorf("the take-over took %s, want at most 10 s", took)
	}
}

func countAbout(all []arrival, subject string) int {
	n := 0
	for _, a := range all {
		if a.subject == subject {
			n++
		}
	}
	return n
}
