package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

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

// DeliveryLine describes one delivery.
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
	Test       bool   `json:"test,omitempty"`
}

func deliveryLine(d domain.Delivery) DeliveryLine {
	line := DeliveryLine{
		ID: d.ID, WebhookID: d.EndpointID, Event: string(d.Kind), State: string(d.State), Attempts: d.Attempts,
		StatusCode: d.StatusCode, ErrorKind: d.ErrorKind, CreatedAt: domain.FormatInstant(d.CreatedAt), Test: d.Test,
	}
	if d.State == domain.DeliveryPending {
		line.DueAt = domain.FormatInstant(d.DueAt)
	}
	return line
}

// Table implements Table.
func (l DeliveryList) Table() (header []string, rows [][]string) {
	for _, d := range l.Deliveries {
		rows = append(rows, []string{
			d.ID, strconv.FormatInt(d.WebhookID, 10), d.Event, d.State, strconv.Itoa(d.Attempts), strconv.Itoa(d.StatusCode), d.ErrorKind,
			d.CreatedAt, d.DueAt,
		})
	}
	if l.Next != "" {
		rows = append(rows, []string{"more: --after " + l.Next})
	}
	return []string{"ID", "WEBHOOK", "EVENT", "STATE", "ATTEMPTS", "STATUS", "ERROR", "CREATED", "DUE"}, rows
}

// ListDeliveries returns a page of a company's delivery log.
func (a *App) ListDeliveries(ctx context.Context, company int64, q DeliveryQuery) (DeliveryList, error) {
	after, err := readCursor(q.After)
	if err != nil {
		return DeliveryList{}, err
	}
	f := domain.DeliveryFilter{EndpointID: q.Webhook, State: domain.DeliveryState(q.State), Kind: domain.EventKind(q.Event)}
	return withWebhooks(ctx, a, anyTarget, company, func(w *service.Webhooks, c domain.Caller) (DeliveryList, error) {
		page, err := w.Deliveries(ctx, c, f, after, q.Limit)
		out := DeliveryList{Deliveries: []DeliveryLine{}}
		for _, d := range page.Items {
			out.Deliveries = append(out.Deliveries, deliveryLine(d))
		}
		if page.Next != nil {
			out.Next = page.Next.Format(domain.DeliveryList)
		}
		return out, err
	})
}

func readCursor(text string) (*domain.Cursor, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // Without a cursor the list begins at its start.
	}
	c, err := domain.ParseCursor(domain.DeliveryList, text)
	if err != nil {
		return nil, errors.New("--after must be the cursor that the previous list printed")
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

// ShowDelivery returns one delivery with its attempts.
func (a *App) ShowDelivery(ctx context.Context, company int64, id string) (DeliveryShown, error) {
	return withWebhooks(ctx, a, anyTarget, company, func(w *service.Webhooks, c domain.Caller) (DeliveryShown, error) {
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

// RedeliverQuery selects one delivery, or all failed and held ones of a period.
type RedeliverQuery struct {
	ID      string
	Since   time.Duration
	Webhook int64
	DryRun  bool
}

// Redelivered counts what is sent again, or would be.
type Redelivered struct {
	Count  int64 `json:"count"`
	JobID  int64 `json:"jobId,omitempty"`
	DryRun bool  `json:"-"` // nothing is sent
}

func (r Redelivered) String() string {
	what := "deliveries"
	if r.Count == 1 {
		what = "delivery"
	}
	if r.DryRun {
		return fmt.Sprintf("%d %s would be sent again.", r.Count, what)
	}
	return fmt.Sprintf("%d %s will be sent again.", r.Count, what)
}

// Redeliver makes the running server send deliveries again.
func (a *App) Redeliver(ctx context.Context, company int64, q RedeliverQuery) (Redelivered, error) {
	return withWebhooks(ctx, a, anyTarget, company, func(w *service.Webhooks, c domain.Caller) (Redelivered, error) {
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
			return Redelivered{Count: n, DryRun: true}, err
		}
		job, err := w.RedeliverRange(ctx, c, f)
		return Redelivered{Count: job.Total, JobID: job.ID}, err
	})
}
