package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// deliveryLine is a line of the delivery log.
type deliveryLine struct {
	ID       string
	State    string
	Attempts int
}

func (c company) deliveries(t *testing.T, flags ...string) []deliveryLine {
	t.Helper()
	args := append([]string{"delivery", "list", "--company", formatID(c.id)}, flags...)
	return runJSON[struct{ Deliveries []deliveryLine }](t, c.database, args...).Deliveries
}

func TestHangingReceiversDelayNoOthers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		victim, other := newCompany(t, database), newCompany(t, database)
		stalled, healthy := newReceiver(t, hang), newReceiver(t, nil)
		for range 10 {
			victim.addWebhook(t, stalled.URL)
		}
		victim.addWebhook(t, "http://127.0.0.1:1/") // nothing listens there
		server := serve(t, database)
		for i := range 10 {
			victim.provision(t, server.url, "stalled-"+strconv.Itoa(i))
		}
		stalled.waitUntil(t, timeout, "every endpoint hangs", func(all []arrival) bool { return len(all) >= 10 })
		victim.addWebhook(t, healthy.URL) // a healthy webhook of the same company, and one of another
		other.addWebhook(t, healthy.URL)
		var waits []time.Duration
		for i := range 60 {
			who, of := "healthy-"+strconv.Itoa(i), []company{victim, other}[i%2]
			began := time.Now()
			of.provision(t, server.url, who)
			waits = append(waits, healthy.waitFor(t, timeout, who, 1)[0].at.Sub(began))
		}
		slices.Sort(waits)
		p95 := waits[len(waits)*95/100]
		t.Logf("p50 %s, p95 %s behind 100 stalled deliveries", waits[len(waits)/2], p95)
		if p95 > 3*time.Second { // a receiver that hangs is given up after 10 s
			t.Errorf("p95 is %s: healthy receivers wait for the ones that hang", p95)
		}
	})
}

// Up to 32 attempts to an endpoint are in flight at once and may overtake each
// other. Apart from that, events arrive in order, whichever replicas recorded and
// sent them.
func TestDeliveriesKeepTheOrderOfTheirEvents(t *testing.T) {
	t.Parallel()
	database := postgresDatabase(t)
	const people, together = 160, 32
	release := make(chan struct{})
	acme := newCompany(t, database)
	inbox := newReceiver(t, func(_ *receiver, w http.ResponseWriter, _ arrival) {
		<-release
		w.WriteHeader(http.StatusNoContent)
	})
	acme.addWebhook(t, inbox.URL)
	replicas := []*process{serve(t, database), serve(t, database)}
	place := map[string]int{}
	for i := range people {
		who := fmt.Sprintf("in-order-%03d", i)
		place[who] = i
		acme.provision(t, replicas[i%2].url, who)
	}
	replicas[0].signal(t, syscall.SIGTERM) // if it holds the lease, the other replica takes over
	replicas[0].wantExit(t, stopWithin)
	close(release)
	arrived := map[string]bool{}
	inbox.waitUntil(t, timeout, "every event", func(all []arrival) bool {
		for _, a := range all {
			arrived[a.subject] = true
		}
		return len(arrived) == people
	})
	all, _ := inbox.all()
	worst, position := 0, 0
	for _, a := range all {
		if arrived[a.subject] { // its first arrival
			delete(arrived, a.subject)
			worst = max(worst, place[a.subject]-position)
			position++
		}
	}
	t.Logf("the furthest that an event overtook others: %d", worst)
	if worst >= together {
		t.Errorf("an event arrived %d places early", worst)
	}
}

func TestRetriesKeepTheirDelays(t *testing.T) {
	t.Parallel()
	delays := []time.Duration{200 * time.Millisecond, 600 * time.Millisecond, 300 * time.Millisecond, 100 * time.Millisecond, 900 * time.Millisecond}
	const retryAfter = 2 * time.Second
	eachEngine(t, func(t *testing.T, database string) {
		acme := newCompany(t, database)
		inbox := newReceiver(t, func(_ *receiver, w http.ResponseWriter, a arrival) {
			switch a.attempt {
			case "2":
				w.Header().Set("Retry-After", "2")
				w.WriteHeader(http.StatusServiceUnavailable)
			case "7", "8":
				w.WriteHeader(http.StatusOK)
			default:
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		acme.addWebhook(t, inbox.URL)
		server := serve(t, database, "--webhook-retry-delays", "200ms,600ms,300ms,100ms,900ms")
		acme.provision(t, server.url, "unlucky")
		tries := inbox.waitFor(t, timeout, "unlucky", len(delays)+1)
		for i, wait := range delays {
			if i == 1 {
				wait = retryAfter // longer than the scheduled delay
			}
			gap := tries[i+1].at.Sub(tries[i].at)
			if gap < wait-20*time.Millisecond || gap > wait+5*time.Second {
				t.Errorf("attempt %d came %s after the one before, want %s", i+2, gap, wait)
			}
		}
		eventually(t, timeout, "the delivery is given up", func() error {
			log := acme.deliveries(t, "--state", "failed")
			return expect(fmt.Sprint(len(log), len(log) == 1 && log[0].Attempts == 6), nil, "1 true")
		})
		checkRedelivery(t, acme, inbox, tries[0])
	})
}

// checkRedelivery redelivers a failed delivery twice by command and checks what
// arrives.
func checkRedelivery(t *testing.T, acme company, inbox *receiver, first arrival) {
	t.Helper()
	counted := runJSON[struct{ Count int }](t, acme.database, "delivery", "redeliver", "--company", formatID(acme.id), "--since", "1h", "--dry-run")
	if counted.Count != 1 {
		t.Errorf("a dry run counts %d, want 1", counted.Count)
	}
	for n := 7; n <= 8; n++ {
		runJSON[struct{ Count int }](t, acme.database, "delivery", "redeliver", "--company", formatID(acme.id), "--id", first.delivery)
		again := inbox.waitFor(t, timeout, first.subject, n)[n-1]
		if again.delivery != first.delivery || again.body != first.body || again.attempt != strconv.Itoa(n) {
			t.Errorf("redelivered as %+v, first sent as %+v", again, first)
		}
		eventually(t, timeout, "the delivery is delivered", func() error {
			return expect(len(acme.deliveries(t, "--state", "delivered")), nil, 1)
		})
	}
}

func TestRedeliveringAPeriod(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		acme := newCompany(t, database)
		well := make(chan struct{})
		inbox := newReceiver(t, func(_ *receiver, w http.ResponseWriter, _ arrival) {
			select {
			case <-well:
				w.WriteHeader(http.StatusOK)
			default:
				w.WriteHeader(http.StatusBadGateway)
			}
		})
		acme.addWebhook(t, inbox.URL)
		server := serve(t, database, "--webhook-retry-delays", "1ms,1ms,1ms,1ms,1ms")
		const people = 5
		for i := range people {
			acme.provision(t, server.url, "p"+strconv.Itoa(i))
		}
		eventually(t, timeout, "all are given up", func() error {
			return expect(len(acme.deliveries(t, "--state", "failed")), nil, people)
		})
		close(well)
		job := runJSON[struct{ Count, JobID int64 }](t, database, "delivery", "redeliver", "--company", formatID(acme.id), "--since", "1h")
		if job.Count != people || job.JobID == 0 {
			t.Errorf("the range is %+v, want %d deliveries", job, people)
		}
		eventually(t, timeout, "all are delivered", func() error {
			return expect(len(acme.deliveries(t, "--state", "delivered")), nil, people)
		})
	})
}
