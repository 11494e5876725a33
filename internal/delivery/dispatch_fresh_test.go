package delivery

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// countingQueue counts the reads of due deliveries and checks that they end early enough
// for what they read to be sent.
type countingQueue struct {
	*watched
	t     *testing.T
	reads atomic.Int64
}

func (q *countingQueue) DueDeliveries(ctx context.Context, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
	q.reads.Add(1)
	q.checkDeadline(ctx)
	return q.watched.DueDeliveries(ctx, requests)
}

func (q *countingQueue) ClaimEndpoints(ctx context.Context, owner string, leaseTime time.Duration, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
	q.checkDeadline(ctx)
	return q.watched.ClaimEndpoints(ctx, owner, leaseTime, requests)
}

func (q *countingQueue) checkDeadline(ctx context.Context) {
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) >= keepQueued {
		q.t.Errorf("a read may last for %s, longer than what it reads may be sent", time.Until(deadline))
	}
}

// What was read is sent, however long the queue had to wait before it could read.
func TestDeliveriesAreSentAfterALongWaitForAFetch(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		queue := &countingQueue{t: t}
		r := newFixture(t, s, func(c *DispatcherConfig) {
			queue.watched = c.Queue.(*watched)
			c.Queue, c.Lease = queue, time.Minute
		}).start()
		r.addEndpoint(to.URL)
		r.hire("claimed", 1)
		receive(t, to.arrivals)
		before := queue.reads.Load()
		for range maxParallelFetches {
			r.d.fetchSlots <- struct{}{}
		}
		r.hire("fetched", 1)
		time.Sleep(keepQueued + 100*time.Millisecond)
		for range maxParallelFetches {
			<-r.d.fetchSlots
		}
		receive(t, to.arrivals)
		if n := queue.reads.Load() - before; n != 1 {
			t.Errorf("it was read %d times before it was sent", n)
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
