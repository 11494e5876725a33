package delivery

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

const shortLease = 200 * time.Millisecond

func TestLeaseOfADeadReplicaIsTakenOver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		r := newFixture(t, s, func(c *DispatcherConfig) { c.Lease = shortLease }).start()
		e := r.addEndpoint(to.URL)
		asks := []domain.FetchRequest{{Key: e.Key(), Limit: 1}}
		began := time.Now()
		leases, err := s.ClaimEndpoints(t.Context(), "dead", shortLease, asks)
		if err != nil || leases[0].Owner != "dead" {
			t.Fatalf("leases %+v, %v", leases, err)
		}
		r.hire("e", 1)
		receive(t, to.arrivals)
		if took := time.Since(began); took < shortLease {
			t.Errorf("sent after %s, before the lease of %s ran out", took, shortLease)
		}
	})
}

func TestReplicaKilledMidFlight(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		release := make(chan struct{})
		to.answer = func(_ http.ResponseWriter, n int) {
			if n <= firstWindow {
				<-release
			}
		}
		t.Cleanup(func() { close(release) })
		r := newFixture(t, s, func(c *DispatcherConfig) {
			c.Lease, c.Poll = shortLease, 50*time.Millisecond
			if s.Engine().Name() == "sqlite" { // where no other process can be, a start takes over at once
				c.Lease, c.Poll = time.Hour, time.Hour
			}
		})
		r.addEndpoint(to.URL)
		const n = 20
		r.hire("e", n)
		if err := r.d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		begun := map[string]bool{}
		for range firstWindow {
			begun[receive(t, to.arrivals).id()] = true
		}
		r.kill()

		r.restarted().start()
		seen := map[string]bool{}
		for len(seen) < n {
			seen[receive(t, to.arrivals).id()] = true
		}
		for id := range begun {
			if !seen[id] {
				t.Errorf("delivery %s was lost", id)
			}
		}
	})
}

func TestTwoReplicasShareTheWork(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		a := newFixture(t, s)
		b := a.replica()
		// Changes are committed next to either of the two.
		next := false
		s.OnDeliveries(func(keys []domain.EndpointKey) {
			if next = !next; next {
				a.d.Wake(keys)
			} else {
				b.d.Wake(keys)
			}
		})
		a.start()
		b.start()
		for range 4 {
			a.addEndpoint(to.URL)
		}
		const n = 50
		a.hire("e", n)
		seen := map[string]int{}
		for range 4 * n {
			seen[receive(t, to.arrivals).id()]++
		}
		a.recorded(4 * n)
		if len(seen) != 4*n {
			t.Errorf("%d different deliveries arrived, want %d", len(seen), 4*n)
		}
		page, err := s.Deliveries(t.Context(), a.c.Company.ID, domain.DeliveryFilter{State: domain.DeliveryDelivered}, nil, 500)
		if err != nil || len(page.Items) != 4*n {
			t.Errorf("%d are delivered, %v; want %d", len(page.Items), err, 4*n)
		}
	})
}

func TestReplicaNotifiesTheHolderOfTheLease(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		a := newFixture(t, s, func(c *DispatcherConfig) { c.Lease = time.Hour }).start()
		a.addEndpoint(to.URL)
		a.hire("a", 1)
		receive(t, to.arrivals)
		b := a.replica().start()
		s.OnDeliveries(b.d.Wake)
		for _, name := range []string{"b", "c"} { // the second time it knows whom to tell
			a.hire(name, 1)
			receive(t, to.arrivals)
		}
	})
}

// failingBus publishes nothing until it has failed a number of times.
type failingBus struct {
	Bus
	failures atomic.Int64
}

func (b *failingBus) Publish(ctx context.Context, topic string, messages []string) error {
	if b.failures.Add(-1) >= 0 {
		return errors.New("the connection is lost")
	}
	return b.Bus.Publish(ctx, topic, messages)
}

// blindQueue is a queue in which a search finds nothing.
type blindQueue struct{ *watched }

func (blindQueue) DeliveryBacklog(context.Context, string, time.Duration) (domain.Backlog, error) {
	return domain.Backlog{}, nil
}

