package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// batchers are what the endpoint queues share to use few statements.
type batchers struct {
	claims  *batch.Batcher[domain.FetchRequest, *domain.EndpointLease]
	fetches *batch.Batcher[domain.FetchRequest, *domain.EndpointLease]
	results *batch.Batcher[domain.DeliveryResult, recordedResult]
	notices *batch.Batcher[string, struct{}]
}

// recordedResult is what the queue made of one result. The zero value says that
// the delivery has changed meanwhile.
type recordedResult struct {
	domain.RecordedDelivery
	isDisabled bool // the result disabled the endpoint
}

func newBatchers(d *Dispatcher) batchers {
	queue := d.config.Queue
	few := batch.Options{MaxParallel: 2, SlowAfter: batch.NeverSlow} // neither claims nor reads wait for locks
	return batchers{
		claims: batch.New(d.limited(func(ctx context.Context, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
			return queue.ClaimEndpoints(ctx, d.owner, d.config.Lease, requests)
		}), few),
		fetches: batch.New(d.limited(queue.DueDeliveries), few),
		results: batch.New(d.recordBatch, batch.Options{
			MaxSize: 256, MaxParallel: 2, ParallelThreshold: 128, MaxDelay: 3 * time.Millisecond, SlowAfter: batch.NeverSlow, Collect: true,
		}),
		notices: batch.New(func(ctx context.Context, keys []string) ([]struct{}, error) {
			ctx, cancel := context.WithTimeout(ctx, queryTimeout)
			defer cancel()
			return make([]struct{}, len(keys)), d.config.Bus.Publish(ctx, Topic, keys)
		}, batch.Options{MaxParallel: 1, SlowAfter: batch.NeverSlow}),
	}
}

// limited runs a query within its time and hands every request its lease, nil for
// an endpoint that was not found or is locked.
func (d *Dispatcher) limited(
	query func(context.Context, []domain.FetchRequest) ([]domain.EndpointLease, error),
) func(context.Context, []domain.FetchRequest) ([]*domain.EndpointLease, error) {
	return func(_ context.Context, requests []domain.FetchRequest) ([]*domain.EndpointLease, error) {
		ctx, cancel := context.WithTimeout(d.life.work, queryTimeout)
		defer cancel()
		leases, err := query(ctx, requests)
		found := make(map[domain.EndpointKey]*domain.EndpointLease, len(leases))
		for i := range leases {
			found[leases[i].Endpoint.Key()] = &leases[i]
		}
		out := make([]*domain.EndpointLease, len(requests))
		for i, r := range requests {
			out[i] = found[r.Key]
		}
		return out, err
	}
}

func (d *Dispatcher) fetch(claims bool, request domain.FetchRequest) (*domain.EndpointLease, error) {
	if claims {
		return d.batchers.claims.Do(d.life.work, request)
	}
	return d.batchers.fetches.Do(d.life.work, request)
}

// record writes a result, whatever it takes: while the database can't be reached
// it tries again. Of a result that the database refuses only the verdict is kept.
func (d *Dispatcher) record(result domain.DeliveryResult) recordedResult {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		recorded, err := d.batchers.results.Do(d.life.work, result)
		if err == nil || d.life.work.Err() != nil {
			return recorded
		}
		d.logError("record a result", err)
		if domain.CodeOf(err) != domain.CodeUnavailable && !errors.Is(err, context.DeadlineExceeded) {
			if result.Attempt.URL == "" {
				return recordedResult{} // even the verdict was refused
			}
			result.Attempt = withoutLog(result.Attempt)
			continue
		}
		select {
		case <-d.life.work.Done():
		case <-time.After(wait):
		}
	}
}

// withoutLog keeps only what the delivery's state depends on.
func withoutLog(a domain.Attempt) domain.Attempt {
	a.RequestHeaders, a.ResponseHeaders, a.ResponseBody = nil, nil, nil
	a.URL, a.Error = "", "The log of this attempt could not be kept."
	return a
}

// recordBatch writes results in one transaction. If the database refuses them,
// each is written alone, so that the one at fault keeps no other back.
func (d *Dispatcher) recordBatch(_ context.Context, results []domain.DeliveryResult) ([]recordedResult, error) {
	ctx, cancel := context.WithTimeout(d.life.work, queryTimeout)
	defer cancel()
	recorded, err := d.config.Queue.RecordResults(ctx, results)
	if err != nil {
		if len(results) > 1 && ctx.Err() == nil && domain.CodeOf(err) != domain.CodeUnavailable {
			return nil, batch.ErrSplit
		}
		return nil, err
	}
	byID := make(map[string]domain.RecordedDelivery, len(recorded.Deliveries))
	for _, r := range recorded.Deliveries {
		byID[r.ID] = r
	}
	isDisabled := make(map[domain.EndpointKey]bool, len(recorded.Disabled))
	for _, key := range recorded.Disabled {
		isDisabled[key] = true
	}
	out := make([]recordedResult, len(results))
	for i, r := range results {
		out[i] = recordedResult{byID[r.Delivery.ID], isDisabled[r.Endpoint]}
	}
	return out, nil
}
