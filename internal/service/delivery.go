package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// DeliveryStore keeps the delivery log and what is to be sent again.
type DeliveryStore interface {
	Deliveries(ctx context.Context, company int64, f domain.DeliveryFilter, after *domain.Cursor, limit int) (domain.DeliveryPage, error)
	Delivery(ctx context.Context, company int64, id string) (domain.DeliveryDetail, error)
	Redeliver(ctx context.Context, c domain.Caller, id string) error
	CountRedeliverable(ctx context.Context, company int64, f domain.RedeliveryFilter) (int64, error)
	AddRedelivery(ctx context.Context, c domain.Caller, f domain.RedeliveryFilter) (domain.Redelivery, error)
	Redelivery(ctx context.Context, company, id int64) (domain.Redelivery, error)
	OpenRedeliveries(ctx context.Context) ([]domain.Redelivery, error)
	ContinueRedelivery(ctx context.Context, company, id int64, limit int) (finished bool, err error)
	FailRedelivery(ctx context.Context, j domain.Redelivery, problem string, most int) error
	ExpireEvents(ctx context.Context, before time.Time) (more bool, err error)
	ExpireWebhooks(ctx context.Context, before time.Time) error
	TakeLease(ctx context.Context, name, owner string, hold time.Duration) (bool, error)
	DropLease(ctx context.Context, name, owner string) error
}

// Deliveries returns a page of the log, newest first; after is the cursor that the
// page before gave. Codes: invalid_request.
func (w *Webhooks) Deliveries(ctx context.Context, c domain.Caller, f domain.DeliveryFilter, after *domain.Cursor, limit int) (domain.DeliveryPage, error) {
	var checks domain.Checks
	if f.Kind != "" {
		checks.Add("event", domain.CheckEventKind(f.Kind))
	}
	switch f.State {
	case "", domain.DeliveryPending, domain.DeliveryDelivered, domain.DeliveryFailed, domain.DeliveryHeld:
	default:
		checks.Add("state", errors.New("must be pending, delivered, failed or held"))
	}
	if limit == 0 {
		limit = domain.DefaultLimit
	}
	if limit < 1 || limit > domain.MaxLimit {
		checks.Add("limit", fmt.Errorf("must be from 1 to %d", domain.MaxLimit))
	}
	if err := checks.Err(); err != nil {
		return domain.DeliveryPage{}, err
	}
	return w.store.Deliveries(ctx, c.Company.ID, f, after, limit)
}

// Delivery returns one delivery with its body and every attempt. Codes: not_found.
func (w *Webhooks) Delivery(ctx context.Context, c domain.Caller, id string) (domain.DeliveryDetail, error) {
	return w.store.Delivery(ctx, c.Company.ID, id)
}

// expireEvery is how often what has had its time is looked for.
const expireEvery = 10 * time.Minute

// expire removes what is older than the retention, one replica at a time.
func (w *Webhooks) expire(ctx context.Context) error {
	const name, hold = "retention", time.Minute
	before := w.store.Now().Add(-w.retention)
	if mine, err := w.store.TakeLease(ctx, name, w.owner, hold); err != nil || !mine {
		return err
	}
	for more := true; more; {
		var err error
		if more, err = w.store.ExpireEvents(ctx, before); err != nil {
			return err
		}
		if mine, err := w.store.TakeLease(ctx, name, w.owner, hold); err != nil || !mine {
			return err
		}
	}
	if err := w.store.ExpireWebhooks(ctx, before); err != nil {
		return err
	}
	return w.store.DropLease(ctx, name, w.owner)
}
