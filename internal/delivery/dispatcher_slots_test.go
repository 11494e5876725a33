package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// full gives a lane with n deliveries in line and a wide window.
func full(company, id int64, n int) *lane {
	l := newLane(domain.EndpointKey{CompanyID: company, ID: id}, 100)
	l.queue = make([]domain.DueDelivery, n)
	return l
}

// startAll takes every slot there is and tells whose turn it was, by endpoint.
func startAll(s *slots) []int64 {
	var turns []int64
	for l := s.next(); l != nil; l = s.next() {
		l.queue = l.queue[1:]
		turns = append(turns, l.key.ID)
	}
	return turns
}

func TestSlotsGoByTurns(t *testing.T) {
	t.Parallel()
	s := newSlots(Limits{PerEndpoint: 100, PerCompany: 100, Total: 100})
	for _, l := range []*lane{full(1, 11, 4), full(1, 12, 2), full(2, 21, 3)} {
		s.offer(l)
	}
	// Companies alternate, and the first one's endpoints among themselves.
	want := []int64{11, 21, 12, 21, 11, 21, 12, 11, 11}
	if diff := cmp.Diff(want, startAll(&s)); diff != "" {
		t.Errorf("turns (- want):\n%s", diff)
	}
}

func TestSlotsKeepTheirLimits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		limits             Limits
		first, both, every int
	}{
		{Limits{PerEndpoint: 8, PerCompany: 100, Total: 100}, 8, 16, 24},
		{Limits{PerEndpoint: 8, PerCompany: 10, Total: 100}, 5, 10, 18},
		{Limits{PerEndpoint: 8, PerCompany: 100, Total: 18}, 5, 10, 18},
	} {
		s := newSlots(row.limits)
		a, b, c := full(1, 11, 50), full(1, 12, 50), full(2, 21, 50)
		for _, l := range []*lane{a, b, c} {
			l.window = row.limits.PerEndpoint
			s.offer(l)
		}
		startAll(&s)
		if a.inFlight != row.first || a.inFlight+b.inFlight != row.both || s.total != row.every {
			t.Errorf("%+v: in flight %d, %d and %d", row.limits, a.inFlight, b.inFlight, c.inFlight)
		}
		// Those at their limits keep nobody from the reserve.
		late, other := full(1, 13, 50), full(3, 31, 50)
		s.offer(late)
		s.offer(other)
		startAll(&s)
		if late.inFlight < s.reserve() || other.inFlight < s.reserve() {
			t.Errorf("%+v: of the reserve %d and %d are used, want %d", row.limits, late.inFlight, other.inFlight, s.reserve())
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
		s := newSlots(limits)
		var lanes []*lane
		for id := range int64(6) {
			l := full(id%3, id, 0)
			l.window = limits.PerEndpoint
			lanes = append(lanes, l)
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			l := rapid.SampledFrom(lanes).Draw(t, "lane")
			if rapid.Bool().Draw(t, "ends") {
				if l.inFlight > 0 {
					s.give(l)
					s.offer(l)
				}
			} else {
				l.queue = append(l.queue, make([]domain.DueDelivery, rapid.IntRange(0, 5).Draw(t, "more"))...)
				s.offer(l)
			}
			startAll(&s)
			total := 0
			for _, l := range lanes {
				total += l.inFlight
				if l.inFlight > limits.PerEndpoint {
					t.Fatalf("%d in flight to one endpoint, more than %d", l.inFlight, limits.PerEndpoint)
				}
				if len(l.queue) > 0 && l.inFlight < s.reserve() && total < 2*limits.Total && s.total < 2*limits.Total {
					t.Fatalf("an endpoint waits with %d in flight", l.inFlight)
				}
			}
			if total != s.total || total > 2*limits.Total {
				t.Fatalf("%d in flight, %d counted", total, s.total)
			}
		}
	})
}

func TestWindowFollowsTheReceiver(t *testing.T) {
	t.Parallel()
	l := newLane(domain.EndpointKey{}, slowStart)
	for range 100 {
		l.adapt(time.Millisecond, slowStart, 32)
	}
	if l.window != 32 {
		t.Errorf("the window of a prompt receiver is %d, want 32", l.window)
	}
	for range 10 {
		l.adapt(slowAnswer, slowStart, 32)
	}
	if l.window != slowStart {
		t.Errorf("the window of a receiver that hangs is %d, want %d", l.window, slowStart)
	}
}

func TestLaneTakesWhatIsNewInOrder(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(0)
	item := func(seq int64, due int) domain.DueDelivery {
		return domain.DueDelivery{Seq: seq, DueAt: at.Add(time.Duration(due))}
	}
	l := newLane(domain.EndpointKey{}, slowStart)
	l.lately[9] = struct{}{}
	l.take([]domain.DueDelivery{item(2, 20), item(3, 30), item(9, 90)}, at)
	l.take([]domain.DueDelivery{item(3, 30), item(1, 10), item(4, 30)}, at)
	var got []int64
	for _, q := range l.queue {
		got = append(got, q.Seq)
	}
	if diff := cmp.Diff([]int64{1, 2, 3, 4}, got); diff != "" {
		t.Errorf("in line (- want):\n%s", diff)
	}
	l.clear()
	if len(l.known) != 0 || l.busy() {
		t.Errorf("after clear: %d known, busy %v", len(l.known), l.busy())
	}
}

func TestAlarmsComeInOrder(t *testing.T) {
	t.Parallel()
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	var a alarms
	x, y := newLane(domain.EndpointKey{ID: 1}, 1), newLane(domain.EndpointKey{ID: 2}, 1)
	a.set(x, at(30))
	a.set(y, at(20))
	a.set(x, at(10)) // earlier wins
	a.set(x, at(40))
	if l := a.pop(at(15)); l != x {
		t.Errorf("first comes %+v", l)
	}
	a.unset(y)
	if l := a.pop(at(100)); l != nil {
		t.Errorf("what was unset or replaced comes: %+v", l)
	}
}