// A busy replica keeps its lease. If it could not be notified, it is when its lease
// would have ended.
func TestFailedNoticeIsRepeated(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		to.answer = hang(t)
		a := newFixture(t, s, func(c *DispatcherConfig) {
			c.Lease, c.Queue = time.Second, blindQueue{c.Queue.(*watched)}
		}).start()
		a.addEndpoint(to.URL)
		a.hire("e", 1)
		receive(t, to.arrivals)
		b, bus := a.replica(), &failingBus{Bus: s.Engine()}
		bus.failures.Store(1)
		b.config.Bus = bus
		b.d = NewDispatcher(b.config)
		b.start()
		s.OnDeliveries(b.d.Wake)
		a.hire("f", 1)
		receive(t, to.arrivals)
		if bus.failures.Load() >= 0 {
			t.Error("no notice failed")
		}
	})
}

func TestReplicaThatStopsHandsOver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		release := make(chan struct{})
		to.answer = func(_ http.ResponseWriter, n int) {
			if n == 1 {
				<-release
			}
		}
		a := newFixture(t, s, func(c *DispatcherConfig) { c.Lease, c.Limits.PerEndpoint = time.Hour, 1 }).start()
		a.addEndpoint(to.URL)
		a.hire("e", 3)
		first := receive(t, to.arrivals)
		b := a.replica().start()
		s.OnDeliveries(b.d.Wake)
		a.hire("f", 1) // b comes to know that a holds the lease

		stopped := make(chan error, 1)
		go func() { stopped <- a.d.Stop(context.Background()) }()
		<-a.d.life.mayStart.Done()
		close(release)
		if err := receive(t, stopped); err != nil {
			t.Fatal(err)
		}
		if d := a.delivery(first.id()); d.State != domain.DeliveryDelivered {
			t.Errorf("what was under way is %s", d.State)
		}
		for range 3 {
			if got := receive(t, to.arrivals); got.id() == first.id() {
				t.Error("what was under way was sent twice")
			}
		}
	})
}

// deafBus delivers no messages, as a connection does that is being made again.
type deafBus struct{ Bus }

func (deafBus) Listen(ctx context.Context, _ string, _ func([]string)) error {
	<-ctx.Done()
	return ctx.Err()
}

// A replica that misses the report of a released lease finds the work by its poll,
// long before the lease would have ended.
func TestPollFindsALeaseWhoseReleaseWasMissed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		a := newFixture(t, s, func(c *DispatcherConfig) { c.Lease, c.Poll = time.Hour, 20*time.Millisecond }).start()
		a.addEndpoint(to.URL)
		a.hire("e", 1)
		receive(t, to.arrivals)
		b := a.replica()
		b.config.Bus = deafBus{b.config.Bus}
		b.d = NewDispatcher(b.config)
		b.start()
		s.OnDeliveries(b.d.Wake)
		a.hire("f", 1) // b comes to know that a holds the lease
		receive(t, to.arrivals)
		s.OnDeliveries(func([]domain.EndpointKey) {})
		if err := a.d.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.hire("g", 1)
		receive(t, to.arrivals)
	})
}

func TestStopCutsShortWithoutCounting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		to.answer = hang(t)
		r := newFixture(t, s).start()
		e := r.addEndpoint(to.URL)
		r.hire("e", 1)
		got := receive(t, to.arrivals)
		r.stop()
		r.stop()
		d := r.delivery(got.id())
		if d.State != domain.DeliveryPending || d.Attempts != 0 || len(d.Tries) != 0 {
			t.Errorf("after the stop: %+v", d)
		}
		leases, err := s.ClaimEndpoints(t.Context(), "next", time.Minute, []domain.FetchRequest{{Key: e.Key(), Limit: 1}})
		if err != nil || leases[0].Owner != "next" || len(leases[0].Due) != 1 {
			t.Errorf("the next process gets %+v, %v", leases, err)
		}
	})
}

func TestOldestDueIsWhatNobodyLooksAfter(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		to.answer = hang(t)
		r := newFixture(t, s)
		r.addEndpoint(to.URL)
		r.hire("e", 1)
		err := s.Engine().Write(t.Context(), func(tx db.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE deliveries SET due_at = $1`, s.Now().Add(-time.Minute))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if age, err := r.d.OldestDue(t.Context()); err != nil || age < time.Minute {
			t.Errorf("before the start: %s, %v", age, err)
		}
		r.start()
		receive(t, to.arrivals)
		if age, err := r.d.OldestDue(t.Context()); err != nil || age != 0 {
			t.Errorf("while it is being sent: %s, %v", age, err)
		}
	})
}
