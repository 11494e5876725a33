package delivery

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	queryTimeout = 15 * time.Second
	retryQuery   = time.Second // after the database failed
	longWait     = time.Hour
	burst        = 1024 // calls handled before the rest of the work has its turn
)

func (d *Dispatcher) renewEvery() time.Duration { return d.config.Lease * 3 / 10 }

func (d *Dispatcher) loop() {
	defer close(d.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	stop, abort := d.stop, d.abort
	for {
		select {
		case fn := <-d.calls:
			fn()
			d.drain()
		case <-d.inbox.signal:
			d.receive()
		case <-timer.C:
		case <-stop:
			stop = nil
			d.stopping = true
			d.abandon()
		case <-abort:
			abort = nil
			d.endSends()
		case <-d.work.Done():
			return
		}
		if d.stopping && d.idle() {
			return
		}
		timer.Reset(d.pump())
	}
}

func (d *Dispatcher) drain() {
	for range burst {
		select {
		case fn := <-d.calls:
			fn()
		default:
			return
		}
	}
}

func (d *Dispatcher) idle() bool { return d.slots.total == 0 && d.results.empty() }

// pump does whatever can be done now, and says when there will be more to do.
func (d *Dispatcher) pump() time.Duration {
	now := d.config.Queue.Now()
	for l := d.alarms.pop(now); l != nil; l = d.alarms.pop(now) {
		d.visit(l, now)
	}
	if !d.stopping && !d.polling && !now.Before(d.pollAt) {
		d.poll(now)
	}
	if !d.renewing && !now.Before(d.renewAt) {
		d.renew(now)
	}
	d.startReady(now)
	d.flush(now)
	d.launch(&d.reads)
	d.launch(&d.claims)
	return max(d.wakeAt(now).Sub(now), time.Millisecond)
}

func (d *Dispatcher) wakeAt(now time.Time) time.Time {
	at := now.Add(longWait)
	sooner := func(t time.Time) {
		if t.Before(at) {
			at = t
		}
	}
	if !d.stopping && !d.polling {
		sooner(d.pollAt)
	}
	if !d.renewing {
		sooner(d.renewAt)
	}
	if t, ok := d.alarms.next(); ok {
		sooner(t)
	}
	if t, ok := d.results.flushAt(); ok {
		sooner(t)
	}
	return at
}

// visit looks at a lane at the time it asked for.
func (d *Dispatcher) visit(l *lane, now time.Time) {
	if l.status != free && !now.Before(l.until) {
		l.status = free
	}
	if !l.next.IsZero() && !now.Before(l.next) {
		l.next, l.dirty = time.Time{}, true
	}
	if l.dirty {
		d.want(l, now)
	}
	d.rest(l, now)
}

// rest sets the time of the next visit, or forgets a lane that nothing is known
// of: what is due later than the next poll, the poll finds.
func (d *Dispatcher) rest(l *lane, now time.Time) {
	if l.busy() || l.dirty {
		if !l.next.IsZero() {
			d.alarms.set(l, l.next)
		}
		return
	}
	if l.next.Sub(now) > 2*d.config.Poll {
		l.next = time.Time{}
	}
	switch {
	case l.status != free:
		at := l.until
		if !l.next.IsZero() && l.next.Before(at) {
			at = l.next
		}
		d.alarms.set(l, at)
	case !l.next.IsZero():
		d.alarms.set(l, l.next)
	default:
		d.forget(l)
	}
}

func (d *Dispatcher) forget(l *lane) {
	d.alarms.unset(l)
	if d.lanes[l.key] == l {
		delete(d.lanes, l.key)
	}
}

func (d *Dispatcher) lane(key domain.EndpointKey) *lane {
	l := d.lanes[key]
	if l == nil {
		l = newLane(key, d.slots.reserve())
		d.lanes[key] = l
	}
	return l
}

// abandon lets go of what was not started.
func (d *Dispatcher) abandon() {
	for _, l := range d.lanes {
		l.clear()
	}
}

// receive acts on the wake-ups that have come in.
func (d *Dispatcher) receive() {
	here, there, freed, missed := d.inbox.take()
	now := d.config.Queue.Now()
	for _, key := range freed {
		if l := d.lanes[key]; l != nil && l.status == foreign {
			l.status = free
		}
	}
	for _, key := range here {
		l := d.lane(key)
		l.dirty, l.tell = true, true
		d.want(l, now)
	}
	for _, key := range append(there, freed...) {
		l := d.lane(key)
		if l.status == foreign && now.Before(l.until) {
			continue // its owner was told too
		}
		l.dirty = true
		d.want(l, now)
	}
	if missed {
		d.pollAt = now
	}
}

// poll searches the queue for what no wake-up told of.
func (d *Dispatcher) poll(now time.Time) {
	d.polling = true
	horizon := 2 * d.config.Poll
	d.beside.Go(func() {
		ctx, cancel := context.WithTimeout(d.work, queryTimeout)
		defer cancel()
		backlog, err := d.config.Queue.DeliveryBacklog(ctx, horizon)
		d.post(func() {
			d.polling, d.pollAt = false, now.Add(d.config.Poll)
			if err != nil {
				d.complain("search the queue", err)
				return
			}
			d.onBacklog(backlog)
		})
	})
}

func (d *Dispatcher) onBacklog(b domain.Backlog) {
	now := d.config.Queue.Now()
	var oldest time.Duration
	for _, w := range b.Endpoints {
		oldest = max(oldest, now.Sub(w.Due))
		l := d.lane(w.Key)
		if l.status != owned {
			l.status = free
			if w.Owner != d.owner && now.Before(w.Until) {
				l.status, l.until = foreign, w.Until
			}
		}
		if w.Due.After(now) {
			l.due(w.Due)
		} else {
			// Of another owner's, this looks again when its lease has run out.
			l.dirty = true
			d.want(l, now)
		}
		d.rest(l, now)
	}
	d.config.Metrics.backlog(b.Depth, oldest)
}

// renew keeps the leases of the lanes that have work.
func (d *Dispatcher) renew(now time.Time) {
	d.renewAt = now.Add(d.renewEvery())
	var keys []domain.EndpointKey
	for key, l := range d.lanes {
		if l.status == owned && l.busy() && l.until.Sub(now) < d.config.Lease-d.renewEvery()/2 {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	d.renewing = true
	d.beside.Go(func() {
		ctx, cancel := context.WithTimeout(d.work, d.config.Lease)
		defer cancel()
		kept, err := d.config.Queue.RenewEndpoints(ctx, d.owner, d.config.Lease, keys)
		d.post(func() {
			d.renewing = false
			if err != nil {
				d.complain("renew leases", err)
				return
			}
			d.onRenewed(keys, kept)
		})
	})
}

func (d *Dispatcher) onRenewed(asked []domain.EndpointKey, kept []domain.Lane) {
	now := d.config.Queue.Now()
	held := make(map[domain.EndpointKey]*domain.Lane, len(kept))
	for i := range kept {
		held[kept[i].Endpoint.Key()] = &kept[i]
	}
	for _, key := range asked {
		l := d.lanes[key]
		if l == nil || l.status != owned {
			continue
		}
		if k := held[key]; k != nil {
			l.until = k.Until
			d.refresh(l, k.Endpoint)
			continue
		}
		l.lost(now.Add(d.config.Lease))
		d.rest(l, now)
	}
}

func (d *Dispatcher) complain(what string, err error) {
	if d.work.Err() == nil {
		d.config.Log.Error("webhook dispatcher: "+what, "error", err)
	}
}
