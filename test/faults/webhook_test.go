package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// deliveryLine is a line of the delivery log.
type deliveryLine struct {
	ID       string
	State    string
	Attempts int
}

func (f firm) deliveries(t *testing.T, flags ...string) []deliveryLine {
	t.Helper()
	args := append([]string{"delivery", "list", "--company", id(f.company)}, flags...)
	return ask[struct{ Deliveries []deliveryLine }](t, f.database, args...).Deliveries
}

func TestReceiversThatHangHoldUpNoOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		victim, other, caller := newFirm(t, database), newFirm(t, database), newCaller(t)
		stalled, healthy := newReceiver(t, hang), newReceiver(t, nil)
		for range 10 {
			victim.listen(t, stalled.URL)
		}
		victim.listen(t, "http://127.0.0.1:1/") // nobody is there
		server := serve(t, database)
		for i := range 10 {
			victim.join(t, caller, server.url, "stalled-"+strconv.Itoa(i))
		}
		stalled.until(t, patience, "every endpoint hangs", func(all []arrival) bool { return len(all) >= 10 })
		victim.listen(t, healthy.URL) // the same company, and another one
		other.listen(t, healthy.URL)
		var waits []time.Duration
		for i := range 60 {
			who, of := "healthy-"+strconv.Itoa(i), []firm{victim, other}[i%2]
			began := time.Now()
			of.join(t, caller, server.url, who)
			waits = append(waits, healthy.about(t, patience, who, 1)[0].at.Sub(began))
		}
		slices.Sort(waits)
		p95 := waits[len(waits)*95/100]
		t.Logf("p50 %s, p95 %s behind 100 stalled deliveries", waits[len(waits)/2], p95)
		if p95 > 3*time.Second { // a receiver that hangs takes 10 s
			t.Errorf("p95 is %s: healthy receivers wait for those that hang", p95)
		}
	})
}

// Attempts that are under way together may overtake one another by as many as
// there may be; beyond that, events arrive in their order, whichever replica
// made them and whichever sends them.
func TestDeliveriesKeepTheOrderOfTheirEvents(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	if database == "" {
		return
	}
	const people, together = 160, 32
	goOn := make(chan struct{})
	f, caller := newFirm(t, database), newCaller(t)
	inbox := newReceiver(t, func(_ *receiver, w http.ResponseWriter, _ arrival) {
		<-goOn
		w.WriteHeader(http.StatusNoContent)
	})
	f.listen(t, inbox.URL)
	replicas := []*process{serve(t, database), serve(t, database)}
	place := map[string]int{}
	for i := range people {
		who := fmt.Sprintf("in-order-%03d", i)
		place[who] = i
		f.join(t, caller, replicas[i%2].url, who)
	}
	replicas[0].signal(t, syscall.SIGTERM) // if it holds the lease, the other one goes on
	replicas[0].wantExit(t, stopWithin)
	close(goOn)
	arrived := map[string]bool{}
	inbox.until(t, patience, "every event", func(all []arrival) bool {
		for _, a := range all {
			arrived[a.subject] = true
		}
		return len(arrived) == people
	})
	all, _ := inbox.all()
	worst, position := 0, 0
	for _, a := range all {
		if arrived[a.subject] { // the first time
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
	each(t, func(t *testing.T, database string) {
		f, caller := newFirm(t, database), newCaller(t)
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
		f.listen(t, inbox.URL)
		server := serve(t, database, "--webhook-retry-delays", "200ms,600ms,300ms,100ms,900ms")
		f.join(t, caller, server.url, "unlucky")
		tries := inbox.about(t, patience, "unlucky", len(delays)+1)
		for i, wait := range delays {
			if i == 1 {
				wait = retryAfter // longer than the schedule's, so it wins
			}
			gap := tries[i+1].at.Sub(tries[i].at)
			if gap < wait-20*time.Millisecond || gap > wait+5*time.Second {
				t.Errorf("attempt %d came %s after the one before, want %s", i+2, gap, wait)
			}
		}
		eventually(t, patience, "the delivery is given up", func() error {
			log := f.deliveries(t, "--state", "failed")
			return want(fmt.Sprint(len(log), len(log) == 1 && log[0].Attempts == 6), nil, "1 true")
		})
		sendAgain(t, f, inbox, tries[0])
	})
}

// sendAgain has a failed delivery repeated by the operator, one and by range.
func sendAgain(t *testing.T, f firm, inbox *receiver, first arrival) {
	t.Helper()
	counted := ask[struct{ Count int }](t, f.database, "delivery", "redeliver", "--company", id(f.company), "--since", "1h", "--dry-run")
	if counted.Count != 1 {
		t.Errorf("a dry run counts %d, want 1", counted.Count)
	}
	for n := 7; n <= 8; n++ {
		ask[struct{ Count int }](t, f.database, "delivery", "redeliver", "--company", id(f.company), "--id", first.delivery)
		again := inbox.about(t, patience, first.subject, n)[n-1]
		if again.delivery != first.delivery || again.body != first.body || again.attempt != strconv.Itoa(n) {
			t.Errorf("redelivered as %+v, first sent as %+v", again, first)
		}
		eventually(t, patience, "the delivery is delivered", func() error {
			return want(len(f.deliveries(t, "--state", "delivered")), nil, 1)
		})
	}
}

func TestRedeliveringAPeriod(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		f, caller := newFirm(t, database), newCaller(t)
		well := make(chan struct{})
		inbox := newReceiver(t, func(_ *receiver, w http.ResponseWriter, _ arrival) {
			select {
			case <-well:
				w.WriteHeader(http.StatusOK)
			default:
				w.WriteHeader(http.StatusBadGateway)
			}
		})
		f.listen(t, inbox.URL)
		server := serve(t, database, "--webhook-retry-delays", "1ms,1ms,1ms,1ms,1ms")
		const people = 5
		for i := range people {
			f.join(t, caller, server.url, "p"+strconv.Itoa(i))
		}
		eventually(t, patience, "all are given up", func() error {
			return want(len(f.deliveries(t, "--state", "failed")), nil, people)
		})
		close(well)
		job := ask[struct{ Count, JobID int64 }](t, database, "delivery", "redeliver", "--company", id(f.company), "--since", "1h")
		if job.Count != people || job.JobID == 0 {
			t.Errorf("the range is %+v, want %d deliveries", job, people)
		}
		eventually(t, patience, "all are delivered", func() error {
			return want(len(f.deliveries(t, "--state", "delivered")), nil, people)
		})
	})
}
