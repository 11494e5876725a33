package cabinet

import (
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) endpointActs(inside register) {
	base := view.PathWebhooks + "/{id}/"
	inside("POST "+base+"secret", onEndpoint(revealSecret))
	inside("POST "+base+"test", onEndpoint(testEndpoint))
	inside("GET "+base+"rotate", onEndpoint(func(p *page, e domain.Endpoint) error {
		return p.confirm(view.EndpointRotate(p.clock(), endpointView(e, domain.EndpointHealth{}), domain.SecretOverlap))
	}))
	inside("POST "+base+"rotate", onEndpoint(rotateSecret))
	inside("GET "+base+"disable", onEndpoint(func(p *page, e domain.Endpoint) error {
		return p.confirm(view.EndpointDisable(endpointView(e, domain.EndpointHealth{})))
	}))
	inside("POST "+base+"disable", onEndpoint(disableEndpoint))
	inside("GET "+base+"enable", onEndpoint(func(p *page, e domain.Endpoint) error {
		return p.confirm(view.EndpointEnable(endpointView(e, domain.EndpointHealth{}), ""))
	}))
	inside("POST "+base+"enable", onEndpoint(enableEndpoint))
	inside("GET "+base+"remove", onEndpoint(confirmRemoveEndpoint))
	inside("POST "+base+"remove", onEndpoint(removeEndpoint))
}

// onEndpoint finds the webhook in the path first.
func onEndpoint(act func(p *page, e domain.Endpoint) error) handler {
	return func(p *page) error {
		e, err := p.endpointInPath()
		if err != nil {
			return err
		}
		return act(p, e)
	}
}

func (p *page) confirm(v view.Confirm) error { return p.show(view.ConfirmPage(p.shell(), v)) }

func revealSecret(p *page, e domain.Endpoint) error {
	secret, err := p.Webhooks.RevealSecret(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	return p.showEndpoint(e, func(v *view.EndpointDetail) { v.Secret = secret })
}

func testEndpoint(p *page, e domain.Endpoint) error {
	attempt, err := p.Webhooks.Test(p.r.Context(), p.caller(), e.ID, domain.EventKind(p.field("event")))
	if errs, ok := invalid(err); ok {
		return p.refused(firstOf(errs), view.PathWebhook(e.ID))
	}
	if err != nil {
		return err
	}
	return p.showEndpoint(e, func(v *view.EndpointDetail) { v.Outcome = outcome(attempt) })
}

// outcome tells what came of a test event. It has no page of its own: the log is
// of what happened.
func outcome(t domain.Attempt) *view.TestOutcome {
	return &view.TestOutcome{
		OK: t.ErrorKind == "", StatusCode: t.StatusCode, Took: t.Duration, Error: t.Error, Response: string(t.ResponseBody),
		Cut: len(t.ResponseBody) >= domain.MaxResponseLog,
	}
}

func rotateSecret(p *page, e domain.Endpoint) error {
	changed, secret, err := p.Webhooks.Rotate(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	return p.showEndpoint(changed, func(v *view.EndpointDetail) { v.Secret = secret })
}

func disableEndpoint(p *page, e domain.Endpoint) error {
	if _, err := p.Webhooks.Disable(p.r.Context(), p.caller(), e.ID); err != nil {
		return err
	}
	return p.done("The webhook is disabled. Its events are held.", view.PathWebhook(e.ID))
}

// enableEndpoint sends a test event first. When that fails, it asks whether to
// enable the webhook all the same.
func enableEndpoint(p *page, e domain.Endpoint) error {
	_, _, err := p.Webhooks.Enable(p.r.Context(), p.caller(), e.ID, p.checked("force"))
	if errs, ok := invalid(err); ok {
		return p.again(view.ConfirmPage(p.shell(), view.EndpointEnable(endpointView(e, domain.EndpointHealth{}), firstOf(errs))))
	}
	if err != nil {
		return err
	}
	return p.done("The webhook is enabled. Events that were held can be redelivered.", view.PathWebhook(e.ID))
}

func confirmRemoveEndpoint(p *page, e domain.Endpoint) error {
	waiting, err := p.Webhooks.Waiting(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	v := endpointView(e, domain.EndpointHealth{})
	v.Day.Held = waiting
	return p.confirm(view.EndpointRemove(v))
}

func removeEndpoint(p *page, e domain.Endpoint) error {
	if err := p.Webhooks.Remove(p.r.Context(), p.caller(), e.ID); err != nil {
		return err
	}
	return p.done("The webhook is removed.", view.PathWebhooks)
}
