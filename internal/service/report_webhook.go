package service

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/report"
)

// EndpointOverview is an endpoint as the file of the webhooks shows it.
type EndpointOverview struct {
	domain.Endpoint
	Health      domain.EndpointHealth
	OwnHeaders  domain.Headers // with masked values
	HeadersLost bool           // they can't be decrypted
}

// Overviews returns the company's endpoints that a search finds, in ascending id, with
// their health and the names of their own headers.
func (w *Webhooks) Overviews(ctx context.Context, c domain.Caller, search string) ([]EndpointOverview, error) {
	endpoints, err := w.List(ctx, c)
	if err != nil {
		return nil, err
	}
	health, err := w.Health(ctx, c, 0)
	if err != nil {
		return nil, err
	}
	byID := map[int64]domain.EndpointHealth{}
	for _, h := range health {
		byID[h.EndpointID] = h
	}
	var out []EndpointOverview
	for _, e := range endpoints {
		if e.Matches(search) {
			headers, readable := w.Headers(e)
			out = append(out, EndpointOverview{Endpoint: e, Health: byID[e.ID], OwnHeaders: headers, HeadersLost: !readable})
		}
	}
	return out, nil
}

// WriteWebhooks writes the company's webhooks. Codes: too_many_reports.
func (r *Reports) WriteWebhooks(ctx context.Context, c domain.Caller, list []EndpointOverview, file ReportFile) error {
	return webhookTable.write(ctx, r, c, file, func(_ context.Context, _ time.Time, yield func([]EndpointOverview) error) error {
		return yield(list)
	})
}

var webhookTable = reportTable[EndpointOverview]{
	name: "webhooks", sheet: "Webhooks",
	columns: []report.Column{
		{Name: "id", Kind: report.KindInteger},
		{Name: "url", Kind: report.KindText},
		{Name: "description", Kind: report.KindText},
		{Name: "events", Kind: report.KindText},
		{Name: "state", Kind: report.KindText},
		{Name: "strictOrder", Kind: report.KindBool},
		{Name: "requestsPerMinute", Kind: report.KindInteger},
		{Name: "ownHeaders", Kind: report.KindText},
		{Name: "delivered24h", Kind: report.KindInteger},
		{Name: "retrying24h", Kind: report.KindInteger},
		{Name: "failed24h", Kind: report.KindInteger},
		{Name: "lastSentAt", Kind: report.KindTime},
		{Name: "failingSince", Kind: report.KindTime},
		{Name: "disabledAt", Kind: report.KindTime},
		{Name: "disabledReason", Kind: report.KindText},
		{Name: "createdBy", Kind: report.KindText},
		{Name: "createdAt", Kind: report.KindTime},
	},
	cells: func(cells []report.Cell, e *EndpointOverview, _ time.Time) []report.Cell {
		rate := report.Null()
		if e.RatePerMinute != 0 {
			rate = report.Int(e.RatePerMinute)
		}
		headers := joinCell(e.OwnHeaders, func(h domain.Header) string { return h.Name + ": " + h.Value })
		if e.HeadersLost {
			headers = "could not be decrypted"
		}
		return append(cells,
			report.Int(e.ID), report.Text(e.URL), report.Text(e.Description),
			report.Text(joinCell(e.Events, func(k domain.EventKind) string { return string(k) })), report.Text(e.State()),
			report.Bool(e.StrictOrder), rate, report.Text(headers), report.Int(e.Health.Delivered), report.Int(e.Health.Retrying),
			report.Int(e.Health.Failed), optionalTime(e.Health.LastSent), optionalTime(e.FailingSince), optionalTime(e.DisabledAt),
			report.Text(string(e.DisabledReason)), report.Text(e.CreatedBy), report.Time(e.CreatedAt))
	},
}

// State is the state of an endpoint in the words of the cabinet's list.
func (e EndpointOverview) State() string {
	switch state := e.Health.State(); {
	case !e.Enabled():
		return "disabled"
	case state != domain.HealthUnknown:
		return string(state)
	case e.Health.LastSent == nil:
		return "new"
	}
	return "idle"
}
