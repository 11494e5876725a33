package delivery

import (
	"context"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	queryTimeout       = 15 * time.Second
	queryRetryDelay    = time.Second            // after the database failed
	lockedRetryDelay   = 250 * time.Millisecond // after another transaction had the endpoint locked
	holdBatchSize      = 500                    // deliveries that one transaction holds
	maxParallelFetches = 4                      // so that API requests find free connections
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
	notBefore time.Time       // by the endpoint's own rate
	previous  <-chan struct{} // closed once the latest request has been written; nil before the first
}

// lease is what a queue knows about the lease of its endpoint. Both times use this
// process's monotonic clock. until counts from before the claim was sent, so the lease
// ends here no later than in the database, even if a clock is set.
type lease struct {
	isOurs  bool
	until   time.Time // zero if nobody holds it, as far as is known
	renewAt time.Time // when our lease must be prolonged if it is still needed then
}

func (l *lease) isHeld(now time.Time) bool { return l.isOurs && now.Before(l.until) }

func (l *lease) isForeign(now time.Time) bool { return !l.isOurs && now.Before(l.until) }

func newEndpointQueue(d *Dispatcher, key domain.EndpointKey) *endpointQueue {
	return &endpointQueue{
		d: d, key: key, wakeups: make(chan wakeReason, 1), reports: make(chan func(), 16),
		slots: newEndpointSlots(key.CompanyID), buffer: newDeliveryBuffer(d.limiter.reserve()),
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
		// The message does not name the endpoint whose lease was released; if it was another's,
		// the next claim sets the time again.
		q.lease.until = time.Time{}
	}
	if now := time.Now(); q.lease.isForeign(now) {
		q.informHolder()
	} else {
		q.buffer.woken(now)
	}
}

// fetch reads due deliveries, and claims or renews the lease, as far as that is needed.
func (q *endpointQueue) fetch() {
	now := time.Now()
	limit, mustClaim := q.planFetch(now)
	if limit == 0 && !mustClaim {
		return
	}
	read := q.d.fetchDue
	if mustClaim {
		read = q.claim
	}
	got, err := read(domain.FetchRequest{Key: q.key, Limit: limit, Skip: q.buffer.unfinishedSequences()})
	if err != nil {
		q.d.logError(q.d.life.mayWork, "fetch due deliveries", err)
		q.fetchAfter(queryRetryDelay)
		return
	}
	q.takeAnswer(got, limit, now)
}

// planFetch returns how many deliveries to read (0: none) and whether the lease must be
// claimed or renewed. Nothing is to be done for 0, false.
func (q *endpointQueue) planFetch(now time.Time) (limit int, mustClaim bool) {
	if q.lease.isForeign(now) {
		return 0, false
	}
	mustRenew := q.lease.isOurs && !now.Before(q.lease.renewAt)
	if at, ok := q.buffer.nextFetch(); !ok || now.Before(at) || q.d.isStopping() {
		return 0, mustRenew && q.buffer.hasUnfinished()
	}
	return q.buffer.fetchSize(), mustRenew || !q.lease.isHeld(now)
}

// takeAnswer handles what a claim or fetch returned.
func (q *endpointQueue) takeAnswer(got *domain.EndpointLease, limit int, asked time.Time) {
	switch {
	case got == nil: // there is no such endpoint
		q.lease = lease{}
		q.buffer.drop()
	case got.Owner == q.d.self:
		q.accept(got, limit, asked)
		q.informHolder()
	case got.Remaining <= 0: // another transaction has the endpoint locked, or its lease has just ended
		q.fetchAfter(lockedRetryDelay)
	default:
		q.lease.isOurs, q.lease.until = false, time.Now().Add(got.Remaining)
		q.buffer.drop()
		q.informHolder()
	}
}

// claim takes or prolongs the lease and reads what is due. A tenth of the lease is kept
// as a margin.
func (q *endpointQueue) claim(request domain.FetchRequest) (*domain.EndpointLease, error) {
	asked, leaseTime := time.Now(), q.d.config.Lease
	got, err := q.d.claims.Do(q.d.life.mayWork, request)
	if got != nil && got.Owner == q.d.self {
		q.lease = lease{isOurs: true, until: asked.Add(leaseTime * 9 / 10), renewAt: asked.Add(leaseTime * 4 / 10)}
	}
	return got, err
}

