package delivery

import (
	"sync/atomic"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	queryTimeout = 15 * time.Second
	retryQuery   = time.Second            // after the database failed
	retryLocked  = 250 * time.Millisecond // after another transaction had the endpoint locked
	parkStep     = 500                    // deliveries that one transaction puts aside
)

// wakeup explains why a queue should look for work.
type wakeup uint32

const (
	wokenHere     wakeup = 1 << iota // this process committed a change
	wokenByPeer                      // another replica reported a change
	wokenByPoll                      // the poll found due deliveries
	leaseReleased                    // another replica gave up its leases
)

// endpointQueue sends the deliveries of one endpoint. Its goroutine owns all of
// its state but for the wake-ups.
type endpointQueue struct {
	d       *Dispatcher
	key     domain.EndpointKey
	wakeups atomic.Uint32
	woken   chan struct{}
	lease   lease
	to      destination
	backlog backlog
	slots   *slotUser
	reports chan report
	written <-chan struct{} // closed once the latest request is out; nil before the first
}

// lease is the right to send, in local monotonic time: whatever clocks do, a lease is
// over when its time has passed here since before it was asked for.
type lease struct {
	owner      string // empty if nobody holds it, as far as is known
	until      time.Time
	mustNotify bool // a change was committed here that a foreign owner does not know
}

// destination is where to send and how to sign.
type destination struct {
	endpoint         domain.Endpoint
	secret, previous string
}

func newEndpointQueue(d *Dispatcher, key domain.EndpointKey) *endpointQueue {
	return &endpointQueue{
		d: d, key: key, woken: make(chan struct{}, 1), slots: newSlotUser(key.CompanyID), reports: make(chan report, 16),
		backlog: newBacklog(d.limiter.reserve()),
	}
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (q *endpointQueue) wake(by wakeup) {
	q.wakeups.Or(uint32(by))
	select {
	case q.woken <- struct{}{}:
	default:
	}
}

// run sends until nothing is due and the lease is over. It keeps a lease that is
// not used to its end, so that the next event needs no claim.
func (q *endpointQueue) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	stopping := q.d.life.stopping
	for q.d.life.work.Err() == nil {
		q.takeWakeups()
		q.fetch()
		q.startReady()
		if q.isDone() && q.d.forget(q) {
			return
		}
		timer.Reset(time.Until(q.nextVisit()))
		select {
		case r := <-q.reports:
			q.take(r)
		case <-q.slots.granted:
		case <-q.woken:
		case <-timer.C:
		case <-stopping:
			stopping = nil
		case <-q.d.life.work.Done():
		}
	}
}

// takeWakeups notes why the queue was woken. The owner of a foreign lease is
// notified of a change that was committed here.
func (q *endpointQueue) takeWakeups() {
	now, by := time.Now(), wakeup(q.wakeups.Swap(0))
	if by&leaseReleased != 0 && q.isForeign(now) {
		q.lease.owner = ""
	}
	if by&^wokenByPeer != 0 || by != 0 && !q.isForeign(now) { // a foreign owner has the same message
		q.backlog.needsFetch = true
	}
	if q.lease.mustNotify = q.lease.mustNotify || by&wokenHere != 0; q.isForeign(now) {
		q.notifyOwner()
	}
	if at := q.backlog.nextDue; !at.IsZero() && !now.Before(at) {
		q.backlog.nextDue, q.backlog.needsFetch = time.Time{}, true
	}
}

func (q *endpointQueue) isOurs(now time.Time) bool {
	return q.lease.owner == q.d.owner && now.Before(q.lease.until)
}

func (q *endpointQueue) isForeign(now time.Time) bool {
	return q.lease.owner != "" && q.lease.owner != q.d.owner && now.Before(q.lease.until)
}

// renewAt is when the lease must be prolonged if it is still needed then.
func (q *endpointQueue) renewAt() time.Time { return q.lease.until.Add(-q.d.config.Lease / 2) }

