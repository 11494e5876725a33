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
		return p.showConfirm(view.EndpointRotate(p.clock(), endpointWithoutHealth(e), e.Rotating(p.Now())))
	}))
	private("POST "+base+"rotate", withEndpoint(rotateSecret))
	private("GET "+base+"disable", withEndpoint(func(p *page, e domain.Endpoint) error {
		return p.showConfirm(view.EndpointDisable(endpointWithoutHealth(e)))
	}))
	private("POST "+base+"disable", withEndpoint(disableEndpoint))
	private("GET "+base+"enable", withEndpoint(confirmEnable))
	private("POST "+base+"enable", withEndpoint(enableEndpoint))
	private("GET "+base+"remove", withEndpoint(confirmRemoveEndpoint))
	private("POST "+base+"remove", withEndpoint(removeEndpoint))
}

// withEndpoint returns a handler that looks up the webhook in the path and passes it
// to handle.
func withEndpoint(handle func(p *page, e domain.Endpoint) error) handler {
	return func(p *page) error {
		e, err := p.endpointFromPath()
		if err != nil {
			return err
		}
		return handle(p, e)
	}
}

// endpointWithoutHealth returns a webhook for the confirmation pages, which do not
// show how well its deliveries go.
func endpointWithoutHealth(e domain.Endpoint) view.Endpoint {
	return endpointView(e, domain.EndpointHealth{})
}

func (p *page) showConfirm(v view.Confirm) error { return p.renderOK(view.ConfirmPage(p.shell(), v)) }

// secretAnchor is the fragment that scrolls a webhook's page to its secret.
const secretAnchor = "#secret"

// flashSecret, flashTest and flashEnable return the names under which redirectWithValue
// passes a webhook's secret, the outcome of a test event, or the reason why the
// webhook was not enabled to the next page.
func flashSecret(id int64) string { return "secret " + strconv.FormatInt(id, 10) }
func flashTest(id int64) string   { return "test " + strconv.FormatInt(id, 10) }
func flashEnable(id int64) string { return "enable " + strconv.FormatInt(id, 10) }

func revealSecret(p *page, e domain.Endpoint) error {
	secret, err := p.Webhooks.RevealSecret(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	return p.redirectWithValue(flashSecret(e.ID), secret, view.PathWebhook(e.ID)+secretAnchor)
}

func testEndpoint(p *page, e domain.Endpoint) error {
	attempt, err := p.Webhooks.Test(p.r.Context(), p.caller(), e.ID, domain.EventKind(p.field("event")))
	if errs, ok := formErrors(err); ok {
		return p.redirectProblem(firstError(errs), view.PathWebhook(e.ID))
	}
	if err != nil {
		return err
	}
	return p.redirectWithValue(flashTest(e.ID), testOutcome(attempt), view.PathWebhook(e.ID))
}

// testOutcome describes the result of a test event.
func testOutcome(attempt domain.Attempt) view.TestOutcome {
	return view.TestOutcome{
		OK: attempt.ErrorKind == "", StatusCode: attempt.StatusCode, Took: attempt.Duration, Error: attempt.Error,
		DeliveryID: attempt.DeliveryID, Response: string(attempt.ResponseBody), Truncated: len(attempt.ResponseBody) >= domain.MaxResponseLog,
	}
}

func rotateSecret(p *page, e domain.Endpoint) error {
	_, secret, err := p.Webhooks.Rotate(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	return p.redirectWithValue(flashSecret(e.ID), secret, view.PathWebhook(e.ID)+secretAnchor)
}

func disableEndpoint(p *page, e domain.Endpoint) error {
	if _, err := p.Webhooks.Disable(p.r.Context(), p.caller(), e.ID); err != nil {
		return err
	}
	return p.redirectDone("Webhook disabled. Its events will be held.", view.PathWebhook(e.ID))
}

// enableEndpoint sends a test event and enables the webhook if that is accepted. If
// not, it asks again, and the second form (with "force") enables without a test.
func enableEndpoint(p *page, e domain.Endpoint) error {
	_, _, err := p.Webhooks.Enable(p.r.Context(), p.caller(), e.ID, p.checked("force"))
	if errs, ok := formErrors(err); ok {
		return p.redirectWithValue(flashEnable(e.ID), firstError(errs), view.PathWebhook(e.ID, "enable"))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("Webhook enabled. You can now redeliver the events that were held.", view.PathWebhook(e.ID))
}

func confirmEnable(p *page, e domain.Endpoint) error {
	var reason string // why the webhook was not enabled just now, empty at the first visit
	p.takeFlashValue(flashEnable(e.ID), &reason)
	return p.showConfirm(view.EndpointEnable(endpointWithoutHealth(e), reason))
}

func confirmRemoveEndpoint(p *page, e domain.Endpoint) error {
	waiting, err := p.Webhooks.Waiting(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	v := endpointWithoutHealth(e)
	v.Day.Held = waiting // the page shows the sum of retrying and held deliveries
	return p.showConfirm(view.EndpointRemove(v))
}

func removeEndpoint(p *page, e domain.Endpoint) error {
	if err := p.Webhooks.Remove(p.r.Context(), p.caller(), e.ID); err != nil {
		return err
	}
	return p.redirectDone("Webhook removed.", view.PathWebhooks)
}
