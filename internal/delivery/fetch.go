package delivery

import (
	"context"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	queryTimeout       = 15 * time.Second
	fetchTimeout       = keepQueued - time.Second // what was read is to be sent within keepQueued of the beginning
	queryRetryDelay    = time.Second              // after the database failed
	lockedRetryDelay   = 250 * time.Millisecond   // after another transaction had the endpoint locked
	holdBatchSize      = 500                      // deliveries that one transaction holds
	maxParallelFetches = 4                        // so that API requests find free connections
)

// A lease is prolonged early, and believed to end before it does.
const (
	renewedPart  = 0.4
	believedPart = 0.9
)

// lease is what a queue knows about the lease of its endpoint. Both times use this
// process's monotonic clock. until counts from before the claim was sent, so the lease
// ends here no later than in the database, unless the database's clock steps forward.
type lease struct {
	isOurs  bool
	until   time.Time // zero if nobody holds it, as far as is known
	renewAt time.Time // when our lease must be prolonged if it is still needed then
}

// newLease returns the lease that was claimed at the time.
func newLease(claimed time.Time, length time.Duration) lease {
	part := func(p float64) time.Time { return claimed.Add(time.Duration(p * float64(length))) }
	return lease{isOurs: true, until: part(believedPart), renewAt: part(renewedPart)}
}

func (l *lease) isHeld(now time.Time) bool { return l.isOurs && now.Before(l.until) }

func (l *lease) isForeign(now time.Time) bool { return !l.isOurs && now.Before(l.until) }

// fetched is what a claim or fetch returned.
type fetched struct {
	lease  *domain.EndpointLease // nil if there is no such endpoint
	readAt time.Time             // just before the query: what it returned was true then or later
}

// fetch reads due deliveries, and claims or renews the lease, as far as that is needed.
func (q *endpointQueue) fetch() {
	limit, mustClaim := q.planFetch(time.Now())
	if limit == 0 && !mustClaim {
		return
	}
	request := domain.FetchRequest{Key: q.key, Limit: limit, Skip: q.buffer.unfinishedSequences()}
	var got fetched
	var err error
	if mustClaim {
		got, err = q.d.claims.Do(q.d.life.mayWork, request)
	} else {
		got, err = q.d.fetchDue(request)
	}
	if err != nil {
		q.d.logError(q.d.life.mayWork, "fetch due deliveries", err)
		q.fetchAfter(queryRetryDelay)
		return
	}
	if mustClaim && got.lease != nil && got.lease.Owner == q.d.self {
		q.lease = newLease(got.readAt, q.d.config.Lease)
	}
	q.applyLease(got, limit)
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

// applyLease takes over what a claim or fetch with the limit returned.
func (q *endpointQueue) applyLease(got fetched, limit int) {
	switch l := got.lease; {
	case l == nil: // there is no such endpoint
		q.lease = lease{}
		q.buffer.drop()
	case l.Owner == q.d.self:
		q.accept(got, limit)
		q.informHolder()
	case l.Remaining <= 0: // another transaction has the endpoint locked, or its lease has just ended
		q.fetchAfter(lockedRetryDelay)
	default:
		q.lease.isOurs, q.lease.until = false, time.Now().Add(l.Remaining)
		q.buffer.drop()
		q.informHolder()
	}
}

// claimBatch takes or prolongs leases.
func (d *Dispatcher) claimBatch(_ context.Context, requests []domain.FetchRequest) ([]fetched, error) {
	ctx, cancel := d.queryContext(fetchTimeout)
	defer cancel()
	readAt := time.Now()
	leases, err := d.config.Queue.ClaimEndpoints(ctx, d.self, d.config.Lease, requests)
	if err != nil {
		return nil, err
	}
	out := make([]fetched, len(requests))
	for i, r := range requests {
		out[i].readAt = readAt
		if at := slices.IndexFunc(leases, func(l domain.EndpointLease) bool { return l.Endpoint.Key() == r.Key }); at >= 0 {
			out[i].lease = &leases[at]
		}
	}
	return out, nil
}

// fetchDue reads what is due on an endpoint whose lease this replica holds.
func (d *Dispatcher) fetchDue(request domain.FetchRequest) (fetched, error) {
	select {
	case d.fetchSlots <- struct{}{}:
	case <-d.life.mayWork.Done():
		return fetched{}, d.life.mayWork.Err()
	}
	defer func() { <-d.fetchSlots }()
	ctx, cancel := d.queryContext(fetchTimeout)
	defer cancel()
	got := fetched{readAt: time.Now()}
	leases, err := d.config.Queue.DueDeliveries(ctx, []domain.FetchRequest{request})
	if len(leases) > 0 {
		got.lease = &leases[0]
	}
	return got, err
}

// fetchAfter has a failed claim or fetch repeated after a while.
func (q *endpointQueue) fetchAfter(wait time.Duration) {
	q.buffer.nextFetchAt = time.Now().Add(wait)
	q.lease.renewAt = q.buffer.nextFetchAt
}

// accept takes over what was fetched: the endpoint, which may have been changed, and
// its deliveries. Those of a disabled or removed endpoint are held or fail.
func (q *endpointQueue) accept(got fetched, limit int) {
	e := got.lease.Endpoint
	if !e.Enabled() {
		q.buffer.drop()
		q.holdDeliveries()
		return
	}
	q.to = q.destination(e)
	q.buffer.strict, q.buffer.perMinute = e.StrictOrder, e.RatePerMinute
	q.buffer.add(got.lease.Due, limit, got.readAt)
	if got.lease.NextDue != nil {
		q.dueAt(*got.lease.NextDue)
	}
}

// dueAt schedules a fetch at a time of the database's clock. What is due beyond the
// horizon is found by a poll.
func (q *endpointQueue) dueAt(at time.Time) {
	if wait := at.Sub(q.d.config.Queue.Now()); wait <= q.d.horizon() {
		q.buffer.dueAt(time.Now().Add(wait))
	}
}

// holdDeliveries holds one batch. If there may be more, the queue comes back after it has
// renewed its lease, if that is needed.
func (q *endpointQueue) holdDeliveries() {
	ctx, cancel := q.d.queryContext(queryTimeout)
	defer cancel()
	n, err := q.d.config.Queue.HoldDeliveries(ctx, q.key, holdBatchSize)
	switch {
	case err != nil:
		q.d.logError(q.d.life.mayWork, "hold deliveries", err)
		q.buffer.dueAt(time.Now().Add(queryRetryDelay))
	case n == holdBatchSize:
		q.buffer.dueAt(time.Now())
	}
}