// fetch reads what is due, if something may be, and takes or prolongs the lease
// when it must.
func (q *endpointQueue) fetch() {
	began := time.Now()
	renews := q.lease.owner == q.d.owner && !began.Before(q.renewAt())
	limit := 0
	if q.backlog.canFetch() && !q.d.life.isStopping() {
		limit = q.backlog.fetchSize()
	}
	if q.isForeign(began) || limit == 0 && (!renews || !q.backlog.isBusy()) {
		return
	}
	claims := renews || !q.isOurs(began)
	got, err := q.d.fetch(claims, domain.FetchRequest{Key: q.key, Limit: limit, Skip: q.backlog.known()})
	now := time.Now()
	switch {
	case err != nil:
		q.d.logError("fetch due deliveries", err)
		q.backlog.retryFetch(now.Add(retryQuery))
	case got == nil: // there is no such endpoint
		q.backlog.clear()
		q.backlog.needsFetch = false
	case got.Owner != q.d.owner && got.Remaining <= 0:
		q.backlog.retryFetch(now.Add(retryLocked))
	case got.Owner != q.d.owner:
		q.backlog.clear()
		q.lease.owner, q.lease.until = got.Owner, now.Add(got.Remaining)
		q.backlog.needsFetch = q.lease.mustNotify // then the owner is watched until its lease ends
		q.notifyOwner()
	default:
		if q.lease.mustNotify = false; claims { // a tenth is kept as a margin
			q.lease.owner, q.lease.until = q.d.owner, began.Add(q.d.config.Lease*9/10)
		}
		q.refresh(got.Endpoint)
		if got.Endpoint.Enabled() {
			q.backlog.add(got.Due, limit, began)
			q.dueAt(got.NextDue)
		}
	}
}

// dueAt notes when more will be due by the database's clock.
func (q *endpointQueue) dueAt(at *time.Time) {
	if at != nil {
		q.backlog.dueAt(time.Now().Add(at.Sub(q.d.config.Queue.Now())))
	}
}

// refresh takes over what may have been changed about the endpoint.
func (q *endpointQueue) refresh(e domain.Endpoint) {
	q.to = destination{endpoint: e}
	q.backlog.strict = e.StrictOrder
	if !e.Enabled() {
		q.backlog.clear()
		q.backlog.needsFetch = false
		q.park()
		return
	}
	q.to.secret = q.open(e.Secret)
	if len(e.Previous) > 0 {
		q.to.previous = q.open(e.Previous)
	}
}

// open decrypts a secret. If that fails it returns an empty text: then attempts
// fail and say that the operator must look.
func (q *endpointQueue) open(sealed domain.SealedSecret) string {
	plain, err := q.d.config.Secrets.Open(domain.SecretLabel(q.key.CompanyID), sealed)
	if err != nil {
		q.d.config.Log.Error("webhook dispatcher: open a secret", "company", q.key.CompanyID, "endpoint", q.key.ID, "error", err)
		return ""
	}
	return string(plain)
}

// park puts the pending deliveries of an endpoint aside that takes none.
func (q *endpointQueue) park() {
	for n := parkStep; n == parkStep; {
		var err error
		if n, err = q.d.config.Queue.ParkDeliveries(q.d.life.work, q.key, parkStep); err != nil {
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
		q.backlog.clear()
		q.backlog.needsFetch = false
	} else if q.backlog.isStale(now) || !q.isOurs(now) && len(q.backlog.items) > 0 {
		q.backlog.clear()
		q.backlog.needsFetch = true
	}
	for i := q.backlog.nextReady(); i >= 0 && q.d.limiter.acquire(q.slots); i = q.backlog.nextReady() {
		q.start(q.backlog.start(i))
	}
	q.d.limiter.returnGrant(q.slots)
}

// isDone reports whether the queue has nothing to do that the poll would not find.
func (q *endpointQueue) isDone() bool {
	now := time.Now()
	switch {
	case q.backlog.isBusy():
		return false
	case q.d.life.isStopping():
		return true
	case q.backlog.needsFetch || now.Before(q.lease.until):
		return false
	}
	return q.backlog.nextDue.IsZero() || q.backlog.nextDue.Sub(now) > 2*q.d.config.Poll
}

// nextVisit is when the queue looks again if nothing happens.
func (q *endpointQueue) nextVisit() time.Time {
	now := time.Now()
	at := now.Add(time.Hour)
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	sooner(q.backlog.nextDue)
	switch {
	case q.isForeign(now):
		sooner(q.lease.until)
	case q.backlog.canFetch() && !q.d.life.isStopping():
		return now
	case q.isOurs(now) && q.backlog.isBusy():
		sooner(laterOf(q.renewAt(), now.Add(retryLocked)))
	case q.isOurs(now):
		sooner(q.lease.until)
	}
	return at
}
