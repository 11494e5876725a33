package app

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// trusting is how the operator's own commands judge targets: what may really be
// called is decided by the server that sends.
var trusting = WebhookConfig{AllowPrivate: true, AllowHTTP: true}

// webhooks gives the use cases for one command, and what closes them.
func (a *App) webhooks(wc WebhookConfig) (*service.Webhooks, func()) {
	sender := a.newSender(wc)
	prober := delivery.NewProber(sender)
	return service.NewWebhooks(a.store, prober, a.box, service.WebhookOptions{Retention: wc.Retention, Log: a.log}), sender.Close
}

// onWebhooks runs fn for a company with the use cases of webhooks.
func onWebhooks[T any](ctx context.Context, a *App, wc WebhookConfig, company int64, fn func(*service.Webhooks, domain.Caller) (T, error)) (T, error) {
	var none T
	c, err := a.caller(ctx, company)
	if err != nil {
		return none, err
	}
	w, done := a.webhooks(wc)
	defer done()
	return fn(w, c)
}

// WebhookAdded is a webhook with its secret.
type WebhookAdded struct {
	ID     int64  `json:"id"`
	Secret string `json:"secret"`
}

func (w WebhookAdded) String() string {
	return fmt.Sprintf("Webhook %d signs with the secret:\n%s", w.ID, w.Secret)
}

// WarnOfTarget tells the operator of a target that servers with these settings
// refuse to call. It is saved all the same: servers have settings of their own.
func (a *App) WarnOfTarget(ctx context.Context, wc WebhookConfig, url string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var refused *delivery.TargetError
	guard := wc.guard()
	if err := guard.CheckURL(ctx, url); errors.As(err, &refused) {
		a.log.Warn("servers will refuse to call this target unless they are told to", "reason", refused.Error(),
			"hint", "see --webhook-allow-private and --webhook-allow-http of serve")
	}
}

// AddWebhook makes a webhook of a company.
func (a *App) AddWebhook(ctx context.Context, company int64, url, description string, events []string) (WebhookAdded, error) {
	in := domain.EndpointInput{URL: url, Description: description}
	for _, e := range events {
		in.Events = append(in.Events, domain.EventKind(e))
	}
	return onWebhooks(ctx, a, trusting, company, func(w *service.Webhooks, c domain.Caller) (WebhookAdded, error) {
		e, secret, err := w.Add(ctx, c, in)
		return WebhookAdded{ID: e.ID, Secret: secret}, err
	})
}

// RotateWebhook makes a new secret.
func (a *App) RotateWebhook(ctx context.Context, company, id int64) (WebhookAdded, error) {
	return onWebhooks(ctx, a, trusting, company, func(w *service.Webhooks, c domain.Caller) (WebhookAdded, error) {
		e, secret, err := w.Rotate(ctx, c, id)
		return WebhookAdded{ID: e.ID, Secret: secret}, err
	})
}

// WebhookList is the webhooks of a company.
type WebhookList struct {
	Webhooks []WebhookLine `json:"webhooks"`
}

// WebhookLine is one webhook of a list.
type WebhookLine struct {
	ID             int64              `json:"id"`
	URL            string             `json:"url"`
	Description    string             `json:"description"`
	Events         []domain.EventKind `json:"events"`
	Enabled        bool               `json:"enabled"`
	DisabledReason string             `json:"disabledReason,omitempty"`
	FailingSince   *string            `json:"failingSince"`
	CreatedAt      string             `json:"createdAt"`
}

// ListWebhooks gives a company's webhooks.
func (a *App) ListWebhooks(ctx context.Context, company int64) (WebhookList, error) {
	return onWebhooks(ctx, a, trusting, company, func(w *service.Webhooks, c domain.Caller) (WebhookList, error) {
		list, err := w.List(ctx, c)
		out := WebhookList{Webhooks: []WebhookLine{}}
		for _, e := range list {
			out.Webhooks = append(out.Webhooks, WebhookLine{
				ID: e.ID, URL: e.URL, Description: e.Description, Events: e.Events, Enabled: e.Enabled(),
				DisabledReason: string(e.DisabledReason), FailingSince: instantOrNil(e.FailingSince), CreatedAt: domain.FormatInstant(e.CreatedAt),
			})
		}
		return out, err
	})
}

