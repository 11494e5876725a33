package service

import (
	"context"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Redeliver sends one delivery again, whatever became of it. Codes: not_found,
// invalid_request when its endpoint takes none or its content is gone.
func (w *Webhooks) Redeliver(ctx context.Context, c domain.Caller, id string) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	return w.store.Redeliver(ctx, c, id)
}

// CountRedeliver returns how many deliveries RedeliverRange would send again. Codes:
// invalid_request, not_found.
func (w *Webhooks) CountRedeliver(ctx context.Context, c domain.Caller, f domain.RedeliveryFilter) (int64, error) {
	if err := w.checkRange(ctx, c, &f); err != nil {
		return 0, err
	}
	return w.store.CountRedeliverable(ctx, c.Company.ID, f)
}

// RedeliverRange has a period's failed and held deliveries sent again, as
// background work whose progress RedeliveryJob returns. Codes: invalid_request, not_found.
func (w *Webhooks) RedeliverRange(ctx context.Context, c domain.Caller, f domain.RedeliveryFilter) (domain.Redelivery, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Redelivery{}, err
	}
	if err := w.checkRange(ctx, c, &f); err != nil {
		return domain.Redelivery{}, err
	}
	job, err := w.store.AddRedelivery(ctx, c, f)
	if err == nil {
		select {
		case w.asked <- struct{}{}:
		default:
		}
	}
	return job, err
}

func (w *Webhooks) checkRange(ctx context.Context, c domain.Caller, f *domain.RedeliveryFilter) error {
	if err := f.Normalize(w.store.Now()); err != nil || f.EndpointID == 0 {
		return err
	}
	e, err := w.store.Endpoint(ctx, c.Company.ID, f.EndpointID)
	if err == nil && !e.Enabled() {
		return domain.ErrEndpointDisabled
	}
	return err
}

// RedeliveryJob returns a redelivery with its progress. Codes: not_found.
func (w *Webhooks) RedeliveryJob(ctx context.Context, c domain.Caller, id int64) (domain.Redelivery, error) {
	return w.store.Redelivery(ctx, c.Company.ID, id)
}

const (
	redeliverStep  = 200
	redeliverFails = 5                // a step that fails so often in a row ends its redelivery
	redeliverEvery = 10 * time.Second // looks for what another process asked for, or left undone
)

// Run does the work that no request waits for, until ctx ends: redeliveries,
// retention and the partitions for the attempts to come.
func (w *Webhooks) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() {
		Periodic{Name: "redeliver webhooks", Every: redeliverEvery, Wake: w.asked, Log: w.log, Do: w.redeliver}.Run(ctx)
	})
	all.Go(func() {
		Periodic{Name: "remove expired deliveries", Every: expireEvery, Log: w.log, Do: w.expire}.Run(ctx)
	})
	all.Go(func() {
		Periodic{Name: "add partitions", Every: partitionEvery, Log: w.log, Do: w.addPartitions}.Run(ctx)
	})
	all.Wait()
}

// redeliver continues every open redelivery in turn, so that neither a long one nor
// one that fails keeps the others waiting, one replica at a time.
func (w *Webhooks) redeliver(ctx context.Context) error {
	return runRoundRobin(ctx, roundRobin[domain.Redelivery]{
		store: w.store, lease: "redeliveries", owner: w.owner, list: w.store.OpenRedeliveries, step: w.continueRedelivery,
	})
}

// continueRedelivery does one step of a redelivery and reports whether it succeeded.
func (w *Webhooks) continueRedelivery(ctx context.Context, j domain.Redelivery) bool {
	_, err := w.store.ContinueRedelivery(ctx, j.CompanyID, j.ID, redeliverStep)
	if err == nil {
		return true
	}
	w.log.Warn("a step of a redelivery failed", "redelivery", j.ID, "company", j.CompanyID, "error", err)
	if ctx.Err() != nil || domain.CodeOf(err) == domain.CodeUnavailable {
		return false // it says nothing about the redelivery
	}
	if err := w.store.RecordRedeliveryFailure(ctx, j, jobProblem(err), redeliverFails); err != nil {
		w.log.Warn("note the failure of a redelivery", "redelivery", j.ID, "error", err)
	}
	return false
}
