package delivery

import (
	"context"
	"errors"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// CheckTarget returns why webhooks can't go to a URL, in a sentence for the person
// who entered it. A name that does not resolve yet may be saved.
func (s *Sender) CheckTarget(ctx context.Context, url string) error {
	err := s.config.Guard.CheckURL(ctx, url)
	if refused, ok := errors.AsType[*TargetError](err); ok && refused.Kind == TargetDNS {
		return nil
	}
	return err
}

// NewSecret makes a signing secret.
func (s *Sender) NewSecret() string { return NewSecret() }

// SendTest sends one test event to an endpoint and returns what the log keeps of it.
func (s *Sender) SendTest(ctx context.Context, t domain.TestEvent) domain.Attempt {
	secret, _ := ParseSecret(t.Secret) // without one, the outcome is KindInternal
	out := s.Send(ctx, Request{
		URL: t.Endpoint.URL, DeliveryID: t.ID, Event: string(t.Event.Kind), Attempt: 1, Body: t.Event.Body,
		Secret: secret, RetiredSecrets: retiredSecrets(t.Endpoint, t.PreviousSecret, s.config.Now()), Headers: t.Headers,
	})
	a := out.attempt(t.Endpoint.URL)
	a.CompanyID, a.DeliveryID, a.Number = t.Endpoint.CompanyID, t.ID, 1
	return a
}
