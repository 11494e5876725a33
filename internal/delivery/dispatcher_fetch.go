package delivery

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// fetchStep is how many lanes one query serves.
const fetchStep = 64

// fetches are lanes that wait to be asked for in the queue. While queries run,
// more gather, and the next query serves them together.
type fetches struct {
	claim   bool // leases must be taken first
	most    int  // queries at once
	running int
	lanes   []*lane
}

// want has the lane's due deliveries fetched, if they are ours to send.
func (d *Dispatcher) want(l *lane, now time.Time) {
	if l.fetching || d.stopping {
		return // what came in meanwhile is looked at when the fetch returns
	}
	switch {
	case l.status == foreign && now.Before(l.until):
		if l.tell {
			l.tell = false
			d.outbox.add(l.key.String())
		}
		d.alarms.set(l, l.until)
	case l.status == owned && now.Before(l.until) && len(l.queue) >= l.room():
		l.dirty, l.more = false, true // there is enough to do; what has come in is fetched in its turn
	case l.status == owned && l.until.Sub(now) > d.config.Lease/5:
		l.fetching = true
		d.reads.lanes = append(d.reads.lanes, l)
	default:
		l.fetching = true
		d.claims.lanes = append(d.claims.lanes, l)
	}
}

// launch asks for the lanes that wait.
func (d *Dispatcher) launch(f *fetches) {
	for len(f.lanes) > 0 && f.running < f.most && !d.stopping {
		n := min(len(f.lanes), fetchStep)
		batch := f.lanes[:n:n]
		f.lanes = f.lanes[n:]
		f.running++
		asks := make([]domain.LaneAsk, n)
		for i, l := range batch {
			l.dirty = false
			asks[i] = domain.LaneAsk{Key: l.key, Limit: l.room(), Skip: l.skip()}
		}
		d.beside.Go(func() {
			lanes, err := d.ask(f.claim, asks)
			d.post(func() {
				f.running--
				d.onFetched(batch, asks, lanes, err)
			})
		})
	}
}

func (d *Dispatcher) ask(claim bool, asks []domain.LaneAsk) ([]domain.Lane, error) {
	ctx, cancel := context.WithTimeout(d.work, queryTimeout)
	defer cancel()
	if claim {
		return d.config.Queue.ClaimEndpoints(ctx, d.owner, d.config.Lease, asks)
	}
	return d.config.Queue.DueDeliveries(ctx, asks)
}

func (d *Dispatcher) onFetched(batch []*lane, asks []domain.LaneAsk, fetched []domain.Lane, err error) {
	now := d.config.Queue.Now()
	if err != nil {
		d.complain("fetch due deliveries", err)
	}
	found := make(map[domain.EndpointKey]*domain.Lane, len(fetched))
	for i := range fetched {
		found[fetched[i].Endpoint.Key()] = &fetched[i]
	}
	for i, l := range batch {
		l.fetching = false
		got := found[l.key]
		switch {
		case err != nil:
			l.dirty = false
			l.due(now.Add(retryQuery))
		case got == nil: // there is no such endpoint
			l.clear()
			l.status, l.dirty = free, false
		case got.Owner != d.owner || !now.Before(got.Until):
			d.onForeign(l, got, now)
		default:
			d.onLane(l, got, len(got.Due) >= asks[i].Limit, now)
		}
		clear(l.lately)
		if l.dirty {
			d.want(l, now)
		}
		d.rest(l, now)
	}
}

// onForeign notes that another replica sends this lane. One that must be told is,
// and is watched until its lease has run out.
func (d *Dispatcher) onForeign(l *lane, got *domain.Lane, now time.Time) {
	l.clear()
	if got.Owner == d.owner || !now.Before(got.Until) {
		l.status, l.dirty = free, true // the lease ran out on the way
		return
	}
	l.status, l.until = foreign, got.Until
	l.dirty = l.dirty || l.tell
}

func (d *Dispatcher) onLane(l *lane, got *domain.Lane, more bool, now time.Time) {
	l.status, l.until, l.tell = owned, got.Until, false
	d.refresh(l, got.Endpoint)
	if d.stopping || !l.endpoint.Enabled() {
		return
	}
	l.more = more
	if got.Next != nil {
		l.due(*got.Next)
	}
	l.take(got.Due, now)
	d.slots.offer(l)
}

// refresh takes over what may have been changed about the endpoint.
func (d *Dispatcher) refresh(l *lane, e domain.Endpoint) {
	l.endpoint = e
	if !e.Enabled() {
		l.clear()
		d.park(l)
		return
	}
	l.secret, l.previous = d.open(e, e.Secret), ""
	if len(e.Previous) > 0 {
		l.previous = d.open(e, e.Previous)
	}
}

// open gives a secret, or nothing: then attempts fail and say that the operator
// must look.
func (d *Dispatcher) open(e domain.Endpoint, sealed domain.SealedSecret) string {
	plain, err := d.config.Secrets.Open(domain.SecretLabel(e.CompanyID), sealed)
	if err != nil {
		d.config.Log.Error("webhook dispatcher: open a secret", "company", e.CompanyID, "endpoint", e.ID, "error", err)
		return ""
	}
	return string(plain)
}

// parkStep is how many deliveries one transaction puts aside.
const parkStep = 500

// park puts the pending deliveries of an endpoint aside that takes none.
func (d *Dispatcher) park(l *lane) {
	if l.parking {
		return
	}
	l.parking = true
	d.beside.Go(func() {
		for {
			ctx, cancel := context.WithTimeout(d.work, queryTimeout)
			n, err := d.config.Queue.ParkDeliveries(ctx, l.key, parkStep)
			cancel()
			if err != nil {
				d.complain("hold deliveries", err)
			}
			if err != nil || n < parkStep {
				break
			}
		}
		d.post(func() {
			l.parking = false
			d.rest(l, d.config.Queue.Now())
		})
	})
}
