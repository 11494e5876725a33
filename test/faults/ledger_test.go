package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// fleet is the addresses of the servers on one database, some of which may be
// down.
type fleet struct {
	mu   sync.Mutex
	urls []string
	turn int
}

func (f *fleet) set(i int, url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.urls[i] = url
}

// next returns the addresses in turn, like a load balancer without health checks.
func (f *fleet) next() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn++
	return f.urls[f.turn%len(f.urls)]
}

// ledger records the outcome of every write. An acknowledged change must cause a
// webhook; a doubtful one (the connection broke before the answer) must cause one
// exactly if the change was made.
type ledger struct {
	company company
	fleet   *fleet

	mu       sync.Mutex
	acked    map[string]bool // by arrival.key
	doubtful map[string]bool // by the employee's external id
	changed  chan struct{}
}

func newLedger(t *testing.T, acme company, fleet *fleet) *ledger {
	t.Helper()
	return &ledger{
		company: acme, fleet: fleet,
		acked: map[string]bool{}, doubtful: map[string]bool{}, changed: make(chan struct{}),
	}
}

func (l *ledger) acknowledge(keys ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		l.acked[k] = true
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *ledger) acknowledged() (int, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked), l.changed
}

// inDoubt returns how many requests were left in doubt.
func (l *ledger) inDoubt() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.doubtful)
}

// waitForAcks waits until n more changes are acknowledged.
func (l *ledger) waitForAcks(t *testing.T, n int) {
	t.Helper()
	goal, _ := l.acknowledged()
	goal += n
	deadline := time.After(timeout)
	for {
		have, more := l.acknowledged()
		if have >= goal {
			return
		}
		select {
		case <-more:
		case <-deadline:
			t.Fatalf("%d of %d changes are acknowledged after %s", have, goal, timeout)
		}
	}
}

// write provisions people and gives them assignments until ctx ends. A failed
// request is repeated, except for every third person, who is left in doubt.
func (l *ledger) write(ctx context.Context, t *testing.T, writer int) {
	t.Helper()
	for n := 0; ctx.Err() == nil; n++ {
		who := fmt.Sprintf("p%d-%d", writer, n)
		if n%3 == 0 {
			l.provisionOnce(t, who)
		} else if l.sendUntilAcknowledged(ctx, t, "/api/v1/employees/provision", newPerson(who)) {
			l.acknowledge("employee.joined " + who)
			l.assign(ctx, t, who)
		}
	}
}

func (l *ledger) provisionOnce(t *testing.T, who string) {
	t.Helper()
	got, err := l.company.send(context.Background(), http.MethodPost, l.fleet.next()+"/api/v1/employees/provision", newPerson(who))
	switch {
	case err == nil && got.status == http.StatusOK:
		l.acknowledge("employee.joined " + who)
	case err == nil && got.status != http.StatusServiceUnavailable:
		t.Errorf("provision %s: %d %s", who, got.status, got.body)
	default:
		l.mu.Lock()
		l.doubtful[who] = true
		l.mu.Unlock()
	}
}

func (l *ledger) assign(ctx context.Context, t *testing.T, who string) {
	t.Helper()
	var items []assignment
	var keys []string
	for i := range 3 {
		items = append(items, assignment{who, l.company.courseID, fmt.Sprintf("%s-a%d", who, i)})
		keys = append(keys, "assignment.created "+items[i].ExternalID)
	}
	if l.sendUntilAcknowledged(ctx, t, "/api/v1/assignments/bulk", map[string]any{"items": items}) {
		l.acknowledge(keys...)
	}
}

// sendUntilAcknowledged repeats a request until it is acknowledged. It returns
// false if ctx ended before that.
func (l *ledger) sendUntilAcknowledged(ctx context.Context, t *testing.T, path string, body any) bool {
	t.Helper()
	for {
		got, err := l.company.send(context.Background(), http.MethodPost, l.fleet.next()+path, body)
		if err == nil && got.status == http.StatusOK {
			return allOK(t, got.body)
		}
		if err == nil && got.status != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", path, got.status, got.body)
			return false
		}
		select {
		case <-ctx.Done():
			// The change may have been made although it was not acknowledged.
			l.markDoubtful(body)
			return false
		case <-time.After(10 * time.Millisecond): // a pause between attempts
		}
	}
}

func (l *ledger) markDoubtful(body any) {
	if p, ok := body.(personRequest); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.doubtful[p.ExternalID] = true
	}
}

// allOK reports whether every item of a bulk answer succeeded.
func allOK(t *testing.T, body []byte) bool {
	t.Helper()
	var got struct {
		Data struct{ Results []struct{ OK bool } }
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Errorf("read %q: %v", body, err)
		return false
	}
	for _, r := range got.Data.Results {
		if !r.OK {
			t.Errorf("an item failed: %s", body)
			return false
		}
	}
	return true
}

// expectedEvents looks up the doubtful changes and returns the keys of the events
// that must arrive and of those that must not.
func (l *ledger) expectedEvents(t *testing.T, base string) (made, notMade map[string]bool) {
	t.Helper()
	made, notMade = maps.Clone(l.acked), map[string]bool{}
	for who := range l.doubtful {
		key := "employee.joined " + who
		if l.company.hasEmployee(t, base, who) {
			made[key] = true
		} else {
			notMade[key] = true
		}
	}
	return made, notMade
}

// checkDeliveries compares what a receiver got with the ledger, and kept totals with counted
// ones.
func (l *ledger) checkDeliveries(t *testing.T, base string, r *receiver, webhook webhook) {
	t.Helper()
	made, notMade := l.expectedEvents(t, base)
	r.waitUntil(t, timeout, "every event", func(all []arrival) bool {
		left := maps.Clone(made)
		for _, a := range all {
			delete(left, a.key())
		}
		return len(left) == 0
	})
	l.waitUntilDrained(t)
	got, _ := r.all()
	ids, bodies := map[string]map[string]bool{}, map[string]string{}
	for _, a := range got {
		if notMade[a.key()] {
			t.Errorf("%s arrived, but the change was never made", a.key())
		}
		if !a.hasSignature(webhook.Secret) {
			t.Errorf("the signature of %s is wrong", a.delivery)
		}
		if first, seen := bodies[a.delivery]; seen && first != a.body {
			t.Errorf("delivery %s carried two bodies", a.delivery)
		}
		bodies[a.delivery] = a.body
		if ids[a.key()] == nil {
			ids[a.key()] = map[string]bool{}
		}
		ids[a.key()][a.delivery] = true
	}
	for key, set := range ids {
		if len(set) != 1 {
			t.Errorf("%s has the delivery ids %v, want one", key, slices.Collect(maps.Keys(set)))
		}
	}
	l.company.checkTotals(t)
	t.Logf("%d events, %d arrivals, %d in doubt (%d of them were not made)", len(ids), len(got), len(l.doubtful), len(notMade))
}

// waitUntilDrained waits until no delivery is pending, so that events that were
// queued by mistake have arrived too.
func (l *ledger) waitUntilDrained(t *testing.T) {
	t.Helper()
	eventually(t, timeout, "an empty queue", func() error {
		list := runJSON[struct{ Deliveries []struct{ State string } }](t, l.company.database,
			"delivery", "list", "--company", formatID(l.company.id), "--state", "pending")
		return expect(len(list.Deliveries), nil, 0)
	})
}
