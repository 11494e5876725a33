package cabinet

import (
	"strconv"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) endpointActionPages(private register) {
	base := view.PathWebhooks + "/{id}/"
	private("POST "+base+"secret", withEndpoint(revealSecret))
	private("POST "+base+"test", withEndpoint(testEndpoint))
	private("GET "+base+"rotate", withEndpoint(func(p *page, e domain.Endpoint) error {
		return p.showConfirm(view.EndpointRotate(p.clock(), endpointView(e, domain.EndpointHealth{}), e.Rotating(p.Now())))
	}))
	private("POST "+base+"rotate", withEndpoint(rotateSecret))
	private("GET "+base+"disable", withEndpoint(func(p *page, e domain.Endpoint) error {
		return p.showConfirm(view.EndpointDisable(endpointView(e, domain.EndpointHealth{})))
	}))
	private("POST "+base+"disable", withEndpoint(disableEndpoint))
	private("GET "+base+"enable", withEndpoint(confirmEnable))
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

// secretAnchor is the part of a webhook's page that shows its secret.
const secretAnchor = "#secret"

func onceSecret(id int64) string { return "secret " + strconv.FormatInt(id, 10) }
func onceTest(id int64) string   { return "test " + strconv.FormatInt(id, 10) }
func onceEnable(id int64) string { return "enable " + strconv.FormatInt(id, 10) }

func revealSecret(p *page, e domain.Endpoint) error {
	secret, err := p.Webhooks.RevealSecret(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	return p.redirectOnce(onceSecret(e.ID), secret, view.PathWebhook(e.ID)+secretAnchor)
}

func testEndpoint(p *page, e domain.Endpoint) error {
	attempt, err := p.Webhooks.Test(p.r.Context(), p.caller(), e.ID, domain.EventKind(p.field("event")))
	if errs, ok := formErrors(err); ok {
		return p.redirectProblem(firstError(errs), view.PathWebhook(e.ID))
	}
	if err != nil {
		return err
	}
	return p.redirectOnce(onceTest(e.ID), testOutcome(attempt), view.PathWebhook(e.ID))
}

// testOutcome describes the result of a test event.
func testOutcome(t domain.Attempt) view.TestOutcome {
	return view.TestOutcome{
		OK: t.ErrorKind == "", StatusCode: t.StatusCode, Took: t.Duration, Error: t.Error, Response: string(t.ResponseBody),
		Cut: len(t.ResponseBody) >= domain.MaxResponseLog,
	}
}

func rotateSecret(p *page, e domain.Endpoint) error {
	_, secret, err := p.Webhooks.Rotate(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	return p.redirectOnce(onceSecret(e.ID), secret, view.PathWebhook(e.ID)+secretAnchor)
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
		return p.redirectOnce(onceEnable(e.ID), firstError(errs), view.PathWebhook(e.ID, "enable"))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("Webhook enabled. You can now redeliver the events that were held.", view.PathWebhook(e.ID))
}

func confirmEnable(p *page, e domain.Endpoint) error {
	refused := ""
	p.takeOnce(onceEnable(e.ID), &refused)
	return p.showConfirm(view.EndpointEnable(endpointView(e, domain.EndpointHealth{}), refused))
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
