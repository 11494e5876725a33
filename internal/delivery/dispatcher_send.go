package delivery

import (
	"log/slog"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// startReady starts what the limits allow.
func (d *Dispatcher) startReady(now time.Time) {
	if d.stopping || d.results.full() {
		return
	}
	for l := d.slots.next(); l != nil; l = d.slots.next() {
		if !d.start(l, now) {
			d.slots.give(l)
		}
		if d.results.full() {
			return
		}
	}
}

// start sends the lane's first delivery in the slot that was taken for it; false
// if there was nothing to send after all.
func (d *Dispatcher) start(l *lane, now time.Time) bool {
	if l.status != owned || !now.Before(l.until) || now.Sub(l.queuedAt) > keepQueued {
		l.clear()
		l.dirty = true
		d.want(l, now)
		return false
	}
	item := l.queue[0]
	l.queue = l.queue[1:]
	if len(l.queue) == 0 {
		l.queue = nil
	}
	if l.more && len(l.queue) <= l.window {
		l.more, l.dirty = false, true
		d.want(l, now)
	}
	if item.Erased {
		d.settle(l, domain.DeliveryResult{Endpoint: l.key, Delivery: item, State: domain.DeliveryFailed, DueAt: item.DueAt}, now)
		return false
	}
	request := Request{
		URL: l.endpoint.URL, DeliveryID: item.ID, Event: string(item.Kind), Attempt: item.Attempts + 1,
		Body: item.Body, Secret: l.secret,
	}
	if l.endpoint.Rotating(now) {
		request.PreviousSecret = l.previous
	}
	before, written := l.written, make(chan struct{})
	l.written = written
	request.Written = sync.OnceFunc(func() { close(written) })
	d.config.Metrics.started()
	d.beside.Go(func() {
		d.inTurn(before)
		out := d.config.Sender.Send(d.sending, request)
		request.Written() // also if nothing was
		d.post(func() { d.onSent(l, item, request.URL, &out) })
	})
	return true
}

// inTurn waits until the request before is out, so that a receiver gets them in
// order, but not for long: it may be stuck on its way.
func (d *Dispatcher) inTurn(before <-chan struct{}) {
	if before == nil {
		return
	}
	select {
	case <-before:
		return
	default:
	}
	late := time.NewTimer(stuck)
	defer late.Stop()
	select {
	case <-before:
	case <-late.C:
	case <-d.sending.Done():
	}
}

func (d *Dispatcher) onSent(l *lane, item domain.DueDelivery, url string, out *Outcome) {
	now := d.config.Queue.Now()
	d.slots.give(l)
	d.config.Metrics.ended(item, out, now)
	if out.Kind == KindAborted {
		delete(l.known, item.Seq)
		return
	}
	l.adapt(out.Duration, d.slots.reserve(), d.config.Limits.PerEndpoint)
	d.logAttempt(l, item, out)
	d.settle(l, d.judge(l, item, url, out, now), now)
	d.slots.offer(l)
}

// judge says what an outcome means for its delivery.
func (d *Dispatcher) judge(l *lane, item domain.DueDelivery, url string, out *Outcome, now time.Time) domain.DeliveryResult {
	r := domain.DeliveryResult{
		Endpoint: l.key, Delivery: item, State: domain.DeliveryDelivered, DueAt: item.DueAt, Gone: out.Gone,
		Attempt: attemptOf(out, url),
	}
	r.Delivery.Body = nil // not needed any more
	r.Attempt.CompanyID, r.Attempt.DeliveryID = l.key.CompanyID, item.ID
	r.Attempt.Number, r.Attempt.RequestedBy = item.Attempts+1, item.RequestedBy
	if out.OK() {
		return r
	}
	wait, more := d.config.Schedule.Next(r.Attempt.Number-item.RoundStart, out.RetryAfter)
	if !more {
		r.State = domain.DeliveryFailed
		return r
	}
	r.State, r.DueAt = domain.DeliveryPending, now.Add(wait)
	return r
}

// attemptOf gives an outcome as the log keeps it.
func attemptOf(out *Outcome, url string) domain.Attempt {
	return domain.Attempt{
		URL: url, StartedAt: domain.NormalizeTime(out.StartedAt), Duration: out.Duration, StatusCode: out.StatusCode,
		ErrorKind: string(out.Kind), Error: storable(out.Detail), RequestHeaders: logged(out.RequestHeaders),
		ResponseHeaders: logged(out.ResponseHeaders), ResponseBody: out.ResponseBody,
	}
}

func logged(in Headers) []domain.Header {
	out := make([]domain.Header, len(in))
	for i, h := range in {
		out[i] = domain.Header(h)
	}
	return out
}

func (d *Dispatcher) logAttempt(l *lane, item domain.DueDelivery, out *Outcome) {
	level := slog.LevelDebug
	if !out.OK() {
		level = slog.LevelInfo
	}
	if !d.config.Log.Enabled(d.work, level) {
		return
	}
	d.config.Log.LogAttrs(d.work, level, "webhook attempt",
		slog.Int64("company", l.key.CompanyID), slog.Int64("endpoint", l.key.ID), slog.String("delivery", item.ID),
		slog.String("event", string(item.Kind)), slog.Int("attempt", item.Attempts+1), slog.Int("status", out.StatusCode),
		slog.String("error", string(out.Kind)), slog.Duration("took", out.Duration))
}
