package delivery

import (
	"context"
	"fmt"
	"testing"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// BenchmarkBatching measures what sharing statements buys in a dispatcher with 16
// busy endpoints: claiming them, reading what is due on them, which is not batched
// because it buys nothing, and recording the results of their attempts.
func BenchmarkBatching(b *testing.B) {
	const callers = 16
	eachEngine(b, func(b *testing.B, s *store.Store) {
		r := newFixture(b, s)
		var endpoints []domain.Endpoint
		for range callers {
			endpoints = append(endpoints, r.addEndpoint("https://receiver.example"))
		}
		request := func(caller int) domain.FetchRequest {
			return domain.FetchRequest{Key: endpoints[caller%callers].Key(), Limit: minFetchSize}
		}
		claim := func(b *testing.B) {
			storetest.CompareBatching(b, callers,
				func(caller int) error {
					_, err := r.d.claimBatch(b.Context(), []domain.FetchRequest{request(caller)})
					return err
				},
				func(caller int) error {
					_, err := r.d.claims.Do(b.Context(), request(caller))
					return err
				})
		}
		b.Run("claim=idle", claim)
		b.Run("notify", func(b *testing.B) {
			storetest.CompareBatching(b, callers,
				func(caller int) error {
					return Notify(b.Context(), s.Engine(), []domain.EndpointKey{request(caller).Key})
				},
				func(caller int) error {
					_, err := r.d.notices.Do(b.Context(), request(caller).Key)
					return err
				})
		})
		r.pile(callers*200, endpoints...)
		b.Run("claim=due", claim)
		b.Run("fetch", func(b *testing.B) {
			fetches := batch.New(func(ctx context.Context, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
				return s.DueDeliveries(ctx, requests)
			}, batch.Options{MaxParallel: 2, SlowAfter: batch.NeverSlow})
			storetest.CompareBatching(b, callers,
				func(caller int) error {
					_, err := r.d.fetchDue(request(caller))
					return err
				},
				func(caller int) error {
					_, err := fetches.Do(b.Context(), request(caller))
					return err
				})
		})
		for _, underWay := range []int{callers, 8 * callers} {
			b.Run(fmt.Sprintf("record/attempts=%d", underWay), func(b *testing.B) { compareRecording(b, r, underWay, request) })
		}
	})
}

// compareRecording records failed attempts, each caller those of one delivery.
func compareRecording(b *testing.B, r *fixture, callers int, request func(caller int) domain.FetchRequest) {
	items := make([]domain.DueDelivery, callers)
	for i := range items {
		got, err := r.d.fetchDue(request(i))
		if err != nil {
			b.Fatal(err)
		}
		items[i] = got.lease.Due[i/16]
	}
	next := func(caller int) domain.DeliveryResult {
		item := items[caller]
		items[caller].Attempts++
		out := Outcome{Kind: KindStatus, StatusCode: 500, StartedAt: r.s.Now(), ResponseBody: make([]byte, 500)}
		result := r.d.resultOf(request(caller).Key, &item, "https://receiver.example", &out)
		result.State, result.DueAt = domain.DeliveryPending, item.DueAt // whatever the schedule says
		return result
	}
	storetest.CompareBatching(b, callers,
		func(caller int) error {
			_, err := r.s.RecordResults(b.Context(), []domain.DeliveryResult{next(caller)})
			return err
		},
		func(caller int) error {
			_, err := r.d.results.Do(b.Context(), new(next(caller)))
			return err
		})
}
