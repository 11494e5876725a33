package delivery

import (
	"context"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	queryTimeout       = 15 * time.Second
	retryQuery         = time.Second            // after the database failed
	retryLocked        = 250 * time.Millisecond // after another transaction had the endpoint locked
	holdStep           = 500                    // deliveries that one transaction holds
	maxParallelFetches = 4                      // so that API requests find free connections
)

// wakeup explains why a queue should look for work.
type wakeup uint32

const (
	wokenHere     wakeup = 1 << iota // this process committed a change
	wokenByPeer                      // another replica reported a change
	wokenByPoll                      // the poll found due deliveries
	leaseReleased                    // another replica gave up its leases
)

// endpointQueue sends the deliveries of one endpoint. Only its own goroutine touches
// its state; others use the channels wakeups, reports and slots.granted.
type endpointQueue struct {
	d           *Dispatcher
	key         domain.EndpointKey
	wakeups     chan wakeup
	reports     chan func() // what attempts have to report, run by the queue's goroutine
	lease       lease
	mustNotify  bool // a change was committed here that a foreign owner does not know
	destination destination
	backlog     backlog
	slots       *endpointSlots
	nextStart   time.Time       // when the endpoint's own rate allows another attempt
	lastWritten <-chan struct{} // closed once the latest request is out; nil before the first
}

// destination is where to send and how to sign.
type destination struct {
	endpoint         domain.Endpoint
	secret, previous string
	headers          domain.Headers
}

func newEndpointQueue(d *Dispatcher, key domain.EndpointKey) *endpointQueue {
	return &endpointQueue{
		d: d, key: key, wakeups: make(chan wakeup, 1), reports: make(chan func(), 16), slots: newEndpointSlots(key.CompanyID),
		lease: lease{self: d.owner, hold: d.config.Lease}, backlog: newBacklog(d.limiter.reserve()),
	}
}

// wake merges a wake-up into the one that the queue has not received yet. The caller
// must hold d.mu, which makes it the only sender.
func (q *endpointQueue) wake(by wakeup) {
	select {
	case earlier := <-q.wakeups:
		by |= earlier
	default:
	}
	q.wakeups <- by
}

// run sends deliveries until none is due and the lease has ended. It keeps an idle
// lease until it ends, so that the next event needs no claim.
func (q *endpointQueue) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	stopping := q.d.life.stopping
	for q.d.life.work.Err() == nil {
		q.fetchOrRenew()
		q.startReady()
		if q.isDone() && q.d.forget(q) {
			return
		}
		timer.Reset(time.Until(q.nextVisit()))
		select {
		case report := <-q.reports:
			report()
		case by := <-q.wakeups:
			q.takeWakeup(by)
		case <-q.slots.granted:
		case <-timer.C:
		case <-stopping:
			stopping = nil
		case <-q.d.life.work.Done():
		}
	}
}

// takeWakeup notes that something may be due. The owner of a foreign lease is
// notified of a change that was committed here.
func (q *endpointQueue) takeWakeup(by wakeup) {
	now := time.Now()
	if by&leaseReleased != 0 && q.lease.isForeign(now) {
		q.lease.owner = "" // if it was another owner that released, the next claim sets it again
	}
	q.mustNotify = q.mustNotify || by&wokenHere != 0
	if q.lease.isForeign(now) {
		q.notifyOwner()
		if by == wokenByPeer { // the owner has the same message
			return
		}
	}
	q.backlog.woken(now)
}

// fetchOrRenew reads due deliveries if it is time to, and claims or renews the lease if
// it must. With a limit of 0 it only renews.
func (q *endpointQueue) fetchOrRenew() {
	began := time.Now()
	if q.lease.isForeign(began) {
		return
	}
	limit := 0
	if at, ok := q.backlog.nextFetch(); ok && !began.Before(at) && !q.d.life.isStopping() {
		limit = q.backlog.fetchSize()
	}
	mustRenew := q.lease.mustRenew(began)
	if limit == 0 && !(mustRenew && q.backlog.isBusy()) {
		return
	}
	request := domain.FetchRequest{Key: q.key, Limit: limit, Skip: q.backlog.unfinishedSequences()}
	mustClaim := mustRenew || !q.lease.isOurs(began)
	var got *domain.EndpointLease
	var err error
	if mustClaim {
		got, err = q.d.claims.Do(q.d.life.work, request)
	} else {
		got, err = q.d.fetchDue(request)
	}
	if err != nil || got == nil || got.Owner != q.d.owner {
		q.postpone(got, err)
		return
	}
	q.mustNotify = false
	if mustClaim {
		q.lease.claimed(began)
	}
	q.acceptFetched(got, limit, began)
}

// postpone notes when to fetch again after a fetch that got no deliveries: the
// database failed, the endpoint is gone, or another replica looks after it.
func (q *endpointQueue) postpone(got *domain.EndpointLease, err error) {
	switch now := time.Now(); {
	case err != nil:
		q.d.logError("fetch due deliveries", err)
		q.backlog.nextFetchAt = now.Add(retryQuery)
	case got == nil: // there is no such endpoint
		q.backlog.restart(time.Time{})
	case got.Remaining <= 0: // another transaction has the endpoint locked, or its lease has just ended
		q.backlog.nextFetchAt = now.Add(retryLocked)
	default:
		q.lease.owner, q.lease.until = got.Owner, now.Add(got.Remaining)
		q.backlog.restart(time.Time{})
		if q.mustNotify {
			q.backlog.dueAt(now) // claim when the owner's lease ends, in case it misses the notice
		}
		q.notifyOwner()
	}
}

