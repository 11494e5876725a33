package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// resultBatcher writes results together.
type resultBatcher = batch.Batcher[*domain.DeliveryResult, recordedResult]

// recordedResult is what the queue made of one result. The zero value: nothing was
// recorded, because the delivery changed, the attempt was aborted, the database refused
// the result or the process stops.
type recordedResult struct {
	domain.RecordedDelivery
	isDisabled bool // the result disabled the endpoint
}

// How long a result waits before it is recorded again: ever longer, up to these times.
const (
	maxUnavailableWait = 2 * time.Second  // while the database can't be reached
	maxRefusedWait     = 10 * time.Minute // of a result that the database refuses
)

// record writes a result. While the database can't be reached it tries again. If the
// database refuses a result, it is recorded without the log of the attempt; if that is
// refused too, it is tried again more and more rarely until the process stops. Meanwhile
// the delivery counts as under way, so that it is not sent again.
func (d *Dispatcher) record(results *resultBatcher, result *domain.DeliveryResult) recordedResult {
	isStripped := !result.HasAttempt() // then there is no log
	maxWait := maxUnavailableWait
	var giveUp <-chan struct{}
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, maxWait) {
		recorded, err := results.Do(d.life.mayWork, result)
		if err == nil && result.HasAttempt() && result.State == domain.DeliveryFailed && recorded.State == domain.DeliveryFailed {
			d.config.Metrics.failed()
		}
		if err == nil || d.life.mayWork.Err() != nil {
			return recorded
		}
		d.logError(d.life.mayWork, "record a result", err)
		if isRefused(err) {
			if !isStripped {
				isStripped = true
				stripLog(&result.Attempt)
				continue
			}
			maxWait, giveUp = maxRefusedWait, d.life.mayStart.Done()
		}
		select {
		case <-giveUp:
			return recordedResult{}
		case <-d.life.mayWork.Done():
		case <-time.After(wait):
		}
	}
}

// stripLog removes what the database may have refused from an attempt.
func stripLog(a *domain.Attempt) {
	a.RequestHeaders, a.ResponseHeaders, a.ResponseBody = nil, nil, nil
	a.URL, a.Error = "", "The log of this attempt could not be kept."
}

// isRefused reports whether the database was reached but did not take a statement.
func isRefused(err error) bool {
	return domain.CodeOf(err) != domain.CodeUnavailable && !errors.Is(err, context.DeadlineExceeded)
}

// recordBatch writes results in one transaction. If the database refuses them, each is
// written alone, a few at a time, so that the one at fault keeps no other back.
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