// fetchAfter has a failed claim or fetch repeated after a while.
func (q *endpointQueue) fetchAfter(wait time.Duration) {
	q.buffer.nextFetchAt = time.Now().Add(wait)
	q.lease.renewAt = q.buffer.nextFetchAt
}

// informHolder ensures that the holder of the lease learns of work that was committed
// here. If this replica holds the lease, nothing is to be done. Otherwise it notifies the
// holder and claims when the lease ends, in case the notice was lost.
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
	ctx, cancel := d.queryContext()
	defer cancel()
	return make([]struct{}, len(keys)), Notify(ctx, d.config.Bus, keys)
}

// accept takes over what was fetched: the endpoint, which may have been changed, and
// its deliveries. Those of a disabled or removed endpoint are held or fail.
func (q *endpointQueue) accept(got *domain.EndpointLease, limit int, at time.Time) {
	if !got.Endpoint.Enabled() {
		q.buffer.drop()
		q.holdDeliveries()
		return
	}
	q.to = q.destination(got.Endpoint)
	q.buffer.strict = got.Endpoint.StrictOrder
	q.buffer.add(got.Due, limit, at)
	if got.NextDue != nil {
		q.dueAt(*got.NextDue)
	}
}

// dueAt schedules a fetch at a time of the database's clock. What is due beyond the
// horizon is found by a poll.
func (q *endpointQueue) dueAt(at time.Time) {
	if wait := at.Sub(q.d.config.Queue.Now()); wait <= q.d.horizon() {
		q.buffer.dueAt(time.Now().Add(wait))
	}
}

func (q *endpointQueue) holdDeliveries() {
	for n := holdBatchSize; n == holdBatchSize; {
		var err error
		if n, err = q.d.config.Queue.HoldDeliveries(q.d.life.mayWork, q.key, holdBatchSize); err != nil {
			q.d.logError(q.d.life.mayWork, "hold deliveries", err)
			return
		}
	}
}

// startReady starts what the limits allow. Deliveries that were fetched too long
// ago, or whose lease has run out, are fetched again: endpoints are changed and
// people are erased meanwhile.
func (q *endpointQueue) startReady() {
	now := time.Now()
	if q.d.isStopping() {
		q.buffer.drop()
	} else if len(q.buffer.items) > 0 && (now.Sub(q.buffer.oldestRead) > keepQueued || !q.lease.isHeld(now)) {
		q.buffer.dropAndFetch(now)
	}
	for !now.Before(q.next.notBefore) {
		i := q.buffer.nextReady()
		if i < 0 || !q.d.limiter.acquire(q.slots) {
			break
		}
		q.start(q.buffer.take(i))
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
		lookAgainBy(now.Add(time.Hour)) // keeps the queue alive; a report wakes it long before
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

// claimBatch takes or prolongs leases. Every request gets its endpoint's lease, nil if
// there is no such endpoint.
func (d *Dispatcher) claimBatch(_ context.Context, requests []domain.FetchRequest) ([]*domain.EndpointLease, error) {
	ctx, cancel := d.queryContext()
	defer cancel()
	leases, err := d.config.Queue.ClaimEndpoints(ctx, d.self, d.config.Lease, requests)
	out := make([]*domain.EndpointLease, len(requests))
	for i, r := range requests {
		if at := slices.IndexFunc(leases, func(l domain.EndpointLease) bool { return l.Endpoint.Key() == r.Key }); at >= 0 {
			out[i] = &leases[at]
		}
	}
	return out, err
}

// fetchDue reads what is due on an endpoint whose lease this replica holds; nil if
// there is no such endpoint.
func (d *Dispatcher) fetchDue(request domain.FetchRequest) (*domain.EndpointLease, error) {
	d.fetchSlots <- struct{}{}
	defer func() { <-d.fetchSlots }()
	ctx, cancel := d.queryContext()
	defer cancel()
	leases, err := d.config.Queue.DueDeliveries(ctx, []domain.FetchRequest{request})
	if err != nil || len(leases) == 0 {
		return nil, err
	}
	return &leases[0], nil
}
