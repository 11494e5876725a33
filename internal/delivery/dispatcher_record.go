package delivery

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	gather     = 3 * time.Millisecond // results wait this long for others, to be written together
	recordStep = 256
	maxResults = 8192 // unwritten results at which nothing more is started
)

// results wait to be recorded, one transaction at a time.
type results struct {
	list    []domain.DeliveryResult
	first   time.Time // when the first of them came in
	writing int
}

func (r *results) empty() bool { return len(r.list) == 0 && r.writing == 0 }
func (r *results) full() bool  { return len(r.list)+r.writing >= maxResults }

// flushAt is when the next transaction is due by itself.
func (r *results) flushAt() (time.Time, bool) {
	return r.first.Add(gather), len(r.list) > 0 && r.writing == 0
}

// settle has a result recorded. Until it is, the delivery counts as known.
func (d *Dispatcher) settle(l *lane, r domain.DeliveryResult, now time.Time) {
	if len(d.results.list) == 0 {
		d.results.first = now
	}
	l.unwritten++
	d.results.list = append(d.results.list, r)
}

func (d *Dispatcher) flush(now time.Time) {
	r := &d.results
	at, some := r.flushAt()
	if !some || now.Before(at) && len(r.list) < recordStep && !d.stopping {
		return
	}
	n := min(len(r.list), recordStep)
	batch := r.list[:n:n]
	r.list, r.first, r.writing = r.list[n:], now, n
	d.beside.Go(func() {
		recorded := d.record(batch)
		d.post(func() { d.onRecorded(batch, recorded) })
	})
}

// record writes a batch, whatever it takes: while the database can't be reached
// it tries again, and of results that can't be written for themselves it finds
// the one at fault.
func (d *Dispatcher) record(batch []domain.DeliveryResult) domain.Recorded {
	wait := 100 * time.Millisecond
	for {
		ctx, cancel := context.WithTimeout(d.work, queryTimeout)
		recorded, err := d.config.Queue.RecordResults(ctx, batch)
		inTime := ctx.Err() == nil
		cancel()
		if err == nil || d.work.Err() != nil {
			return recorded
		}
		d.complain("record results", err)
		if domain.CodeOf(err) != domain.CodeUnavailable && inTime {
			return d.recordApart(batch)
		}
		select {
		case <-d.work.Done():
			return domain.Recorded{}
		case <-time.After(wait):
		}
		wait = min(2*wait, 2*time.Second)
	}
}

// recordApart halves a batch until the result at fault is alone; of that one
// only the verdict is kept.
func (d *Dispatcher) recordApart(batch []domain.DeliveryResult) domain.Recorded {
	if len(batch) > 1 {
		left, right := d.record(batch[:len(batch)/2]), d.record(batch[len(batch)/2:])
		left.Deliveries = append(left.Deliveries, right.Deliveries...)
		left.Disabled = append(left.Disabled, right.Disabled...)
		return left
	}
	bare := batch[0]
	bare.Attempt.RequestHeaders, bare.Attempt.ResponseHeaders, bare.Attempt.ResponseBody = nil, nil, nil
	bare.Attempt.URL, bare.Attempt.Error = "", "The log of this attempt could not be kept."
	ctx, cancel := context.WithTimeout(d.work, queryTimeout)
	defer cancel()
	recorded, err := d.config.Queue.RecordResults(ctx, []domain.DeliveryResult{bare})
	if err != nil {
		d.complain("record a bare result", err)
	}
	return recorded
}

func (d *Dispatcher) onRecorded(batch []domain.DeliveryResult, recorded domain.Recorded) {
	now := d.config.Queue.Now()
	d.results.writing = 0
	stands := make(map[int64]domain.RecordedDelivery, len(recorded.Deliveries))
	for _, r := range recorded.Deliveries {
		stands[r.Seq] = r
	}
	for i := range batch {
		seq, l := batch[i].Delivery.Seq, d.lanes[batch[i].Endpoint]
		l.unwritten--
		delete(l.known, seq)
		if l.fetching {
			l.lately[seq] = struct{}{}
		}
		if s, ok := stands[seq]; ok && s.State == domain.DeliveryPending {
			l.due(s.DueAt)
		}
		if l.unwritten == 0 || !l.next.IsZero() {
			d.rest(l, now)
		}
	}
	for _, key := range recorded.Disabled {
		if l := d.lane(key); l.endpoint.DisabledAt == nil {
			l.endpoint.DisabledAt = &now
			l.clear()
			d.park(l)
		}
	}
}
