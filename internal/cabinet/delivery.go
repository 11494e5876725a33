package cabinet

import (
	"strconv"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

const deliveryRows = 50

func (c *Cabinet) deliveryPages(private register) {
	private("GET "+view.PathDeliveries, deliveries)
	private("GET "+view.PathDeliveriesExport, exportDeliveries)
	private("GET "+view.PathDeliveries+"/{id}", delivery)
	private("POST "+view.PathDeliveries+"/{id}/redeliver", redeliver)
	c.redeliveryPages(private)
}

func deliveryView(d domain.Delivery) view.Delivery {
	v := view.Delivery{
		ID: d.ID, Sequence: d.Sequence, State: view.DeliveryState(d.State), Event: string(d.Kind), ExternalID: d.ExternalID, EndpointID: d.EndpointID,
		EndpointURL: d.EndpointURL, Attempts: d.Attempts, CreatedAt: d.CreatedAt, Test: d.Test,
	}
	if d.Retrying() {
		v.State = view.DeliveryRetrying
	}
	if d.State == domain.DeliveryPending {
		v.NextAttempt = &d.DueAt
	}
	return v
}

func (p *page) endpointOptions() ([]view.Option, error) {
	list, err := p.Webhooks.List(p.r.Context(), p.caller())
	out := make([]view.Option, len(list))
	for i, e := range list {
		out[i] = view.Option{Value: strconv.FormatInt(e.ID, 10), Label: e.URL}
	}
	return out, err
}

// deliveryFilter reads the filter from the address. It returns the filter as
// shown in the form and as the log takes it.
func (p *page) deliveryFilter() (view.DeliveryFilter, domain.DeliveryFilter) {
	shown := view.DeliveryFilter{
		Endpoint: p.query("endpoint"), Event: p.query("event"), State: p.query("state"),
		Search: domain.CleanSearch(p.query("q")), Errors: view.Errors{},
	}
	f := domain.DeliveryFilter{Kind: domain.EventKind(shown.Event), Search: shown.Search}
	f.EndpointID, _ = strconv.ParseInt(shown.Endpoint, 10, 64) // anything else is no endpoint's id
	switch shown.State {
	case string(view.DeliveryRetrying):
		f.State, f.Retried = domain.DeliveryPending, true
	default:
		f.State = domain.DeliveryState(shown.State)
	}
	period := p.readPeriod(p.query, shown.Errors)
	shown.Period, f.From, f.To = period.shown, period.from, period.to
	return shown, f
}

func deliveries(p *page) error {
	shown, f := p.deliveryFilter()
	options, err := p.endpointOptions()
	if err != nil {
		return err
	}
	after := p.position(domain.DeliveryList)
	found, err := p.Webhooks.Deliveries(p.r.Context(), p.caller(), f, after, deliveryRows)
	if errs, ok := formErrors(err); ok {
		shown.Errors = errs
	} else if err != nil {
		return err
	}
	v := view.DeliveryList{Filter: shown, Endpoints: options, Total: int64(len(found.Items)), More: found.Next != nil, Live: after == nil, Capped: found.Capped}
	for _, d := range found.Items {
		v.Deliveries = append(v.Deliveries, deliveryView(d))
	}
	if found.Next != nil {
		v.Pager.Next = p.pageURL(found.Next.Format(domain.DeliveryList))
	}
	if after != nil {
		v.Pager.Previous = p.pageURL("")
	}
	return p.renderOK(view.DeliveriesPage(p.shell(), v))
}

func delivery(p *page) error {
	d, err := p.Webhooks.Delivery(p.r.Context(), p.caller(), p.r.PathValue("id"))
	if err != nil {
		return err
	}
	v := view.DeliveryDetail{Delivery: deliveryView(d.Delivery), Body: string(d.Body), Erased: d.Erased}
	e, err := p.Webhooks.Get(p.r.Context(), p.caller(), d.EndpointID)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound && err != nil:
		v.EndpointGone = true
	case err != nil:
		return err
	default:
		v.CanRedeliver = e.Enabled() && !d.Erased && !d.Test
	}
	for i := len(d.Tries) - 1; i >= 0; i-- {
		v.Tries = append(v.Tries, attemptView(d.Tries[i]))
	}
	if len(d.Tries) > 0 && !d.Erased {
		v.Curl = d.Tries[len(d.Tries)-1].Curl(d.Body)
	}
	return p.renderOK(view.DeliveryPage(p.shell(), v))
}

func attemptView(t domain.Attempt) view.Attempt {
	v := view.Attempt{
		Number: t.Number, URL: t.URL, StartedAt: t.StartedAt, Took: t.Duration, StatusCode: t.StatusCode, OK: t.ErrorKind == "",
		ErrorKind: t.ErrorKind, Error: t.Error, RequestedBy: t.RequestedBy, ResponseBody: string(t.ResponseBody),
		ResponseCut: len(t.ResponseBody) >= domain.MaxResponseLog,
	}
	for _, h := range t.RequestHeaders {
		v.RequestHeaders = append(v.RequestHeaders, view.Header(h))
	}
	for _, h := range t.ResponseHeaders {
		v.ResponseHeaders = append(v.ResponseHeaders, view.Header(h))
	}
	return v
}

func redeliver(p *page) error {
	id := p.r.PathValue("id")
	err := p.Webhooks.Redeliver(p.r.Context(), p.caller(), id)
	if errs, ok := formErrors(err); ok {
		return p.redirectProblem(firstError(errs), view.PathDelivery(id))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("The delivery is queued again.", view.PathDelivery(id))
}