// acceptFetched takes over what was fetched: the endpoint, which may have been changed,
// and its deliveries. Those of a disabled or removed endpoint are held or fail.
func (q *endpointQueue) acceptFetched(got *domain.EndpointLease, limit int, at time.Time) {
	q.destination = destination{endpoint: got.Endpoint}
	q.backlog.strict = got.Endpoint.StrictOrder
	if !got.Endpoint.Enabled() {
		q.backlog.restart(time.Time{})
		q.holdDeliveries()
		return
	}
	q.destination.secret, q.destination.previous = q.decrypt(got.Endpoint.Secret), q.decrypt(got.Endpoint.Previous)
	q.destination.headers = q.decryptHeaders(got.Endpoint.Headers)
	if len(q.destination.headers) == 0 && len(got.Endpoint.Headers) > 0 {
		q.destination.secret = "" // nothing is sent without its headers
	}
	q.backlog.add(got.Due, limit, at)
	if got.NextDue != nil {
		q.dueAt(*got.NextDue)
	}
}

// dueAt schedules a fetch at a time of the database's clock.
func (q *endpointQueue) dueAt(at time.Time) {
	q.backlog.dueAt(time.Now().Add(at.Sub(q.d.config.Queue.Now())))
}

// decrypt decrypts a secret. If that fails it returns an empty text: then attempts
// fail and say that the operator must look.
func (q *endpointQueue) decrypt(sealed domain.SealedSecret) string {
	if len(sealed) == 0 {
		return ""
	}
	plain, err := q.d.config.Secrets.Open(domain.SecretLabel(q.key.CompanyID), sealed)
	if err != nil {
		q.d.config.Log.Error("webhook dispatcher: decrypt a secret", "company", q.key.CompanyID, "endpoint", q.key.ID, "error", err)
		return ""
	}
	return string(plain)
}

// decryptHeaders decrypts the company's own headers. It returns none if that fails.
func (q *endpointQueue) decryptHeaders(sealed domain.SealedSecret) domain.Headers {
	headers, err := domain.DecodeHeaders([]byte(q.decrypt(sealed)))
	if err != nil {
		q.d.config.Log.Error("webhook dispatcher: read headers", "company", q.key.CompanyID, "endpoint", q.key.ID, "error", err)
	}
	return headers
}

func (q *endpointQueue) holdDeliveries() {
	for n := holdStep; n == holdStep; {
		var err error
		if n, err = q.d.config.Queue.HoldDeliveries(q.d.life.work, q.key, holdStep); err != nil {
			q.d.logError("hold deliveries", err)
			return
		}
	}
}

// startReady starts what the limits allow. Deliveries that were fetched too long
// ago, or whose lease has run out, are fetched again: endpoints are changed and
// people are erased meanwhile.
func (q *endpointQueue) startReady() {
	now := time.Now()
	if q.d.life.isStopping() {
		q.backlog.restart(time.Time{})
	} else if len(q.backlog.items) > 0 && (now.Sub(q.backlog.itemsReadAt) > keepQueued || !q.lease.isOurs(now)) {
		q.backlog.restart(now)
	}
	for i := q.backlog.nextReady(); i >= 0 && !now.Before(q.nextStart) && q.d.limiter.acquire(q.slots); i = q.backlog.nextReady() {
		q.start(q.backlog.start(i))
		q.pace(now)
	}
	q.d.limiter.returnGrant(q.slots)
}

// pace notes that an attempt has started. An endpoint with a rate of its own gets
// them at equal distances; missed slots are not made up.
func (q *endpointQueue) pace(now time.Time) {
	if perMinute := q.destination.endpoint.RatePerMinute; perMinute > 0 {
		q.nextStart = now.Add(time.Minute / time.Duration(perMinute))
	}
}

// isDone reports whether the queue can end: the poll finds whatever comes later.
func (q *endpointQueue) isDone() bool {
	now := time.Now()
	switch {
	case q.backlog.isBusy(), now.Before(q.nextStart) && !q.d.life.isStopping():
		return false
	case q.d.life.isStopping():
		return true
	}
	return !now.Before(q.lease.until) && (q.backlog.nextFetchAt.IsZero() || q.backlog.nextFetchAt.Sub(now) > 2*q.d.config.Poll)
}

// nextVisit is when the queue looks again if nothing happens.
func (q *endpointQueue) nextVisit() time.Time {
	now := time.Now()
	if q.lease.isForeign(now) {
		return q.lease.until
	}
	visits := []time.Time{now.Add(time.Hour)}
	if now.Before(q.nextStart) {
		visits = append(visits, q.nextStart)
	}
	if at, ok := q.backlog.nextFetch(); ok && !q.d.life.isStopping() {
		visits = append(visits, at)
	}
	if q.lease.isOurs(now) && !q.backlog.isBusy() {
		visits = append(visits, q.lease.until)
	} else if q.lease.isOurs(now) { // a renewal that failed is not repeated at once
		visits = append(visits, later(q.lease.renewAt(), now.Add(retryLocked)))
	}
	return slices.MinFunc(visits, time.Time.Compare)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// claim takes or prolongs leases. Every request gets its endpoint's lease, nil if
// there is no such endpoint.
func (d *Dispatcher) claim(_ context.Context, requests []domain.FetchRequest) ([]*domain.EndpointLease, error) {
	ctx, cancel := context.WithTimeout(d.life.work, queryTimeout)
	defer cancel()
	leases, err := d.config.Queue.ClaimEndpoints(ctx, d.owner, d.config.Lease, requests)
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
	ctx, cancel := context.WithTimeout(d.life.work, queryTimeout)
	defer cancel()
	leases, err := d.config.Queue.DueDeliveries(ctx, []domain.FetchRequest{request})
	if err != nil || len(leases) == 0 {
		return nil, err
	}
	return &leases[0], nil
}
