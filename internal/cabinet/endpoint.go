package cabinet

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/snippets"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) webhookPages(private register) {
	private("GET "+view.PathWebhooks, showEndpoints)
	private("GET "+view.PathWebhooksExport, exportEndpoints)
	private("GET "+view.PathWebhookNew, endpointForm)
	private("POST "+view.PathWebhookNew, addEndpoint)
	private("GET "+view.PathWebhookEvents, eventCatalogue)
	private("POST "+view.PathWebhookCheck, checkURL)
	private("GET "+view.PathWebhooks+"/{id}", showEndpoint)
	private("GET "+view.PathWebhooks+"/{id}/edit", editForm)
	private("POST "+view.PathWebhooks+"/{id}/edit", editEndpoint)
	c.endpointActionPages(private)
}

func showEndpoints(p *page) error {
	search := domain.CleanSearch(p.query("q"))
	list, err := p.Webhooks.Overviews(p.r.Context(), p.caller(), search)
	if err != nil {
		return err
	}
	v := view.EndpointList{Search: search}
	for _, e := range list {
		v.Endpoints = append(v.Endpoints, endpointView(e.Endpoint, e.Health))
	}
	return p.renderOK(view.WebhooksPage(p.shell(), v))
}

// eventChoices returns the event kinds, each with a sample.
func (p *page) eventChoices(chosen []domain.EventKind) ([]view.EventChoice, error) {
	out := make([]view.EventChoice, len(domain.EventKinds))
	for i, k := range domain.EventKinds {
		body, err := p.Webhooks.SampleBody(p.caller(), k)
		if err != nil {
			return nil, err
		}
		out[i] = view.EventChoice{Kind: string(k), Sample: pretty(body), Checked: slices.Contains(chosen, k)}
	}
	return out, nil
}

// eventCatalogue lists the event kinds, each with a sample and the latest real delivery.
func eventCatalogue(p *page) error {
	ctx, caller := p.r.Context(), p.caller()
	endpoints, err := p.Webhooks.List(ctx, caller)
	if err != nil {
		return err
	}
	out := make([]view.EventKind, len(domain.EventKinds))
	for i, k := range domain.EventKinds {
		body, err := p.Webhooks.SampleBody(caller, k)
		if err != nil {
			return err
		}
		out[i] = view.EventKind{Name: string(k), Sample: pretty(body)}
		for _, e := range endpoints {
			if e.Wants(k) {
				out[i].Webhooks++
			}
		}
		latest, err := p.Webhooks.Deliveries(ctx, caller, domain.DeliveryFilter{Kind: k}, nil, 1)
		if err != nil {
			return err
		}
		if len(latest.Items) > 0 {
			d := deliveryView(latest.Items[0])
			out[i].Latest = &d
		}
	}
	return p.renderOK(view.EventsPage(p.shell(), out))
}

func pretty(body []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, body, "", "  ") != nil {
		return string(body)
	}
	return out.String()
}

func endpointForm(p *page) error {
	kinds, err := p.eventChoices(domain.EventKinds)
	if err != nil {
		return err
	}
	return p.renderOK(view.WebhookFormPage(p.shell(), view.EndpointForm{Kinds: kinds, HTTPAllowed: p.AllowHTTP}))
}

// endpointInput reads the form of a webhook.
func (p *page) endpointInput() (domain.EndpointInput, error) {
	in := domain.EndpointInput{
		URL: p.field("url"), Description: p.field("description"), StrictOrder: p.field("strictOrder") != "",
	}
	for _, k := range p.fields("event") {
		in.Events = append(in.Events, domain.EventKind(k))
	}
	if rate := strings.TrimSpace(p.field("rate")); rate != "" {
		var err error
		if in.RatePerMinute, err = strconv.ParseInt(rate, 10, 64); err != nil || in.RatePerMinute == 0 {
			in.RatePerMinute = -1 // the check refuses it
		}
	}
	headers, err := domain.ParseHeaders(p.field("headers"))
	var checks domain.Checks
	checks.Add("headers", err)
	in.Headers = headers
	return in, checks.Err()
}

// renderEndpointForm shows the form with its errors. It returns any error that is
// not about the form.
func (p *page) renderEndpointForm(id int64, in domain.EndpointInput, err error) error {
	errs, ok := formErrors(err)
	if !ok {
		return err
	}
	kinds, err := p.eventChoices(in.Events)
	if err != nil {
		return err
	}
	return p.renderInvalid(view.WebhookFormPage(p.shell(), view.EndpointForm{
		ID: id, URL: in.URL, Description: in.Description, StrictOrder: in.StrictOrder, Kinds: kinds, HTTPAllowed: p.AllowHTTP,
		Rate: p.field("rate"), Headers: p.field("headers"), Errors: errs,
	}))
}

func addEndpoint(p *page) error {
	in, err := p.endpointInput()
	var e domain.Endpoint
	if err == nil {
		e, _, err = p.Webhooks.Add(p.r.Context(), p.caller(), in)
	}
	if err != nil {
		return p.renderEndpointForm(0, in, err)
	}
	return p.redirectDone("Webhook added. Send a test event to check that it arrives.", view.PathWebhook(e.ID))
}