// WebhookTested is what came of a test event.
type WebhookTested struct {
	OK         bool   `json:"ok"`
	StatusCode int    `json:"statusCode"`
	DurationMs int64  `json:"durationMs"`
	ErrorKind  string `json:"errorKind,omitempty"`
	Error      string `json:"error,omitempty"`
	Response   string `json:"response"`
}

func tested(t domain.Attempt) WebhookTested {
	return WebhookTested{
		OK: t.ErrorKind == "", StatusCode: t.StatusCode, DurationMs: t.Duration.Milliseconds(),
		ErrorKind: t.ErrorKind, Error: t.Error, Response: string(t.ResponseBody),
	}
}

// TestWebhook sends a test event.
func (a *App) TestWebhook(ctx context.Context, wc WebhookConfig, company, id int64, event string) (WebhookTested, error) {
	return onWebhooks(ctx, a, wc, company, func(w *service.Webhooks, c domain.Caller) (WebhookTested, error) {
		t, err := w.Test(ctx, c, id, domain.EventKind(event))
		return tested(t), err
	})
}

// WebhookState is whether a webhook gets its events.
type WebhookState struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
}

func (w WebhookState) String() string { return fmt.Sprintf("Webhook %d is %s.", w.ID, w.State) }

// EnableWebhook lets events be sent again.
func (a *App) EnableWebhook(ctx context.Context, wc WebhookConfig, company, id int64, force bool) (WebhookState, error) {
	return onWebhooks(ctx, a, wc, company, func(w *service.Webhooks, c domain.Caller) (WebhookState, error) {
		_, _, err := w.Enable(ctx, c, id, force)
		return WebhookState{ID: id, State: "enabled"}, err
	})
}

// DisableWebhook has events held.
func (a *App) DisableWebhook(ctx context.Context, company, id int64) (WebhookState, error) {
	return onWebhooks(ctx, a, trusting, company, func(w *service.Webhooks, c domain.Caller) (WebhookState, error) {
		_, err := w.Disable(ctx, c, id)
		return WebhookState{ID: id, State: "disabled"}, err
	})
}

// RemoveWebhook ends a webhook.
func (a *App) RemoveWebhook(ctx context.Context, company, id int64) (WebhookState, error) {
	return onWebhooks(ctx, a, trusting, company, func(w *service.Webhooks, c domain.Caller) (WebhookState, error) {
		return WebhookState{ID: id, State: "removed"}, w.Remove(ctx, c, id)
	})
}

// DeliveryQuery narrows a list of deliveries.
type DeliveryQuery struct {
	Webhook int64
	State   string
	Event   string
	Limit   int
	After   string
}

// DeliveryList is a page of the delivery log, newest first.
type DeliveryList struct {
	Deliveries []DeliveryLine `json:"deliveries"`
	Next       string         `json:"next,omitempty"`
}

// DeliveryLine is one delivery of a list.
type DeliveryLine struct {
	ID         string `json:"id"`
	WebhookID  int64  `json:"webhookId"`
	Event      string `json:"event"`
	State      string `json:"state"`
	Attempts   int    `json:"attempts"`
	StatusCode int    `json:"statusCode"`
	ErrorKind  string `json:"errorKind,omitempty"`
	CreatedAt  string `json:"createdAt"`
	DueAt      string `json:"dueAt,omitempty"`
}

func deliveryLine(d domain.Delivery) DeliveryLine {
	line := DeliveryLine{
		ID: d.ID, WebhookID: d.EndpointID, Event: string(d.Kind), State: string(d.State), Attempts: d.Attempts,
		StatusCode: d.StatusCode, ErrorKind: d.ErrorKind, CreatedAt: domain.FormatInstant(d.CreatedAt),
	}
	if d.State == domain.DeliveryPending {
		line.DueAt = domain.FormatInstant(d.DueAt)
	}
	return line
}

