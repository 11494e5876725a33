package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// anyTarget lets the operator's own commands save any target: the server that
// sends decides what it calls.
var anyTarget = WebhookConfig{AllowPrivate: true, AllowHTTP: true}

// withWebhooks calls fn with the webhook use cases and the caller of a company.
func withWebhooks[T any](ctx context.Context, a *App, wc WebhookConfig, company int64, fn func(*service.Webhooks, domain.Caller) (T, error)) (T, error) {
	var none T
	c, err := a.caller(ctx, company)
	if err != nil {
		return none, err
	}
	sender := a.newSender(wc, nil)
	defer sender.Close()
	return fn(a.newWebhooks(sender, 0, a.log), c)
}

// WebhookSecret is the id and the new secret of a webhook.
type WebhookSecret struct {
	ID     int64  `json:"id"`
	Secret string `json:"secret"`
}

func (w WebhookSecret) String() string {
	return fmt.Sprintf("Webhook %d signs with the secret:\n%s", w.ID, w.Secret)
}

// WarnOfTarget warns of a target that servers with these settings refuse to call.
// It is saved anyway: servers have settings of their own.
func (a *App) WarnOfTarget(ctx context.Context, wc WebhookConfig, url string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var refused *delivery.TargetError
	guard := wc.guard()
	if err := guard.CheckURL(ctx, url); errors.As(err, &refused) {
		a.log.Warn("servers refuse to call this target unless they allow it", "reason", refused.Error(),
			"hint", "see --webhook-allow-private and --webhook-allow-http of serve")
	}
}

// WebhookInput describes a webhook to add.
type WebhookInput struct {
	Company     int64
	URL         string
	Description string
	Events      []string
	StrictOrder bool // one at a time, in the order of the events
}

// AddWebhook adds a webhook to a company.
func (a *App) AddWebhook(ctx context.Context, w WebhookInput) (WebhookSecret, error) {
	in := domain.EndpointInput{URL: w.URL, Description: w.Description, StrictOrder: w.StrictOrder}
	for _, e := range w.Events {
		in.Events = append(in.Events, domain.EventKind(e))
	}
	return withWebhooks(ctx, a, anyTarget, w.Company, func(w *service.Webhooks, c domain.Caller) (WebhookSecret, error) {
		e, secret, err := w.Add(ctx, c, in)
		return WebhookSecret{ID: e.ID, Secret: secret}, err
	})
}

// RotateWebhook replaces the secret.
func (a *App) RotateWebhook(ctx context.Context, company, id int64) (WebhookSecret, error) {
	return withWebhooks(ctx, a, anyTarget, company, func(w *service.Webhooks, c domain.Caller) (WebhookSecret, error) {
		e, secret, err := w.Rotate(ctx, c, id)
		return WebhookSecret{ID: e.ID, Secret: secret}, err
	})
}

// WebhookList lists the webhooks of a company.
type WebhookList struct {
	Webhooks []WebhookLine `json:"webhooks"`
}

// WebhookLine describes one webhook.
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

// Table implements Table.
func (l WebhookList) Table() (header []string, rows [][]string) {
	for _, w := range l.Webhooks {
		state := "enabled"
		if !w.Enabled {
			state = "disabled: " + w.DisabledReason
		}
		events := make([]string, len(w.Events))
		for i, e := range w.Events {
			events[i] = string(e)
		}
		rows = append(rows, []string{
			strconv.FormatInt(w.ID, 10), w.URL, state, strings.Join(events, ","), textOr(w.FailingSince, "no"), w.Description,
		})
	}
	return []string{"ID", "URL", "STATE", "EVENTS", "FAILING SINCE", "DESCRIPTION"}, rows
}

// ListWebhooks returns a company's webhooks.
func (a *App) ListWebhooks(ctx context.Context, company int64) (WebhookList, error) {
	return withWebhooks(ctx, a, anyTarget, company, func(w *service.Webhooks, c domain.Caller) (WebhookList, error) {
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

// WebhookTested is the outcome of a test event.
type WebhookTested struct {
	OK         bool   `json:"ok"`
	StatusCode int    `json:"statusCode"`
	DurationMs int64  `json:"durationMs"`
	ErrorKind  string `json:"errorKind,omitempty"`
	Error      string `json:"error,omitempty"`
	Response   string `json:"response"`
}

func (t WebhookTested) String() string {
	if t.OK {
		return fmt.Sprintf("The receiver accepted the test event: status %d after %d ms.", t.StatusCode, t.DurationMs)
	}
	return fmt.Sprintf("The test event failed after %d ms: %s %s\n%s", t.DurationMs, t.ErrorKind, t.Error, t.Response)
}

func testedWebhook(t domain.Attempt) WebhookTested {
	return WebhookTested{
		OK: t.ErrorKind == "", StatusCode: t.StatusCode, DurationMs: t.Duration.Milliseconds(),
		ErrorKind: t.ErrorKind, Error: t.Error, Response: string(t.ResponseBody),
	}
}

// TestWebhook sends a test event.
func (a *App) TestWebhook(ctx context.Context, wc WebhookConfig, company, id int64, event string) (WebhookTested, error) {
	return withWebhooks(ctx, a, wc, company, func(w *service.Webhooks, c domain.Caller) (WebhookTested, error) {
		t, err := w.Test(ctx, c, id, domain.EventKind(event))
		return testedWebhook(t), err
	})
}

// WebhookState is the state of a webhook: enabled, disabled or removed.
type WebhookState struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
}

func (w WebhookState) String() string { return fmt.Sprintf("Webhook %d is %s.", w.ID, w.State) }

// EnableWebhook sends events again.
func (a *App) EnableWebhook(ctx context.Context, wc WebhookConfig, company, id int64, force bool) (WebhookState, error) {
	return withWebhooks(ctx, a, wc, company, func(w *service.Webhooks, c domain.Caller) (WebhookState, error) {
		_, _, err := w.Enable(ctx, c, id, force)
		return WebhookState{ID: id, State: "enabled"}, err
	})
}

// DisableWebhook holds events back.
func (a *App) DisableWebhook(ctx context.Context, company, id int64) (WebhookState, error) {
	return withWebhooks(ctx, a, anyTarget, company, func(w *service.Webhooks, c domain.Caller) (WebhookState, error) {
		_, err := w.Disable(ctx, c, id)
		return WebhookState{ID: id, State: "disabled"}, err
	})
}

// RemoveWebhook removes a webhook.
func (a *App) RemoveWebhook(ctx context.Context, company, id int64) (WebhookState, error) {
	return withWebhooks(ctx, a, anyTarget, company, func(w *service.Webhooks, c domain.Caller) (WebhookState, error) {
		return WebhookState{ID: id, State: "removed"}, w.Remove(ctx, c, id)
	})
}