// checkURL answers with the message that is shown under the URL field.
func checkURL(p *page) error {
	v := view.URLCheck{OK: true, Message: "Events can be sent there."}
	if err := p.Webhooks.CheckURL(p.r.Context(), p.caller(), p.field("url")); err != nil {
		v = view.URLCheck{Message: sentence(err.Error())}
	}
	return p.renderOK(view.URLCheckResult(v))
}

func (p *page) endpointFromPath() (domain.Endpoint, error) {
	id, err := p.id()
	if err != nil {
		return domain.Endpoint{}, err
	}
	return p.Webhooks.Get(p.r.Context(), p.caller(), id)
}

const recentDeliveries = 10

// endpointDetail collects what the page of a webhook shows.
func (p *page) endpointDetail(e domain.Endpoint) (view.EndpointDetail, error) {
	ctx, caller := p.r.Context(), p.caller()
	health, err := p.Webhooks.Health(ctx, caller, e.ID)
	if err != nil {
		return view.EndpointDetail{}, err
	}
	recent, err := p.Webhooks.Deliveries(ctx, caller, domain.DeliveryFilter{EndpointID: e.ID}, nil, recentDeliveries)
	if err != nil {
		return view.EndpointDetail{}, err
	}
	v := view.EndpointDetail{Endpoint: endpointViews([]domain.Endpoint{e}, health)[0], PreviousUntil: e.PreviousUntil}
	if !e.Rotating(p.Now()) {
		v.PreviousUntil = nil
	}
	if len(v.Hours) > 0 {
		v.Chart = &view.Chart{Title: "Deliveries in the last 24 hours", Buckets: v.Hours}
	}
	if v.Held, err = p.heldEvents(e); err != nil {
		return v, err
	}
	headers, readable := p.Webhooks.Headers(e)
	v.HeadersLost = !readable
	for _, h := range headers {
		v.Headers = append(v.Headers, h.Name)
	}
	v.Rate, v.StrictOrder = e.RatePerMinute, e.StrictOrder
	since := p.Now().Add(-24 * time.Hour)
	if e.FailingSince != nil {
		since = *e.FailingSince
	}
	v.Since = p.clock().InputSeconds(&since)
	for _, d := range recent.Items {
		v.Recent = append(v.Recent, deliveryView(d))
	}
	for _, s := range snippets.All {
		v.Snippets = append(v.Snippets, view.Snippet{ID: s.ID, Label: s.Label, Code: s.Code()})
	}
	return v, nil
}

// heldEvents counts the events that were held for a webhook and can be redelivered
// now or once it is enabled.
func (p *page) heldEvents(e domain.Endpoint) (int64, error) {
	if !e.Enabled() {
		return p.Webhooks.Waiting(p.r.Context(), p.caller(), e.ID)
	}
	return p.Webhooks.CountRedeliver(p.r.Context(), p.caller(), domain.RedeliveryFilter{
		EndpointID: e.ID, States: []domain.DeliveryState{domain.DeliveryHeld},
	})
}

func showEndpoint(p *page) error {
	e, err := p.endpointFromPath()
	if err != nil {
		return err
	}
	v, err := p.endpointDetail(e)
	if err != nil {
		return err
	}
	p.takeFlashValue(flashSecret(e.ID), &v.Secret)
	var outcome view.TestOutcome
	if p.takeFlashValue(flashTest(e.ID), &outcome) {
		v.Outcome = &outcome
	}
	return p.renderOK(view.WebhookPage(p.shell(), v))
}

func editForm(p *page) error {
	e, err := p.endpointFromPath()
	if err != nil {
		return err
	}
	kinds, err := p.eventChoices(e.Events)
	if err != nil {
		return err
	}
	headers, readable := p.Webhooks.Headers(e)
	form := view.EndpointForm{
		ID: e.ID, URL: e.URL, Description: e.Description, StrictOrder: e.StrictOrder, Kinds: kinds, HTTPAllowed: p.AllowHTTP,
		Headers: domain.FormatHeaders(headers),
	}
	if !readable {
		form.Errors = view.Errors{"headers": "The headers could not be decrypted. Enter them again."}
	}
	if e.RatePerMinute > 0 {
		form.Rate = strconv.FormatInt(e.RatePerMinute, 10)
	}
	return p.renderOK(view.WebhookFormPage(p.shell(), form))
}

func editEndpoint(p *page) error {
	e, err := p.endpointFromPath()
	if err != nil {
		return err
	}
	in, err := p.endpointInput()
	if err == nil {
		_, err = p.Webhooks.Update(p.r.Context(), p.caller(), e.ID, in)
	}
	if err != nil {
		return p.renderEndpointForm(e.ID, in, err)
	}
	return p.redirectDone("Webhook saved.", view.PathWebhook(e.ID))
}
