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
	LeaseStore
	Deliveries(ctx context.Context, company int64, f domain.DeliveryFilter, after *domain.Cursor, limit int) (domain.DeliveryPage, error)
	Delivery(ctx context.Context, company int64, id string) (domain.DeliveryDetail, error)
	Redeliver(ctx context.Context, c domain.Caller, id string) error
	CountRedeliverable(ctx context.Context, company int64, f domain.RedeliveryFilter) (int64, error)
	AddRedelivery(ctx context.Context, c domain.Caller, f domain.RedeliveryFilter) (domain.Redelivery, error)
	Redelivery(ctx context.Context, company, id int64) (domain.Redelivery, error)
	OpenRedeliveries(ctx context.Context) ([]domain.Redelivery, error)
	ContinueRedelivery(ctx context.Context, company, id int64, limit int) (finished bool, err error)
	RecordRedeliveryFailure(ctx context.Context, j domain.Redelivery, problem string, maxFailures int) error
	AddPartitionsAhead(ctx context.Context, retention time.Duration) error
	DropPartitions(ctx context.Context, before time.Time) error
	RowRetention(retention time.Duration) time.Duration
	ExpireEvents(ctx context.Context, before time.Time) (more bool, err error)
	ExpireRemovals(ctx context.Context, before time.Time) (more bool, err error)
	ExpireEndpoints(ctx context.Context, before time.Time) error
}

// Deliveries returns a page of the log, newest first; after is the previous page's
// cursor, nil for the first page. Codes: invalid_request.
func (w *Webhooks) Deliveries(ctx context.Context, c domain.Caller, f domain.DeliveryFilter, after *domain.Cursor, limit int) (domain.DeliveryPage, error) {
	checks := checkDeliveryFilter(f)
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

func checkDeliveryFilter(f domain.DeliveryFilter) domain.Checks {
	var checks domain.Checks
	if f.Kind != "" {
		checks.Add("event", domain.CheckEventKind(f.Kind))
	}
	switch f.State {
	case "", domain.DeliveryPending, domain.DeliveryDelivered, domain.DeliveryFailed, domain.DeliveryHeld:
	default:
		checks.Add("state", errors.New("must be pending, delivered, failed or held"))
	}
	return checks
}

// Delivery returns one delivery with its body and every attempt. Codes: not_found.
func (w *Webhooks) Delivery(ctx context.Context, c domain.Caller, id string) (domain.DeliveryDetail, error) {
	return w.store.Delivery(ctx, c.Company.ID, id)
}

const (
	// expireEvery is how often expired events are removed.
	expireEvery = 10 * time.Minute
	// partitionEvery is how often missing partitions are added.
	partitionEvery = time.Minute
)

// addPartitions adds the partitions that new attempts will need, one replica at a time.
func (w *Webhooks) addPartitions(ctx context.Context) error {
	return WithLease(ctx, w.store, "partitions", w.owner, func(ctx context.Context) error {
		return w.store.AddPartitionsAhead(ctx, w.retention)
	})
}

// expire removes what is older than the retention, one replica at a time.
func (w *Webhooks) expire(ctx context.Context) error {
	return WithLease(ctx, w.store, "retention", w.owner, w.expireNow)
}

func (w *Webhooks) expireNow(ctx context.Context) error {
	now := w.store.Now()
	before := now.Add(-w.retention)
	if err := w.store.DropPartitions(ctx, before); err != nil {
		return err
	}
	for _, step := range []struct {
		expire func(context.Context, time.Time) (bool, error)
		before time.Time
	}{{w.store.ExpireRemovals, before}, {w.store.ExpireEvents, now.Add(-w.store.RowRetention(w.retention))}} {
		for more := true; more; {
			var err error
			if more, err = step.expire(ctx, step.before); err != nil {
				return err
			}
		}
	}
	return w.store.ExpireEndpoints(ctx, before)
}
