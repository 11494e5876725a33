package cabinet

import (
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) endpointActionPages(private register) {
	base := view.PathWebhooks + "/{id}/"
	private("POST "+base+"secret", withEndpoint(revealSecret))
	private("POST "+base+"test", withEndpoint(testEndpoint))
	private("GET "+base+"rotate", withEndpoint(func(p *page, e domain.Endpoint) error {
		return p.showConfirm(view.EndpointRotate(p.clock(), endpointView(e, domain.EndpointHealth{}), domain.SecretOverlap))
	}))
	private("POST "+base+"rotate", withEndpoint(rotateSecret))
	private("GET "+base+"disable", withEndpoint(func(p *page, e domain.Endpoint) error {
		return p.showConfirm(view.EndpointDisable(endpointView(e, domain.EndpointHealth{})))
	}))
	private("POST "+base+"disable", withEndpoint(disableEndpoint))
	private("GET "+base+"enable", withEndpoint(func(p *page, e domain.Endpoint) error {
		return p.showConfirm(view.EndpointEnable(endpointView(e, domain.EndpointHealth{}), ""))
	}))
	private("POST "+base+"enable", withEndpoint(enableEndpoint))
	private("GET "+base+"remove", withEndpoint(confirmRemoveEndpoint))
	private("POST "+base+"remove", withEndpoint(removeEndpoint))
}

// withEndpoint looks up the webhook in the path and passes it to act.
func withEndpoint(act func(p *page, e domain.Endpoint) error) handler {
	return func(p *page) error {
		e, err := p.endpointFromPath()
		if err != nil {
			return err
		}
		return act(p, e)
	}
}

func (p *page) showConfirm(v view.Confirm) error { return p.renderOK(view.ConfirmPage(p.shell(), v)) }

func revealSecret(p *page, e domain.Endpoint) error {
	secret, err := p.Webhooks.RevealSecret(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	return p.showEndpoint(e, func(v *view.EndpointDetail) { v.Secret = secret })
}

func testEndpoint(p *page, e domain.Endpoint) error {
	attempt, err := p.Webhooks.Test(p.r.Context(), p.caller(), e.ID, domain.EventKind(p.field("event")))
	if errs, ok := formErrors(err); ok {
		return p.redirectProblem(firstError(errs), view.PathWebhook(e.ID))
	}
	if err != nil {
		return err
	}
	return p.showEndpoint(e, func(v *view.EndpointDetail) { v.Outcome = testOutcome(attempt) })
}

// outcome tells what came of a test event. It has no page of its own: the log is
// of what happened.
func testOutcome(t domain.Attempt) *view.TestOutcome {
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
	return p.redirectDone("Webhook disabled. Its events will be held.", view.PathWebhook(e.ID))
}

// enableEndpoint sends a test event first. If that fails, it asks whether to
// enable the webhook anyway.
func enableEndpoint(p *page, e domain.Endpoint) error {
	_, _, err := p.Webhooks.Enable(p.r.Context(), p.caller(), e.ID, p.checked("force"))
	if errs, ok := formErrors(err); ok {
		return p.renderInvalid(view.ConfirmPage(p.shell(), view.EndpointEnable(endpointView(e, domain.EndpointHealth{}), firstError(errs))))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("Webhook enabled. You can now redeliver the events that were held.", view.PathWebhook(e.ID))
}

func confirmRemoveEndpoint(p *page, e domain.Endpoint) error {
	waiting, err := p.Webhooks.Waiting(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	v := endpointView(e, domain.EndpointHealth{})
	v.Day.Held = waiting
	return p.showConfirm(view.EndpointRemove(v))
}

func removeEndpoint(p *page, e domain.Endpoint) error {
	if err := p.Webhooks.Remove(p.r.Context(), p.caller(), e.ID); err != nil {
		return err
	}
	return p.redirectDone("Webhook removed.", view.PathWebhooks)
}
