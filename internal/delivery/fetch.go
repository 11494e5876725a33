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

// fetchAfter has a failed claim or fetch repeated after a while.
func (q *endpointQueue) fetchAfter(wait time.Duration) {
	q.buffer.nextFetchAt = time.Now().Add(wait)
	q.lease.renewAt = q.buffer.nextFetchAt
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
