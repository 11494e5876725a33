package delivery

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// wakeReason is a set of reasons to look for work, one bit each.
type wakeReason uint8

const (
	workReported  wakeReason = 0b00 // a poll or another replica reported work; every wake-up implies this
	committedHere wakeReason = 0b01 // this process committed the work, so another holder of the lease must be notified
	leaseReleased wakeReason = 0b10 // a lease may be free, so claim without waiting for its end
)

// endpointQueue sends the deliveries of one endpoint. Only its own goroutine touches
// its state; others use the channels wakeups, reports and slots.granted.
type endpointQueue struct {
	d          *Dispatcher
	key        domain.EndpointKey
	wakeups    chan wakeReason
	reports    chan func() // what attempts have to report, run by the queue's goroutine
	lease      lease
	mustNotify bool // work was committed here that another holder of the lease may not know of
	to         destination
	buffer     deliveryBuffer
	slots      *endpointSlots
	next       nextAttempt
}

// nextAttempt is what the next attempt has to wait for.
type nextAttempt struct {
	notBefore       time.Time       // by the endpoint's own rate
	previousWritten <-chan struct{} // closed once the latest request has been written; nil before the first
}

// keepAlive is when a queue with attempts under way looks again at the latest: any time
// that is not zero keeps it from ending.
const keepAlive = time.Hour

func newEndpointQueue(d *Dispatcher, key domain.EndpointKey) *endpointQueue {
	return &endpointQueue{
		d: d, key: key, wakeups: make(chan wakeReason, 1), reports: make(chan func(), maxUnrecorded),
		slots: newEndpointSlots(key.CompanyID), buffer: newDeliveryBuffer(min(firstWindow, d.config.Limits.PerEndpoint)),
	}
}

// wake merges a wake-up into the one that the queue has not received yet. The caller
// must hold d.mu, which makes it the only sender.
func (q *endpointQueue) wake(reason wakeReason) {
	select {
	case earlier := <-q.wakeups:
		reason |= earlier
	default:
	}
	q.wakeups <- reason
}

// run sends deliveries until none is due and the lease has ended. It keeps an idle
// lease until it ends, so that the next event needs no claim.
func (q *endpointQueue) run() {
	defer q.d.limiter.leave(q.slots)
	timer := time.NewTimer(0)
	defer timer.Stop()
	stopping := q.d.life.mayStart.Done()
	for {
		q.fetch()
		q.startReady()
		next := q.nextVisit()
		if next.IsZero() && q.d.forget(q) {
			return
		}
		timer.Reset(time.Until(next))
		select {
		case reason := <-q.wakeups:
			q.takeWakeup(reason)
		case report := <-q.reports:
			report()
			for range len(q.reports) { // a batch of results is reported at once
				(<-q.reports)()
			}
		case <-q.slots.granted:
		case <-timer.C:
		case <-stopping:
			stopping = nil
		}
	}
}

// takeWakeup notes that something may be due. A replica that holds the lease fetches
// it; it is notified of what was committed here.
func (q *endpointQueue) takeWakeup(reason wakeReason) {
	q.mustNotify = q.mustNotify || reason&committedHere != 0
	if reason&leaseReleased != 0 && !q.lease.isOurs {
		// The message names the replica that released its leases, not the endpoints. If this
		// endpoint's lease belongs to a third replica, the next claim finds out how long.
		q.lease.until = time.Time{}
	}
	if now := time.Now(); q.lease.isForeign(now) {
		q.informHolder()
	} else {
		q.buffer.woken(now)
	}
}

// informHolder ensures that the holder of the lease learns of work that was committed
// here. If this replica holds the lease, nothing is to be done. Otherwise the holder is
// notified, and this replica claims the lease when it ends, in case the notice was lost.
func (q *endpointQueue) informHolder() {
	if q.mustNotify && !q.lease.isOurs {
		_, err := q.d.notices.Do(q.d.life.mayWork, q.key)
		q.buffer.woken(time.Now())
		if err != nil {
			q.d.logError(q.d.life.mayWork, "notify another replica", err)
			return
		}
	}
	q.mustNotify = false
}

// notify wakes the dispatchers of the other replicas.
func (d *Dispatcher) notify(_ context.Context, keys []domain.EndpointKey) ([]struct{}, error) {
	ctx, cancel := d.queryContext(queryTimeout)
	defer cancel()
	return make([]struct{}, len(keys)), Notify(ctx, d.config.Bus, keys)
}

// startReady starts what the limits allow. Deliveries that were read too long ago, or
// whose lease has run out, are read again before one starts: endpoints are changed and
// people are erased meanwhile.
func (q *endpointQueue) startReady() {
	now := time.Now()
	if q.d.isStopping() {
		q.buffer.drop()
	}
	for !now.Before(q.next.notBefore) {
		i := q.buffer.nextReady()
		if i < 0 || !q.d.limiter.acquire(q.slots) {
			break
		}
		if now.Sub(q.buffer.oldestRead) > keepQueued || !q.lease.isHeld(now) {
			q.buffer.dropAndFetch(now)
			q.d.limiter.putBack(q.slots) // for what is read now: the turn must not be lost
			return
		}
		q.startAttempt(q.buffer.take(i))
		if perMinute := q.to.endpoint.RatePerMinute; perMinute > 0 { // evenly spaced; attempts that were missed are not made up
			q.next.notBefore = now.Add(time.Minute / time.Duration(perMinute))
		}
	}
	q.d.limiter.returnGrant(q.slots)
}

// nextVisit returns when the queue must look again if nothing happens before; the zero
// time if it has nothing left to do.
func (q *endpointQueue) nextVisit() time.Time {
	now := time.Now()
	var next time.Time
	lookAgainBy := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if q.buffer.hasUnfinished() {
		lookAgainBy(now.Add(keepAlive)) // a report wakes the queue long before
		if q.lease.isOurs {
			lookAgainBy(q.lease.renewAt)
		}
	}
	if q.d.isStopping() {
		return next
	}
	if now.Before(q.lease.until) {
		lookAgainBy(q.lease.until)
	}
	if at, ok := q.buffer.nextFetch(); ok && !q.lease.isForeign(now) {
		lookAgainBy(at)
	}
	if now.Before(q.next.notBefore) { // the endpoint's rate must outlast an idle queue
		lookAgainBy(q.next.notBefore)
	}
	return next
}