// ListDeliveries gives a page of a company's delivery log.
func (a *App) ListDeliveries(ctx context.Context, company int64, q DeliveryQuery) (DeliveryList, error) {
	after, err := readCursor(q.After)
	if err != nil {
		return DeliveryList{}, err
	}
	f := domain.DeliveryFilter{EndpointID: q.Webhook, State: domain.DeliveryState(q.State), Kind: domain.EventKind(q.Event)}
	return onWebhooks(ctx, a, trusting, company, func(w *service.Webhooks, c domain.Caller) (DeliveryList, error) {
		page, err := w.Deliveries(ctx, c, f, after, q.Limit)
		out := DeliveryList{Deliveries: []DeliveryLine{}}
		for _, d := range page.Items {
			out.Deliveries = append(out.Deliveries, deliveryLine(d))
		}
		if page.Next != nil {
			text, _ := json.Marshal(page.Next) // a time and a string always encode
			out.Next = base64.RawURLEncoding.EncodeToString(text)
		}
		return out, err
	})
}

func readCursor(text string) (*domain.DeliveryCursor, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // No cursor is the list's beginning.
	}
	var c domain.DeliveryCursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &c) != nil {
		return nil, errors.New("--after must be the cursor that the last list gave")
	}
	return &c, nil
}

// DeliveryShown is one delivery with every attempt.
type DeliveryShown struct {
	DeliveryLine
	Body  string        `json:"body"`
	Tries []AttemptLine `json:"tries"`
}

// AttemptLine is one attempt of a delivery.
type AttemptLine struct {
	Number          int             `json:"number"`
	URL             string          `json:"url"`
	StartedAt       string          `json:"startedAt"`
	DurationMs      int64           `json:"durationMs"`
	StatusCode      int             `json:"statusCode"`
	ErrorKind       string          `json:"errorKind,omitempty"`
	Error           string          `json:"error,omitempty"`
	RequestHeaders  []domain.Header `json:"requestHeaders"`
	ResponseHeaders []domain.Header `json:"responseHeaders"`
	ResponseBody    string          `json:"responseBody"`
	RequestedBy     string          `json:"requestedBy,omitempty"`
}

// ShowDelivery gives one delivery.
func (a *App) ShowDelivery(ctx context.Context, company int64, id string) (DeliveryShown, error) {
	return onWebhooks(ctx, a, trusting, company, func(w *service.Webhooks, c domain.Caller) (DeliveryShown, error) {
		d, err := w.Delivery(ctx, c, id)
		out := DeliveryShown{DeliveryLine: deliveryLine(d.Delivery), Body: string(d.Body), Tries: []AttemptLine{}}
		for _, t := range d.Tries {
			out.Tries = append(out.Tries, AttemptLine{
				Number: t.Number, URL: t.URL, StartedAt: domain.FormatInstant(t.StartedAt), DurationMs: t.Duration.Milliseconds(),
				StatusCode: t.StatusCode, ErrorKind: t.ErrorKind, Error: t.Error, RequestHeaders: t.RequestHeaders,
				ResponseHeaders: t.ResponseHeaders, ResponseBody: string(t.ResponseBody), RequestedBy: t.RequestedBy,
			})
		}
		return out, err
	})
}

// RedeliverQuery names one delivery, or all failed and held ones of a period.
type RedeliverQuery struct {
	ID      string
	Since   time.Duration
	Webhook int64
	DryRun  bool
}

// Redelivered is what will be sent again.
type Redelivered struct {
	Count int64 `json:"count"`
	JobID int64 `json:"jobId,omitempty"`
}

// Redeliver has deliveries sent again by the running server.
func (a *App) Redeliver(ctx context.Context, company int64, q RedeliverQuery) (Redelivered, error) {
	return onWebhooks(ctx, a, trusting, company, func(w *service.Webhooks, c domain.Caller) (Redelivered, error) {
		if q.ID != "" {
			return Redelivered{Count: 1}, w.Redeliver(ctx, c, q.ID)
		}
		if q.Since <= 0 {
			return Redelivered{}, errors.New("name a delivery with --id, or a period with --since")
		}
		from := a.store.Now().Add(-q.Since)
		f := domain.RedeliveryFilter{EndpointID: q.Webhook, From: &from}
		if q.DryRun {
			n, err := w.CountRedeliver(ctx, c, f)
			return Redelivered{Count: n}, err
		}
		job, err := w.RedeliverRange(ctx, c, f)
		return Redelivered{Count: job.Total, JobID: job.ID}, err
	})
}
