package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// maxTurnWait is how long an attempt waits for the previous request to the same endpoint
// to be written.
const maxTurnWait = time.Second

// destination is where to send and how to sign.
type destination struct {
	endpoint         domain.Endpoint
	secret, previous string
	headers          domain.Headers
	isUsable         bool // nothing is sent unsigned, or without the company's headers
}

// destination decrypts what an endpoint's requests need.
func (q *endpointQueue) destination(e domain.Endpoint) destination {
	to := destination{endpoint: e, secret: q.decrypt(e.Secret), previous: q.decrypt(e.Previous)}
	var err error
	if to.headers, err = domain.DecodeHeaders([]byte(q.decrypt(e.Headers))); err != nil {
		q.d.config.Log.Error("webhook dispatcher: read headers", "company", q.key.CompanyID, "endpoint", q.key.ID, "error", err)
	}
	to.isUsable = to.secret != "" && (len(to.headers) > 0 || len(e.Headers) == 0)
	return to
}

// decrypt decrypts a secret. If that fails it logs why and returns an empty text.
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

// start makes an attempt in a goroutine of its own.
func (q *endpointQueue) start(item domain.DueDelivery) {
	request := Request{
		URL: q.to.endpoint.URL, DeliveryID: item.ID, Event: string(item.Kind), Attempt: item.Attempts + 1,
		Sequence: item.Sequence, Body: item.Body, Secret: q.to.secret, Headers: q.to.headers,
	}
	if q.to.endpoint.Rotating(q.d.config.Queue.Now()) {
		request.PreviousSecret = q.to.previous
	}
	send := q.d.config.Sender.Send
	if !q.to.isUsable {
		send = q.d.sendNothing
	}
	previous, written := q.next.previous, make(chan struct{})
	q.next.previous = written
	request.Written = sync.OnceFunc(func() { close(written) })
	q.d.life.queues.Go(func() {
		out := q.attempt(item, previous, func(ctx context.Context) Outcome { return send(ctx, request) })
		request.Written() // also if nothing was sent
		q.reports <- func() { q.attemptEnded(&item, &out) }
		var recorded recordedResult
		if out.Kind != KindAborted {
			recorded = q.d.record(q.d.resultOf(q.key, item, request.URL, &out))
		}
		q.reports <- func() { q.finished(&item, recorded) }
	})
}

// sendNothing is the attempt at a destination that is not usable.
func (d *Dispatcher) sendNothing(context.Context, Request) Outcome {
	out := Outcome{StartedAt: d.config.Queue.Now()}
	out.fail(KindInternal, "The request could not be made, as the webhook's secret or headers can't be decrypted; tell the operator of this service.")
	return out
}

// attempt sends one request, once the previous one has been written. It sends nothing
// about a person who was erased, and is cut short when that happens meanwhile.
func (q *endpointQueue) attempt(item domain.DueDelivery, previous <-chan struct{}, send func(context.Context) Outcome) Outcome {
	if item.Erased {
		return Outcome{Kind: KindErased}
	}
	ctx, end, ok := q.d.attempts.begin(domain.RecordKey{CompanyID: q.key.CompanyID, EmployeeID: item.EmployeeID}, item.Kind)
	if !ok {
		return Outcome{Kind: KindAborted}
	}
	defer end()
	if previous != nil { // so that the receiver gets requests in order; but this one may be stuck
		waitFor(ctx, previous, maxTurnWait)
	}
	q.d.config.Metrics.started()
	out := send(ctx)
	q.d.config.Metrics.ended(item, &out, q.d.config.Queue.Now())
	q.d.logAttempt(q.key, item, &out)
	return out
}

// attemptEnded notes that an attempt has ended, even if nothing was sent.
func (q *endpointQueue) attemptEnded(item *domain.DueDelivery, out *Outcome) {
	q.d.limiter.release(q.slots)
	q.buffer.attemptEnded(item)
	if !out.Kind.saysNothingOfReceiver() {
		q.buffer.adapt(out.Duration, q.d.limiter.reserve(), q.d.config.Limits.PerEndpoint)
	}
}

// finished notes what became of a delivery.
func (q *endpointQueue) finished(item *domain.DueDelivery, result recordedResult) {
	q.buffer.finished(item)
	isPending := result.State == domain.DeliveryPending
	if isPending {
		q.dueAt(result.DueAt)
	}
	if result.isDisabled || isPending && q.buffer.strict {
		q.buffer.dropAndFetch(time.Now())
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
		r.State = domain.DeliveryFailed
		return r
	}
	r.State, r.DueAt = domain.DeliveryPending, d.config.Queue.Now().Add(wait)
	return r
}

// logAttempt writes one line for each attempt.
func (d *Dispatcher) logAttempt(key domain.EndpointKey, item domain.DueDelivery, out *Outcome) {
	d.config.Log.LogAttrs(d.life.mayWork, slog.LevelInfo, "webhook attempt",
		slog.Int64("company", key.CompanyID), slog.Int64("endpoint", key.ID), slog.String("delivery", item.ID),
		slog.Int64("sequence", item.Sequence), slog.String("event", string(item.Kind)), slog.Int("attempt", item.Attempts+1),
		slog.Int("status", out.StatusCode), slog.String("error", string(out.Kind)), slog.Float64("duration_ms", float64(out.Duration.Microseconds())/1000))
}
