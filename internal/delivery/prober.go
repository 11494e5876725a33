package delivery

import (
	"context"
	"errors"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Prober answers for targets while a person waits: whether a URL may be saved,
// and what a test event comes to.
type Prober struct {
	sender *Sender
}

// NewProber makes a prober that follows the sender's rules.
func NewProber(sender *Sender) *Prober { return &Prober{sender: sender} }

// CheckTarget says why webhooks can't go to a URL, in a sentence for the person
// who entered it. A name that does not resolve yet may be saved.
func (p *Prober) CheckTarget(ctx context.Context, url string) error {
	err := p.sender.config.Guard.CheckURL(ctx, url)
	if refused, ok := errors.AsType[*TargetError](err); ok && refused.Kind == TargetDNS {
		return nil
	}
	return err
}

// NewSecret makes a signing secret.
func (p *Prober) NewSecret() string { return NewSecret() }

// Probe sends one test event and tells what came of it.
func (p *Prober) Probe(ctx context.Context, e domain.Endpoint, secret, previous string, event domain.Event, id string) domain.Attempt {
	out := p.sender.SendTest(ctx, Request{
		URL: e.URL, DeliveryID: id, Event: string(event.Kind), Attempt: 1, Body: event.Body,
		Secret: secret, PreviousSecret: previous,
	})
	a := attemptOf(&out, e.URL)
	a.CompanyID, a.DeliveryID, a.Number = e.CompanyID, id, 1
	return a
}
