package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// recordedResult is what the queue made of one result. The zero value: nothing was
// recorded, because the delivery changed, the attempt was aborted, the database refused
// the result or the process stops.
type recordedResult struct {
	domain.RecordedDelivery
	isDisabled bool // the result disabled the endpoint
}

// record writes a result. While the database can't be reached it tries again. If the
// database refuses a result, it is recorded without the log of the attempt; if that is
// refused too, it is given up.
func (d *Dispatcher) record(result *domain.DeliveryResult) recordedResult {
	stripped := result.Attempt.Number == 0 // then there is no log
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		recorded, err := d.results.Do(d.life.mayWork, result)
		if err == nil && result.Attempt.Number > 0 && result.State == domain.DeliveryFailed && recorded.State == domain.DeliveryFailed {
			d.config.Metrics.failed()
		}
		if err == nil || d.life.mayWork.Err() != nil {
			return recorded
		}
		d.logError(d.life.mayWork, "record a result", err)
		if isRefused(err) {
			if stripped {
				return recordedResult{}
			}
			stripped = true
			a := &result.Attempt
			a.RequestHeaders, a.ResponseHeaders, a.ResponseBody = nil, nil, nil
			a.URL, a.Error = "", "The log of this attempt could not be kept."
			continue
		}
		select {
		case <-d.life.mayWork.Done():
		case <-time.After(wait):
		}
	}
}

// isRefused reports whether the database was reached but did not take a statement.
func isRefused(err error) bool {
	return domain.CodeOf(err) != domain.CodeUnavailable && !errors.Is(err, context.DeadlineExceeded)
}

// recordBatch writes results in one transaction. If the database refuses them,
// each is written alone, so that the one at fault keeps no other back.
func (d *Dispatcher) recordBatch(_ context.Context, requests []*domain.DeliveryResult) ([]recordedResult, error) {
	ctx, cancel := d.queryContext(queryTimeout)
	defer cancel()
	results := make([]domain.DeliveryResult, len(requests))
	for i, r := range requests {
		results[i] = *r
	}
	recorded, err := d.config.Queue.RecordResults(ctx, results)
	if err != nil && len(results) > 1 && ctx.Err() == nil && isRefused(err) {
		return nil, batch.ErrSplit
	}
	if err != nil {
		return nil, err
	}
	byID := make(map[string]domain.RecordedDelivery, len(recorded.Deliveries))
	for _, r := range recorded.Deliveries {
		byID[r.ID] = r
	}
	out := make([]recordedResult, len(results))
	for i, r := range requests {
		out[i] = recordedResult{byID[r.Delivery.ID], slices.Contains(recorded.Disabled, r.Endpoint)}
	}
	return out, nil
}
