package app

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/coursebridge/coursebridge/internal/service"
)

// Retention is how long rows are kept that would otherwise pile up. Zero keeps
// them for ever, unless a field says otherwise.
type Retention struct {
	Events     time.Duration // events and the delivery log (--retention); at least an hour
	Audit      time.Duration // entries of the audit logs
	Activities time.Duration // ids of activities, by which a repeated one is known
	Requests   time.Duration // calls of the API; zero records none
}

// expireInterval is how often rows that have expired are looked for.
const expireInterval = 10 * time.Minute

// expireAlone calls expire unless another replica is doing so.
func (a *App) expireAlone(ctx context.Context, r Retention) error {
	return service.WithLease(ctx, a.store, "expire", rand.Text(), func(ctx context.Context) error { return a.expire(ctx, r) })
}

// expire removes what is older than the retention.
func (a *App) expire(ctx context.Context, r Retention) error {
	var errs []error
	if r.Audit > 0 {
		errs = append(errs, a.store.ExpireAudit(ctx, a.store.Now().Add(-r.Audit)))
	}
	if r.Activities > 0 {
		errs = append(errs, a.store.ExpireActivities(ctx, a.store.Now().Add(-r.Activities)))
	}
	if r.Requests > 0 {
		errs = append(errs, a.store.ExpireAPIRequests(ctx, a.store.Now().Add(-r.Requests)))
	}
	errs = append(errs, a.store.FinishErasures(ctx), a.imports.Expire(ctx))
	return errors.Join(errs...)
}
