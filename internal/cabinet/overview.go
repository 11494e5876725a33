package cabinet

import (
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func (c *Cabinet) overviewPages(private register) { private("GET "+view.PathOverview, overview) }

func overview(p *page) error {
	ctx, caller := p.r.Context(), p.caller()
	endpoints, err := p.Webhooks.List(ctx, caller)
	if err != nil {
		return err
	}
	health, err := p.Webhooks.Health(ctx, caller, 0)
	if err != nil {
		return err
	}
	tokens, err := p.Tokens.List(ctx, domain.TokenFilter{CompanyID: caller.Company.ID}, domain.PageRequest{Number: 1, Limit: domain.MaxLimit})
	if err != nil {
		return err
	}
	v := view.Overview{Endpoints: endpointViews(endpoints, health), Steps: steps(tokens.Items, endpoints, health)}
	var hours []view.Bucket
	for _, h := range health {
		e := endpointView(domain.Endpoint{}, h)
		v.Day.Delivered += e.Day.Delivered
		v.Day.Retrying += e.Day.Retrying
		v.Day.Failed += e.Day.Failed
		v.Day.Held += e.Day.Held
		hours = addBuckets(hours, e.Hours)
	}
	if len(hours) > 0 {
		v.Chart = &view.Chart{Title: "Deliveries in the last 24 hours", Buckets: hours}
	}
	return p.renderOK(view.OverviewPage(p.shell(), v))
}

// steps returns the getting-started list, or nil once everything is done.
func steps(tokens []domain.Token, endpoints []domain.Endpoint, health []domain.EndpointHealth) []view.Step {
	out := []view.Step{
		{Kind: view.StepToken, Path: view.PathTokenNew}, {Kind: view.StepCall, Path: view.PathExplorer},
		{Kind: view.StepWebhook, Path: view.PathWebhookNew}, {Kind: view.StepEvent, Path: view.PathWebhooks},
	}
	for _, t := range tokens {
		out[0].Done, out[0].At = true, &t.CreatedAt
		if t.LastUsedAt != nil {
			out[1].Done, out[1].At = true, t.LastUsedAt
		}
	}
	if len(endpoints) > 0 {
		out[2].Done, out[2].At = true, &endpoints[0].CreatedAt
		out[3].Path = view.PathWebhook(endpoints[0].ID)
	}
	for _, h := range health {
		if h.LastDelivered != nil {
			out[3].Done, out[3].At = true, h.LastDelivered
		}
	}
	for _, s := range out {
		if !s.Done {
			return out
		}
	}
	return nil
}

// endpointViews joins endpoints with their health of the last 24 hours.
func endpointViews(endpoints []domain.Endpoint, health []domain.EndpointHealth) []view.Endpoint {
	byID := map[int64]domain.EndpointHealth{}
	for _, h := range health {
		byID[h.EndpointID] = h
	}
	out := make([]view.Endpoint, len(endpoints))
	for i, e := range endpoints {
		out[i] = endpointView(e, byID[e.ID])
	}
	return out
}

func endpointView(e domain.Endpoint, h domain.EndpointHealth) view.Endpoint {
	v := view.Endpoint{
		ID: e.ID, URL: e.URL, Description: e.Description, DisabledReason: string(e.DisabledReason),
		DisabledAt: e.DisabledAt, FailingSince: e.FailingSince, CreatedAt: e.CreatedAt, CreatedBy: e.CreatedBy,
		Day: view.Health{Delivered: h.Delivered, Retrying: h.Retrying, Failed: h.Failed, Held: h.Held}, LastDelivery: h.LastSent,
	}
	for _, k := range e.Events {
		v.Events = append(v.Events, string(k))
	}
	for _, hour := range h.Hours {
		v.Hours = append(v.Hours, view.Bucket{From: hour.Start, Delivered: hour.Delivered, Retrying: hour.Retrying, Failed: hour.Failed})
	}
	v.State = view.EndpointState(service.EndpointOverview{Endpoint: e, Health: h}.State())
	return v
}

// addBuckets sums charts that cover the same hours.
func addBuckets(sum, more []view.Bucket) []view.Bucket {
	if len(sum) == 0 {
		return append(sum, more...)
	}
	for i := range more {
		sum[i].Delivered += more[i].Delivered
		sum[i].Retrying += more[i].Retrying
		sum[i].Failed += more[i].Failed
	}
	return sum
}
