package delivery

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// checkedQueue checks that reads of deliveries end early enough for these to be sent.
type checkedQueue struct {
	*watched
	t *testing.T
}

func (q checkedQueue) DueDeliveries(ctx context.Context, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
	q.checkDeadline(ctx)
	return q.watched.DueDeliveries(ctx, requests)
}

func (q checkedQueue) ClaimEndpoints(ctx context.Context, owner string, leaseTime time.Duration, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
	q.checkDeadline(ctx)
	return q.watched.ClaimEndpoints(ctx, owner, leaseTime, requests)
}

func (q checkedQueue) checkDeadline(ctx context.Context) {
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) >= keepQueued {
		q.t.Errorf("a read may last for %s, longer than what it reads may be sent", time.Until(deadline))
	}
}

// What was read counts as read just before the query, however long the queue had to wait
// for its turn to read.
func TestWaitingForAFetchDoesNotAgeDeliveries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		r := newFixture(t, s, func(c *DispatcherConfig) { c.Queue = checkedQueue{c.Queue.(*watched), t} })
		request := domain.FetchRequest{Key: r.addEndpoint("https://receiver.example").Key(), Limit: 1}
		r.hire("e", 1)
		for range maxParallelFetches {
			r.d.fetchSlots <- struct{}{}
		}
		var fetching sync.WaitGroup
		var released time.Time
		fetching.Go(func() {
			got, err := r.d.fetchDue(request)
			if err != nil || len(got.lease.Due) != 1 || got.readAt.Before(released) {
				t.Errorf("fetched %+v, %v; read %s before the slot was free", got.lease, err, released.Sub(got.readAt))
			}
		})
		time.Sleep(20 * time.Millisecond) // time to begin, and to note the time too early
		released = time.Now()
		for range maxParallelFetches {
			<-r.d.fetchSlots
		}
		fetching.Wait()
		if _, err := r.d.claimBatch(t.Context(), []domain.FetchRequest{request}); err != nil {
			t.Error(err)
		}
	})
}

// busyQueue returns a queue with a lease and a delivery that was read too long ago.
func busyQueue() *endpointQueue {
	q := newEndpointQueue(NewDispatcher(DispatcherConfig{}), domain.EndpointKey{CompanyID: 1, ID: 2})
	q.lease = lease{isOurs: true, until: time.Now().Add(time.Hour)}
	q.buffer.add([]domain.DueDelivery{{Sequence: 1}}, minFetchSize, time.Now().Add(-keepQueued-time.Second))
	return q
}

// What nothing may send yet is not read again all the time.
func TestStaleDeliveriesAreReadAgainOnceOneMayStart(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]func(*endpointQueue){
		"rate":   func(q *endpointQueue) { q.next.notBefore = time.Now().Add(time.Minute) },
		"window": func(q *endpointQueue) { q.buffer.inFlight = q.buffer.window },
		"limits": func(q *endpointQueue) { q.d.limiter.total = 2 * q.d.limiter.limits.Total },
	} {
		q := busyQueue()
		block(q)
		q.startReady()
		if _, due := q.buffer.nextFetch(); due || len(q.buffer.items) != 1 {
			t.Errorf("%s: the delivery is read again although it may not start", name)
		}
	}
	q := busyQueue()
	q.startReady()
	if _, due := q.buffer.nextFetch(); !due || len(q.buffer.items) != 0 {
		t.Error("the delivery is not read again before it starts")
	}
	if q.slots.inUse != 1 {
		t.Error("the queue loses its turn while it reads")
	}
	q.startReady()
	if q.slots.inUse != 0 {
		t.Error("the queue keeps a slot that it does not need")
	}
}

func TestSlowEndpointReadsWhatItCanSend(t *testing.T) {
	t.Parallel()
	for perMinute, want := range map[int64]int{0: minFetchSize, 1: 1, 60: 4, domain.MaxRatePerMinute: minFetchSize} {
		b := newDeliveryBuffer(firstWindow)
		b.perMinute = perMinute
		if got := b.fetchSize(); got != want {
			t.Errorf("at %d requests a minute %d deliveries are read, want %d", perMinute, got, want)
		}
	}
}
