package cabinet

import (
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) redeliveryPages(private register) {
	private("GET "+view.PathRedeliver, redeliverForm)
	private("POST "+view.PathRedeliver, redeliverRange)
	private("GET "+view.PathRedeliver+"/{id}", showRedelivery)
}

// What the form's field state may be besides a domain.DeliveryState.
const (
	redeliverAll         = "all"  // every state that can be sent again
	redeliverUndelivered = "both" // failed and held
)

// redeliverFilter reads what to send again, from the address or from the posted
// form. The end of an open period is now, so that the preview and what follows it
// mean the same deliveries.
func (p *page) redeliverFilter(read fieldReader) (view.RedeliverForm, domain.RedeliveryFilter) {
	form := view.RedeliverForm{Endpoint: read("endpoint"), Event: read("event"), State: read("state"), Errors: view.Errors{}}
	f := domain.RedeliveryFilter{Kind: domain.EventKind(form.Event)}
	undelivered := []domain.DeliveryState{domain.DeliveryFailed, domain.DeliveryHeld}
	f.EndpointID, _ = strconv.ParseInt(form.Endpoint, 10, 64) // anything else is no endpoint's id
	switch state := domain.DeliveryState(form.State); state {
	case domain.DeliveryFailed, domain.DeliveryHeld:
		f.States = []domain.DeliveryState{state}
	case redeliverAll:
		f.States = []domain.DeliveryState{domain.DeliveryFailed, domain.DeliveryHeld, domain.DeliveryDelivered}
	case "", redeliverUndelivered:
		form.State, f.States = redeliverUndelivered, undelivered
	default:
		form.State, f.States = redeliverUndelivered, undelivered
		form.Notes = append(form.Notes, "Deliveries that are still being tried are not sent again.")
	}
	if search := read("q"); search != "" {
		form.Notes = append(form.Notes, "The search for “"+search+"” is not used here. Open the delivery itself to send it alone.")
	}
	period := p.readPeriod(read, form.Errors)
	form.Period, f.From, f.To = period.shown, period.from, period.to
	if f.To == nil {
		end := p.Now().Truncate(time.Second).Add(time.Second)
		f.To = &end
	}
	clock := p.clock()
	form.From, form.To = clock.InputSeconds(f.From), clock.InputSeconds(f.To)
	return form, f
}

func redeliverForm(p *page) error {
	form, f := p.redeliverFilter(p.query)
	if p.query("count") == "" || len(form.Errors) > 0 {
		return p.renderRedeliverForm(form, p.renderOK)
	}
	n, err := p.Webhooks.CountRedeliver(p.r.Context(), p.caller(), f)
	if errs, ok := formErrors(err); ok {
		form.Errors = errs
	} else if err != nil {
		return err
	} else {
		form.Count = &n
	}
	return p.renderRedeliverForm(form, p.renderOK)
}

// renderRedeliverForm answers with the form.
func (p *page) renderRedeliverForm(form view.RedeliverForm, answer func(templ.Component) error) error {
	options, err := p.endpointOptions()
	if err != nil {
		return err
	}
	form.Endpoints = options
	return answer(view.RedeliverPage(p.shell(), form))
}

func redeliverRange(p *page) error {
	form, f := p.redeliverFilter(p.field)
	if len(form.Errors) > 0 {
		return p.renderRedeliverForm(form, p.renderInvalid)
	}
	job, err := p.Webhooks.RedeliverRange(p.r.Context(), p.caller(), f)
	if errs, ok := formErrors(err); ok {
		form.Errors = errs
		return p.renderRedeliverForm(form, p.renderInvalid)
	}
	if err != nil {
		return err
	}
	return p.redirect(view.PathRedelivery(job.ID))
}

func showRedelivery(p *page) error {
	id, err := p.id()
	if err != nil {
		return err
	}
	job, err := p.Webhooks.RedeliveryJob(p.r.Context(), p.caller(), id)
	if err != nil {
		return err
	}
	v, err := p.redeliveryView(job)
	if err != nil {
		return err
	}
	return p.renderOK(view.RedeliveryPage(p.shell(), v))
}

func (p *page) redeliveryView(job domain.Redelivery) (view.Redelivery, error) {
	f := job.Filter
	v := view.Redelivery{
		ID: job.ID, Total: job.Total, Done: job.Done, RequestedBy: job.RequestedBy, StartedAt: job.CreatedAt, FinishedAt: job.FinishedAt, Problem: job.Problem,
		Event: string(f.Kind), From: f.From, To: *f.To,
	}
	if f.From.UnixMilli() == 0 { // what RedeliveryFilter.Normalize sets if there is none
		v.From = nil
	}
	for _, s := range f.States {
		v.States = append(v.States, string(s))
	}
	if f.EndpointID == 0 {
		return v, nil
	}
	v.Endpoint = strconv.FormatInt(f.EndpointID, 10)
	e, err := p.Webhooks.Get(p.r.Context(), p.caller(), f.EndpointID)
	if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
		return v, err
	}
	v.EndpointURL = e.URL
	return v, nil
}
