package delivery

import (
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
	endpoint domain.Endpoint
	secret   *Secret // nil if it can't be read
	previous string
	headers  domain.Headers
	isUsable bool // nothing is sent unsigned, or without the company's headers
}

// destination decrypts what an endpoint's requests need.
func (q *endpointQueue) destination(e domain.Endpoint) destination {
	to := destination{endpoint: e, previous: q.decrypt(e.Previous)}
	var err error
	if text := q.decrypt(e.Secret); text != "" {
		if to.secret, err = ParseSecret(text); err != nil {
			q.d.config.Log.Error("webhook dispatcher: read a secret", "company", q.key.CompanyID, "endpoint", q.key.ID, "error", err)
		}
	}
	if to.headers, err = domain.DecodeHeaders([]byte(q.decrypt(e.Headers))); err != nil {
		q.d.config.Log.Error("webhook dispatcher: read headers", "company", q.key.CompanyID, "endpoint", q.key.ID, "error", err)
	}
	to.isUsable = to.secret != nil && (len(to.headers) > 0 || len(e.Headers) == 0)
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

// attempt is one attempt at a delivery.
type attempt struct {
	q        *endpointQueue
	item     domain.DueDelivery
	request  Request
	isUsable bool            // of the destination
	previous <-chan struct{} // closed once the request before this one has been written; nil for the first
	out      Outcome
	recorded recordedResult
}

// start starts an attempt.
func (q *endpointQueue) start(item domain.DueDelivery) {
	written := make(chan struct{})
	a := &attempt{q: q, item: item, isUsable: q.to.isUsable, previous: q.next.previous, request: Request{
		URL: q.to.endpoint.URL, DeliveryID: item.ID, Event: string(item.Kind), Attempt: item.Attempts + 1,
		Sequence: item.Sequence, Body: item.Body, Secret: q.to.secret, Headers: q.to.headers,
		Written: sync.OnceFunc(func() { close(written) }),
	}}
	if q.to.endpoint.Rotating(q.d.config.Queue.Now()) {
		a.request.PreviousSecret = q.to.previous
	}
	q.next.previous = written
	q.d.run(a)
}

// run starts an attempt in a goroutine that has run one before, if one is idle: the stack
// of a new one has to grow first, which took 5 of the 110 µs of a delivery. As many wait
// as attempts were under way at a time.
func (d *Dispatcher) run(a *attempt) {
	d.life.queues.Add(1)
	select {
	case d.idle <- a:
	default:
		d.life.background.Go(func() {
			d.runAttempt(a)
			for next := range d.idle {
				d.runAttempt(next)
			}
		})
	}
}

func (d *Dispatcher) runAttempt(a *attempt) {
	defer d.life.queues.Done()
	a.run()
}

// run makes the attempt and has its result recorded.
func (a *attempt) run() {
	a.send()
	a.request.Written() // also if nothing was sent
	a.q.reports <- a.ended
	// Hundreds of results may wait to be recorded: in goroutines of their own, whose stacks
	// remain small.
	a.q.d.life.queues.Go(a.record)
}

// send sends the request, once the previous one has been written. It sends nothing about
// a person who was erased, and is cut short when that happens meanwhile.
func (a *attempt) send() {
	if a.item.Erased {
		a.out.Kind = KindErased
		return
	}
	d := a.q.d
	ctx, end, ok := d.attempts.begin(domain.RecordKey{CompanyID: a.q.key.CompanyID, EmployeeID: a.item.EmployeeID}, a.item.Kind)
	if !ok {
		a.out.Kind = KindAborted
		return
	}
	defer end()
	if a.previous != nil { // so that the receiver gets requests in order; but this one may be stuck
		waitFor(ctx, a.previous, maxTurnWait)
	}
	d.config.Metrics.started()
	if a.isUsable {
		a.out = d.config.Sender.Send(ctx, a.request)
	} else {
		a.out.StartedAt = d.config.Queue.Now()
		a.out.fail(KindInternal, "The request could not be made, as the webhook's secret or headers can't be decrypted; tell the operator of this service.")
	}
	d.config.Metrics.ended(&a.item, &a.out, d.config.Queue.Now())
	a.log()
}

// ended notes that the attempt has ended, even if nothing was sent. The queue runs it.
func (a *attempt) ended() {
	q := a.q
	q.d.limiter.release(q.slots)
	q.buffer.attemptEnded(&a.item)
	if !a.out.Kind.saysNothingOfReceiver() {
		q.buffer.adapt(a.out.Duration, q.d.limiter.reserve(), q.d.config.Limits.PerEndpoint)
	}
}

// finished notes what became of the delivery. The queue runs it.
func (a *attempt) finished() {
	q := a.q
	q.buffer.finished(&a.item)
	isPending := a.recorded.State == domain.DeliveryPending
	if isPending {
		q.dueAt(a.recorded.DueAt)
	}
	if a.recorded.isDisabled || isPending && q.buffer.strict {
		q.buffer.dropAndFetch(time.Now())
	}
}

// record writes what the outcome means for the delivery, nothing if there is none.
func (a *attempt) record() {
	if a.out.Kind != KindAborted {
		result := a.q.d.resultOf(a.q.key, &a.item, a.request.URL, &a.out)
		a.recorded = a.q.d.record(&result)
	}
	a.q.reports <- a.finished
}

// resultOf returns what an outcome means for its delivery.
func (d *Dispatcher) resultOf(key domain.EndpointKey, item *domain.DueDelivery, url string, out *Outcome) domain.DeliveryResult {
	r := domain.DeliveryResult{Endpoint: key, Delivery: *item, State: domain.DeliveryDelivered, DueAt: item.DueAt, Gone: out.Gone}
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

// log writes the one line of the log that each attempt has.
func (a *attempt) log() {
	d, key, log := a.q.d, a.q.key, a.q.d.config.Log
	if !log.Enabled(d.life.mayWork, slog.LevelInfo) {
		return
	}
	// Not through the logger, which would look up the line of code each time.
	record := slog.NewRecord(time.Now(), slog.LevelInfo, "webhook attempt", 0)
	record.AddAttrs(
		slog.Int64("company", key.CompanyID), slog.Int64("endpoint", key.ID), slog.String("delivery", a.item.ID),
		slog.Int64("sequence", a.item.Sequence), slog.String("event", string(a.item.Kind)), slog.Int("attempt", a.item.Attempts+1),
		slog.Int("status", a.out.StatusCode), slog.String("error", string(a.out.Kind)), slog.Float64("duration_ms", float64(a.out.Duration.Microseconds())/1000))
	_ = log.Handler().Handle(d.life.mayWork, record) // there is nowhere to report that it failed
}
