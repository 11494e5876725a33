package app

import (
	"context"
	"errors"
	"time"
)

// Retention is how long rows are kept that would otherwise pile up. Zero keeps
// them for ever.
type Retention struct {
	Audit      time.Duration // entries of the audit logs
	Activities time.Duration // ids of activities, by which a repeated one is known
}

// expireInterval is how often rows that have expired are looked for.
const expireInterval = 10 * time.Minute

// expire removes what is older than the retention.
func (a *App) expire(ctx context.Context, r Retention) error {
	var errs []error
	if r.Audit > 0 {
		errs = append(errs, a.store.ExpireAudit(ctx, a.store.Now().Add(-r.Audit)))
	}
	if r.Activities > 0 {
		errs = append(errs, a.store.ExpireActivities(ctx, a.store.Now().Add(-r.Activities)))
	}
	return errors.Join(errs...)
}
