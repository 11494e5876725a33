package service

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Test sends a test event of the kind, the first one the endpoint subscribed to
// if it is empty, and returns the outcome. Codes: not_found, invalid_request.
func (w *Webhooks) Test(ctx context.Context, c domain.Caller, id int64, kind domain.EventKind) (domain.Attempt, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Attempt{}, err
	}
	e, err := w.store.Endpoint(ctx, c.Company.ID, id)
	if err != nil {
		return domain.Attempt{}, err
	}
	if kind == "" {
		kind = e.Events[0]
	}
	var checks domain.Checks
	checks.Add("event", domain.CheckEventKind(kind))
	if err := checks.Err(); err != nil {
		return domain.Attempt{}, err
	}
	return w.probe(ctx, c, e, kind)
}

// probe sends a test event. It does not wait in the queue; the delivery log holds it,
// marked as a test, and the audit log its outcome.
func (w *Webhooks) probe(ctx context.Context, c domain.Caller, e domain.Endpoint, kind domain.EventKind) (domain.Attempt, error) {
	release, err := w.probes.acquire(c.Company.ID)
	if err != nil {
		return domain.Attempt{}, err
	}
	defer release()
	secret, err := w.open(e, e.Secret)
	if err != nil {
		return domain.Attempt{}, err
	}
	now, previous := w.store.Now(), ""
	if e.Rotating(now) {
		if previous, err = w.open(e, e.Previous); err != nil {
			return domain.Attempt{}, err
		}
	}
	headers, err := w.openHeaders(e)
	if err != nil {
		return domain.Attempt{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return domain.Attempt{}, fmt.Errorf("make a delivery id: %w", err)
	}
	test := domain.TestEvent{
		Endpoint: e, Secret: secret, PreviousSecret: previous, Headers: headers, Event: domain.SampleEvent(kind, c.Company.ID, now), ID: id.String(),
	}
	attempt := w.targets.SendTest(ctx, test)
	attempt.RequestedBy = c.Actor.Label
	if ctx.Err() != nil {
		return attempt, ctx.Err()
	}
	return attempt, w.store.RecordTest(ctx, c, test, attempt, outcome(kind, attempt))
}

// outcome describes in a sentence what came of a test event.
func outcome(kind domain.EventKind, a domain.Attempt) string {
	words := fmt.Sprintf("%s was accepted", kind)
	if a.ErrorKind != "" {
		words = fmt.Sprintf("%s was not accepted", kind)
	}
	if a.StatusCode == 0 {
		return fmt.Sprintf("%s: %s.", words, a.ErrorKind)
	}
	return fmt.Sprintf("%s: status %d after %d ms.", words, a.StatusCode, max(1, a.Duration.Round(time.Millisecond).Milliseconds()))
}

// SampleBody is what a receiver gets for an event of the kind. Codes: invalid_request.
func (w *Webhooks) SampleBody(c domain.Caller, kind domain.EventKind) ([]byte, error) {
	var checks domain.Checks
	checks.Add("event", domain.CheckEventKind(kind))
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return domain.SampleEvent(kind, c.Company.ID, w.store.Now()).Body, nil
}
