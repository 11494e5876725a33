package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// maxTurnWait is how long a request may take to be sent before the next one to the same
// endpoint no longer waits for it.
const maxTurnWait = time.Second

// start makes an attempt in a goroutine of its own.
func (q *endpointQueue) start(item domain.DueDelivery) {
	to := q.destination
	request := Request{
		URL: to.endpoint.URL, DeliveryID: item.ID, Event: string(item.Kind), Attempt: item.Attempts + 1,
		Sequence: item.Sequence, Body: item.Body, Secret: to.secret, Headers: to.headers,
	}
	if to.endpoint.Rotating(q.d.config.Queue.Now()) {
		request.PreviousSecret = to.previous
	}
	before, written := q.lastWritten, make(chan struct{})
	q.lastWritten = written
	request.Written = sync.OnceFunc(func() { close(written) })
	q.d.life.queues.Go(func() {
		out := q.attempt(item, request, before)
		request.Written() // also if nothing was sent
		q.report(func() { q.sent(&item, &out) })
		var recorded recordedResult
		if out.Kind != KindAborted {
			recorded = q.d.record(q.d.resultOf(q.key, item, request.URL, &out))
		}
		q.report(func() { q.recorded(&item, recorded) })
	})
}

// attempt sends one request, once the one before it is out. It sends nothing of a
// person who was erased, and is cut short when that happens meanwhile.
func (q *endpointQueue) attempt(item domain.DueDelivery, request Request, before <-chan struct{}) Outcome {
	if item.Erased {
		return Outcome{Kind: KindErased}
	}
	ctx, end, ok := q.d.attempts.begin(q.d.life.sending, domain.RecordKey{CompanyID: q.key.CompanyID, EmployeeID: item.EmployeeID}, item.Kind)
	if !ok {
		return Outcome{Kind: KindAborted}
	}
	defer end()
	waitForTurn(ctx, before)
	q.d.config.Metrics.started()
	out := q.d.config.Sender.Send(ctx, request)
	q.d.config.Metrics.ended(item, &out, q.d.config.Queue.Now())
	q.d.logAttempt(q.key, item, &out)
	return out
}

// waitForTurn waits until the request before is out, so that a receiver gets them
// in order, but not for long: it may be stuck.
func waitForTurn(ctx context.Context, before <-chan struct{}) {
	if before == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxTurnWait)
	defer cancel()
	select {
	case <-before:
	case <-ctx.Done():
	}
}

// report has the queue's goroutine call fn.
func (q *endpointQueue) report(fn func()) {
	select {
	case q.reports <- fn:
	case <-q.d.life.work.Done():
	}
}

// sent notes that an attempt has ended.
func (q *endpointQueue) sent(item *domain.DueDelivery, out *Outcome) {
	q.d.limiter.release(q.slots)
	q.backlog.sent(item)
	if out.Kind != KindErased && out.Kind != KindAborted { // these say nothing about the receiver
		q.backlog.adapt(out.Duration, q.d.limiter.reserve(), q.d.config.Limits.PerEndpoint)
	}
}

// recorded notes what became of a delivery.
func (q *endpointQueue) recorded(item *domain.DueDelivery, result recordedResult) {
	q.backlog.recorded(item)
	isPending := result.State == domain.DeliveryPending
	if isPending {
		q.dueAt(result.DueAt)
	}
	if result.isDisabled || isPending && q.backlog.strict {
		q.backlog.restart(time.Now())
	}
}

// resultOf returns what an outcome means for its delivery.
func (d *Dispatcher) resultOf(key domain.EndpointKey, item domain.DueDelivery, url string, out *Outcome) domain.DeliveryResult {
	r := domain.DeliveryResult{Endpoint: key, Delivery: item, State: domain.DeliveryDelivered, DueAt: item.DueAt, Gone: out.Gone}
	r.Delivery.Body = nil // not needed any more
	if out.Kind == KindErased {
		r.State = domain.DeliveryFailed
		return r
	}
	r.Attempt = out.attempt(url)
	r.Attempt.CompanyID, r.Attempt.DeliveryID = key.CompanyID, item.ID
	r.Attempt.Number, r.Attempt.RequestedBy = item.Attempts+1, item.RequestedBy
	if out.OK() {
		return r
	}
	wait, more := d.config.Schedule.Next(r.Attempt.Number-item.RoundStart, out.RetryAfter)
	if !more {
		d.config.Metrics.failed()
		r.State = domain.DeliveryFailed
		return r
	}
	r.State, r.DueAt = domain.DeliveryPending, d.config.Queue.Now().Add(wait)
	return r
}

// logAttempt writes one line for each attempt.
func (d *Dispatcher) logAttempt(key domain.EndpointKey, item domain.DueDelivery, out *Outcome) {
	d.config.Log.LogAttrs(d.life.work, slog.LevelInfo, "webhook attempt",
		slog.Int64("company", key.CompanyID), slog.Int64("endpoint", key.ID), slog.String("delivery", item.ID),
		slog.Int64("sequence", item.Sequence), slog.String("event", string(item.Kind)), slog.Int("attempt", item.Attempts+1),
		slog.Int("status", out.StatusCode), slog.String("error", string(out.Kind)), slog.Float64("duration_ms", float64(out.Duration.Microseconds())/1000))
}
