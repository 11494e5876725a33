package delivery

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// maxTurnWait is how long an attempt waits until the previous request to the same endpoint
// has been written.
const maxTurnWait = time.Second

// destination is where to send and how to sign.
type destination struct {
	endpoint   domain.Endpoint
	secret     *Secret
	retired    []domain.RetiredSecret
	headers    domain.Headers
	canDecrypt bool // whether secret and headers could be read; nothing is sent without them
}

// destination decrypts what an endpoint's requests need. It logs what can't be read.
// Requests are sent without a retired secret that can't be.
func (q *endpointQueue) destination(e domain.Endpoint) destination {
	to := destination{endpoint: e}
	if text, ok := q.decrypt(e.Previous); ok {
		to.retired = retiredSecrets(e, text, q.d.config.Queue.Now())
	}
	secret, hasSecret := q.decrypt(e.Secret)
	headers, hasHeaders := q.decrypt(e.Headers)
	if to.canDecrypt = hasSecret && hasHeaders; !to.canDecrypt {
		return to
	}
	var errSecret, errHeaders error
	to.secret, errSecret = ParseSecret(secret)
	to.headers, errHeaders = domain.DecodeHeaders([]byte(headers))
	if err := errors.Join(errSecret, errHeaders); err != nil {
		to.canDecrypt = false
		q.logSecretError(err)
	}
	return to
}

// retiredSecrets returns the secrets in a decrypted text that the endpoint still signs
// with at the time, in addition to its own.
func retiredSecrets(e domain.Endpoint, text string, now time.Time) []domain.RetiredSecret {
	if e.PreviousUntil == nil {
		return nil
	}
	return domain.ParseRetiredSecrets(text, *e.PreviousUntil, now)
}

// decrypt returns the text of a secret, an empty one if there is no secret.
func (q *endpointQueue) decrypt(sealed domain.SealedSecret) (text string, ok bool) {
	if len(sealed) == 0 {
		return "", true
	}
	plain, err := q.d.config.Secrets.Open(domain.SecretLabel(q.key.CompanyID), sealed)
	if err != nil {
		q.logSecretError(err)
	}
	return string(plain), err == nil
}

func (q *endpointQueue) logSecretError(err error) {
	q.d.config.Log.Error("webhook dispatcher: read a webhook's secrets", "company", q.key.CompanyID, "endpoint", q.key.ID, "error", err)
}

// attempt is one attempt at a delivery.
type attempt struct {
	q               *endpointQueue
	item            domain.DueDelivery
	request         Request
	canDecrypt      bool            // of the destination
	isStrict        bool            // the endpoint is in strict order
	previousWritten <-chan struct{} // closed once the request before this one has been written; nil for the first
	out             Outcome
	recorded        recordedResult
}

// startAttempt starts an attempt at a delivery.
func (q *endpointQueue) startAttempt(item domain.DueDelivery) {
	written := make(chan struct{})
	a := &attempt{q: q, item: item, canDecrypt: q.to.canDecrypt, isStrict: q.buffer.strict, previousWritten: q.next.previousWritten, request: Request{
		URL: q.to.endpoint.URL, DeliveryID: item.ID, Event: string(item.Kind), Attempt: item.Attempts + 1,
		Sequence: item.Sequence, Body: item.Body, Secret: q.to.secret, RetiredSecrets: q.to.retired, Headers: q.to.headers,
		Written: sync.OnceFunc(func() { close(written) }),
	}}
	q.next.previousWritten = written
	q.d.runInBackground(a)
}

// maxIdle is how many goroutines wait for another attempt after their last one.
const maxIdle = 64

// runInBackground makes an attempt in a goroutine that has made one before, if one is
// idle: the stack of a new one has to grow first, which took 5 of the 110 µs of a delivery.
func (d *Dispatcher) runInBackground(a *attempt) {
	select {
	case d.handover <- a:
	default:
		d.life.queues.Go(func() { d.makeAttempts(a) })
	}
}

// makeAttempts makes an attempt, and then others that runInBackground passes on, until
// enough goroutines wait for one or nothing more is started.
func (d *Dispatcher) makeAttempts(a *attempt) {
	for isStopping := d.life.mayStart.Done(); ; {
		a.sendAndRecord()
		if d.life.idle.Add(1) > maxIdle {
			d.life.idle.Add(-1)
			return
		}
		select {
		case a = <-d.handover:
			d.life.idle.Add(-1)
		case <-isStopping:
			return
		}
	}
}

// sendAndRecord makes the attempt and has its result recorded.
func (a *attempt) sendAndRecord() {
	a.send()
	a.request.Written() // also if nothing was sent
	a.q.reports <- a.onSent
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
	if a.previousWritten != nil { // so that the receiver gets requests in order; but the previous one may be stuck
		waitFor(ctx, a.previousWritten, maxTurnWait)
	}
	d.config.Metrics.started()
	if a.canDecrypt {
		a.out = d.config.Sender.Send(ctx, a.request)
	} else {
		a.out.StartedAt = d.config.Queue.Now()
		a.out.fail(KindInternal, "The request could not be made, as the webhook's secret or headers can't be decrypted; tell the operator of this service.")
	}
	d.config.Metrics.ended(&a.item, &a.out, d.config.Queue.Now())
	a.log()
}

// onSent notes that the attempt has ended, even if nothing was sent. The queue runs it.
func (a *attempt) onSent() {
	q := a.q
	q.d.limiter.release(q.slots)
	q.buffer.markSent(&a.item)
	if !a.out.Kind.saysNothingOfReceiver() {
		q.buffer.adapt(a.out.Duration, q.d.limiter.reserve(), q.d.config.Limits.PerEndpoint)
	}
}

// onRecorded notes what became of the delivery. The queue runs it.
func (a *attempt) onRecorded() {
	q := a.q
	q.buffer.markRecorded(&a.item)
	isPending := a.recorded.State == domain.DeliveryPending
	if isPending {
		q.dueAt(a.recorded.DueAt)
	}
	if a.recorded.isDisabled || isPending && q.buffer.strict {
		q.buffer.dropAndFetch(time.Now())
	}
}

// record records the result of the attempt, unless it was aborted.
func (a *attempt) record() {
	if a.out.Kind != KindAborted {
		d := a.q.d
		result, results := d.resultOf(a.q.key, &a.item, a.request.URL, &a.out), d.results
		if a.isStrict {
			results = d.strictResults
		}
		a.recorded = d.record(results, &result)
	}
	a.q.reports <- a.onRecorded
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
