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

// fleet is the servers on one database; any of them may be dead.
type fleet struct {
	mu   sync.Mutex
	urls []string
	next int
}

func (f *fleet) set(i int, url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.urls[i] = url
}

// url gives the servers by turns, as a balancer that knows of no failure would.
func (f *fleet) url() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	return f.urls[f.next%len(f.urls)]
}

// ledger is what writers know of their changes: acknowledged ones must be told
// of, doubtful ones exactly if they are there.
type ledger struct {
	firm   firm
	caller *http.Client
	fleet  *fleet

	mu       sync.Mutex
	acked    map[string]bool // by the key of the event
	doubtful map[string]bool // external ids of people
	more     chan struct{}
}

func newLedger(t *testing.T, f firm, fleet *fleet) *ledger {
	t.Helper()
	return &ledger{
		firm: f, caller: newCaller(t), fleet: fleet,
		acked: map[string]bool{}, doubtful: map[string]bool{}, more: make(chan struct{}),
	}
}

func (l *ledger) note(keys ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		l.acked[k] = true
	}
	close(l.more)
	l.more = make(chan struct{})
}

func (l *ledger) count() (int, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked), l.more
}

// grow waits until n more changes are acknowledged.
func (l *ledger) grow(t *testing.T, n int) {
	t.Helper()
	goal, _ := l.count()
	goal += n
	deadline := time.After(patience)
	for {
		have, more := l.count()
		if have >= goal {
			return
		}
		select {
		case <-more:
		case <-deadline:
			t.Fatalf("%d of %d changes are acknowledged after %s", have, goal, patience)
		}
	}
}

// write makes people and their assignments until ctx ends. Every third person is
// tried once only and left in doubt if that fails.
func (l *ledger) write(ctx context.Context, t *testing.T, writer int) {
	t.Helper()
	for n := 0; ctx.Err() == nil; n++ {
		who := fmt.Sprintf("p%d-%d", writer, n)
		if n%3 == 0 {
			l.once(t, who)
		} else if l.insist(ctx, t, "/api/v1/employees/provision", someone(who)) {
			l.note("employee.joined " + who)
			l.assign(ctx, t, who)
		}
	}
}

func (l *ledger) once(t *testing.T, who string) {
	t.Helper()
	got, err := l.firm.call(context.Background(), l.caller, http.MethodPost, l.fleet.url()+"/api/v1/employees/provision", someone(who))
	switch {
	case err == nil && got.status == http.StatusOK:
		l.note("employee.joined " + who)
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
	var items []task
	var keys []string
	for i := range 3 {
		items = append(items, task{who, l.firm.course, fmt.Sprintf("%s-a%d", who, i)})
		keys = append(keys, "assignment.created "+items[i].ExternalID)
	}
	if l.insist(ctx, t, "/api/v1/assignments/bulk", map[string]any{"items": items}) {
		l.note(keys...)
	}
}

// insist repeats a request until it is acknowledged; false if ctx ended before.
func (l *ledger) insist(ctx context.Context, t *testing.T, path string, body any) bool {
	t.Helper()
	for {
		got, err := l.firm.call(context.Background(), l.caller, http.MethodPost, l.fleet.url()+path, body)
		if err == nil && got.status == http.StatusOK {
			return allOK(t, got.body)
		}
		if err == nil && got.status != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", path, got.status, got.body)
			return false
		}
		select {
		case <-ctx.Done():
			// Nobody knows what became of it: not acknowledged, and it may be there.
			l.doubt(body)
			return false
		case <-time.After(10 * time.Millisecond): // paces the attempts, waits for nothing
		}
	}
}

func (l *ledger) doubt(body any) {
	if p, ok := body.(person); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.doubtful[p.ExternalID] = true
	}
}

// allOK checks that every item of a bulk answer went well.
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

// settle asks which doubtful changes are there after all, and gives the key of
// every event that must have been told and of those that must not.
func (l *ledger) settle(t *testing.T, base string) (told, untold map[string]bool) {
	t.Helper()
	told, untold = maps.Clone(l.acked), map[string]bool{}
	for who := range l.doubtful {
		key := "employee.joined " + who
		if l.firm.has(t, l.caller, base, who) {
			told[key] = true
		} else {
			untold[key] = true
		}
	}
	return told, untold
}

// audit holds what a receiver got against the ledger.
func (l *ledger) audit(t *testing.T, base string, r *receiver, hook endpoint) {
	t.Helper()
	told, untold := l.settle(t, base)
	r.until(t, patience, "every event", func(all []arrival) bool {
		left := maps.Clone(told)
		for _, a := range all {
			delete(left, a.key())
		}
		return len(left) == 0
	})
	l.drained(t)
	got, _ := r.all()
	ids, bodies := map[string]map[string]bool{}, map[string]string{}
	for _, a := range got {
		if untold[a.key()] {
			t.Errorf("%s was told of, but it never happened", a.key())
		}
		if !a.signed(hook.Secret) {
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
	t.Logf("%d events, %d arrivals, %d in doubt (%d of them never happened)", len(ids), len(got), len(l.doubtful), len(untold))
}

// drained waits until nothing is left to send, so that what was wrongly queued
// has arrived too.
func (l *ledger) drained(t *testing.T) {
	t.Helper()
	eventually(t, patience, "an empty queue", func() error {
		list := ask[struct{ Deliveries []struct{ State string } }](t, l.firm.database,
			"delivery", "list", "--company", id(l.firm.company), "--state", "pending")
		return want(len(list.Deliveries), nil, 0)
	})
}
