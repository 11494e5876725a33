package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// recordedResult is what the queue made of one result. The zero value says that
// the delivery has changed meanwhile.
type recordedResult struct {
	domain.RecordedDelivery
	isDisabled bool // the result disabled the endpoint
}

// record writes a result, whatever it takes: while the database can't be reached
// it tries again. Of a result that the database refuses only the verdict is kept.
func (d *Dispatcher) record(result domain.DeliveryResult) recordedResult {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		recorded, err := d.results.Do(d.life.work, result)
		if err == nil || d.life.work.Err() != nil {
			return recorded
		}
		d.logError("record a result", err)
		if domain.CodeOf(err) != domain.CodeUnavailable && !errors.Is(err, context.DeadlineExceeded) {
			if result.Attempt.URL == "" {
				return recordedResult{} // even the verdict was refused
			}
			a := &result.Attempt
			a.RequestHeaders, a.ResponseHeaders, a.ResponseBody = nil, nil, nil
			a.URL, a.Error = "", "The log of this attempt could not be kept."
			continue
		}
		select {
		case <-d.life.work.Done():
		case <-time.After(wait):
		}
	}
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
	out := make([]recordedResult, len(results))
	for i, r := range results {
		out[i] = recordedResult{byID[r.Delivery.ID], slices.Contains(recorded.Disabled, r.Endpoint)}
	}
	return out, nil
}
