package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// busyEndpoint wants a number of slots and takes those it is granted.
type busyEndpoint struct {
	*endpointSlots
	id   int64
	want int
}

func newBusyEndpoint(company, id int64, want int) *busyEndpoint {
	return &busyEndpoint{newEndpointSlots(company), id, want}
}

// acquireAll takes as many slots as the endpoint wants and can have.
func (e *busyEndpoint) acquireAll(l *limiter) {
	for e.inUse-asInt(e.hasUnusedGrant) < e.want {
		if !l.acquire(e.endpointSlots) {
			break
		}
	}
	l.returnGrant(e.endpointSlots)
}

func TestSlotsAreGrantedByTurns(t *testing.T) {
	t.Parallel()
	l := newLimiter(Limits{PerEndpoint: 1, PerCompany: 100, Total: 1})
	holder := newEndpointSlots(9)
	l.acquire(holder)
	l.acquire(newEndpointSlots(9)) // fills twice the total
	waiting := map[int64]*endpointSlots{}
	for _, id := range []int64{11, 12, 13, 21, 22} {
		waiting[id] = newEndpointSlots(id / 10)
		if l.acquire(waiting[id]) {
			t.Fatalf("endpoint %d got a slot past the limit", id)
		}
	}
	var turns []int64
	last := holder
	for range len(waiting) {
		l.release(last)
		for id, u := range waiting {
			select {
			case <-u.granted:
				turns, last, u.hasUnusedGrant = append(turns, id), u, false
			default:
			}
		}
	}
	if diff := cmp.Diff([]int64{11, 21, 12, 22, 13}, turns); diff != "" {
		t.Errorf("turns (- want):\n%s", diff)
	}
}

func TestLimiterKeepsItsLimits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		limits             Limits
		first, both, every int
	}{
		{Limits{PerEndpoint: 8, PerCompany: 100, Total: 100}, 8, 16, 24},
		{Limits{PerEndpoint: 8, PerCompany: 10, Total: 100}, 8, 12, 20},
		{Limits{PerEndpoint: 8, PerCompany: 100, Total: 18}, 8, 16, 20},
	} {
		l := newLimiter(row.limits)
		a, b, c := newBusyEndpoint(1, 11, 8), newBusyEndpoint(1, 12, 8), newBusyEndpoint(2, 21, 8)
		for _, e := range []*busyEndpoint{a, b, c} {
			e.acquireAll(l)
		}
		if a.inUse != row.first || a.inUse+b.inUse != row.both || l.total != row.every {
			t.Errorf("%+v: %d, %d and %d slots are in use", row.limits, a.inUse, b.inUse, c.inUse)
		}
		// Endpoints at their limits keep nobody from the reserve.
		late, other := newBusyEndpoint(1, 13, 8), newBusyEndpoint(3, 31, 8)
		late.acquireAll(l)
		other.acquireAll(l)
		if late.inUse < l.reserve() || other.inUse < l.reserve() {
			t.Errorf("%+v: %d and %d slots of the reserve are in use, want %d", row.limits, late.inUse, other.inUse, l.reserve())
		}
	}
}

func TestSlotsAreConserved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{
			PerEndpoint: rapid.IntRange(1, 6).Draw(t, "endpoint"), PerCompany: rapid.IntRange(1, 9).Draw(t, "company"),
			Total: rapid.IntRange(1, 15).Draw(t, "total"),
		}
		l := newLimiter(limits)
		var endpoints []*busyEndpoint
		for id := range int64(6) {
			endpoints = append(endpoints, newBusyEndpoint(id%3, id, 0))
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			e := rapid.SampledFrom(endpoints).Draw(t, "endpoint")
			if rapid.Bool().Draw(t, "ends") && e.inUse > 0 && !e.hasUnusedGrant {
				e.want = max(e.want-1, 0)
				l.release(e.endpointSlots)
			} else {
				e.want = rapid.IntRange(0, limits.PerEndpoint).Draw(t, "want")
			}
			for _, e := range endpoints {
				e.acquireAll(l)
			}
			total := 0
			for _, e := range endpoints {
				total += e.inUse
			}
			for _, e := range endpoints {
				if e.inUse < min(e.want, l.reserve()) && total < 2*limits.Total {
					t.Fatalf("an endpoint waits with %d slots", e.inUse)
				}
			}
			if total != l.total || total > 2*limits.Total {
				t.Fatalf("%d slots are in use, %d are counted", total, l.total)
			}
		}
	})
}

func TestWindowFollowsTheReceiver(t *testing.T) {
	t.Parallel()
	b := newDeliveryBuffer(firstWindow)
	for range 100 {
		b.adapt(time.Millisecond, firstWindow, 32)
	}
	if b.window != 32 {
		t.Errorf("the window of a prompt receiver is %d, want 32", b.window)
	}
	for range 10 {
		b.adapt(slowAnswer, firstWindow, 32)
	}
	if b.window != firstWindow {
		t.Errorf("the window of a receiver that hangs is %d, want %d", b.window, firstWindow)
	}
}

func TestWindowIgnoresAttemptsThatSayNothingOfTheReceiver(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Kind]int{
		KindAborted: firstWindow, KindErased: firstWindow, KindInternal: firstWindow, "": firstWindow + 1, KindStatus: firstWindow + 1,
	} {
		q := newEndpointQueue(NewDispatcher(DispatcherConfig{}), domain.EndpointKey{CompanyID: 1, ID: 2})
		q.d.limiter.acquire(q.slots)
		(&attempt{q: q, out: Outcome{Kind: kind}}).onSent()
		if q.buffer.window != want {
			t.Errorf("after an attempt of kind %q the window is %d, want %d", kind, q.buffer.window, want)
		}
	}
}

func TestBufferIsInTheOrderOfTheSequence(t *testing.T) {
	t.Parallel()
	item := func(sequence, employee int64) domain.DueDelivery {
		return domain.DueDelivery{Sequence: sequence, EmployeeID: employee}
	}
	b := newDeliveryBuffer(firstWindow)
	b.add([]domain.DueDelivery{item(2, 7), item(3, 7), item(9, 8)}, 3, time.Now())
	b.add([]domain.DueDelivery{item(3, 7), item(1, 9)}, 3, time.Now())
	var got []int64
	for i := b.nextReady(); i >= 0; i = b.nextReady() {
		got = append(got, b.take(i).Sequence)
	}
	// 3 waits for 2, which is about the same employee.
	if diff := cmp.Diff([]int64{1, 2, 9}, got); diff != "" {
		t.Errorf("started (- want):\n%s", diff)
	}
	second := item(2, 7)
	b.markSent(&second)
	if i := b.nextReady(); i < 0 || b.items[i].Sequence != 3 {
		t.Errorf("after 2 was sent, the item at %d of %v is next, want 3", i, b.items)
	}
	b.drop()
	if len(b.items) != 0 || len(b.unfinished) != 3 {
		t.Errorf("after drop: %d queued, %d unfinished; want 0 and 3", len(b.items), len(b.unfinished))
	}
}

func TestStrictOrderSendsOneAtATime(t *testing.T) {
	t.Parallel()
	b := newDeliveryBuffer(firstWindow)
	b.strict = true
	b.add([]domain.DueDelivery{{Sequence: 1, EmployeeID: 1}, {Sequence: 2, EmployeeID: 2}}, 3, time.Now())
	first := b.take(b.nextReady())
	for _, step := range []func(*domain.DueDelivery){b.markSent, b.markRecorded} {
		if i := b.nextReady(); i >= 0 {
			t.Errorf("%v starts before the one before it is recorded", b.items[i])
		}
		step(&first)
	}
	if b.nextReady() != 0 {
		t.Error("the second does not start after the first was recorded")
	}
}

// A delivery that is recorded and put back into the queue before its queue has
// noticed the record is skipped by the fetch that its wake-up causes. It is fetched
// again after that.
func TestBufferFetchesAgainWhatAFetchSkipped(t *testing.T) {
	t.Parallel()
	b, now := newDeliveryBuffer(4), time.Now()
	b.add([]domain.DueDelivery{{Sequence: 1}}, 32, now)
	item := b.take(0)
	b.markSent(&item)
	b.woken(now)
	b.add(nil, 32, now) // the fetch skips what is not recorded
	if _, due := b.nextFetch(); due {
		t.Error("it is fetched again before the result is recorded")
	}
	b.markRecorded(&item)
	if _, due := b.nextFetch(); !due {
		t.Error("nothing more is fetched")
	}
}
