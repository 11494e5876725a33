package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// failing is a queue that records results only if its test allows it.
type failing struct {
	*watched
	refuse func(results []domain.DeliveryResult) error
}

func (f *failing) RecordResults(ctx context.Context, results []domain.DeliveryResult) (domain.Recorded, error) {
	if err := f.refuse(results); err != nil {
		return domain.Recorded{}, err
	}
	return f.watched.RecordResults(ctx, results)
}

func TestResultsOutlastAnOutage(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		var tries atomic.Int64
		r := newFixture(t, s, func(c *DispatcherConfig) {
			c.Queue = &failing{c.Queue.(*watched), func([]domain.DeliveryResult) error {
				if tries.Add(1) < 3 {
					return domain.Errorf(domain.CodeUnavailable, "away")
				}
				return nil
			}}
		}).start()
		r.addEndpoint(to.URL)
		r.hire("e", 1)
		got := receive(t, to.arrivals)
		r.recorded(1)
		if d := r.delivery(got.id()); d.State != domain.DeliveryDelivered || len(d.Tries) != 1 {
			t.Errorf("after the outage: %+v", d)
		}
	})
}

func TestResultThatCanNotBeWrittenKeepsNoOtherBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		bad := ""
		r := newFixture(t, s, func(c *DispatcherConfig) {
			c.Queue = &failing{c.Queue.(*watched), func(results []domain.DeliveryResult) error {
				for _, r := range results {
					if r.Delivery.ID == bad && len(r.Attempt.RequestHeaders) > 0 {
						return errors.New("a value that the database does not take")
					}
				}
				return nil
			}}
		})
		r.addEndpoint(to.URL)
		r.hire("e", 8)
		page, err := s.Deliveries(t.Context(), r.c.Company.ID, domain.DeliveryFilter{}, nil, 10)
		if err != nil {
			t.Fatal(err)
		}
		bad = page.Items[3].ID
		r.start()
		r.recorded(8)
		for _, item := range page.Items {
			d := r.delivery(item.ID)
			if d.State != domain.DeliveryDelivered || len(d.Tries) != 1 || (len(d.Tries[0].RequestHeaders) == 0) != (d.ID == bad) {
				t.Errorf("delivery %s, the bad one being %s: %+v", d.ID, bad, d.Tries)
			}
		}
	})
}

// The database accepts nothing about one delivery. It is not sent again and again.
func TestDeliveryWhoseResultIsRefusedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		var bad string
		var tries atomic.Int64
		r := newFixture(t, s, func(c *DispatcherConfig) {
			c.Poll = 5 * time.Millisecond
			c.Queue = &failing{c.Queue.(*watched), func(results []domain.DeliveryResult) error {
				for _, r := range results {
					if r.Delivery.ID == bad {
						tries.Add(1)
						return errors.New("a value that the database does not take")
					}
				}
				return nil
			}}
		})
		r.addEndpoint(to.URL)
		r.hire("e", 2)
		page, err := s.Deliveries(t.Context(), r.c.Company.ID, domain.DeliveryFilter{}, nil, 10)
		if err != nil {
			t.Fatal(err)
		}
		bad = page.Items[0].ID
		r.start()
		waitUntil(t, func() bool { return tries.Load() >= 5 })
		r.hire("f", 1) // others are sent
		r.recorded(2)
		if n := len(to.arrivals); n != 3 {
			t.Errorf("three deliveries were sent %d times", n)
		}
		if err := r.d.Stop(t.Context()); err != nil { // it does not wait for the result
			t.Fatal(err)
		}
	})
}

// A delivery counts as failed once that is in the database.
func TestFailuresAreCountedAsRecorded(t *testing.T) {
	t.Parallel()
	for refused, want := range map[bool]float64{true: 0, false: 1} {
		t.Run(fmt.Sprintf("refused=%t", refused), func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, s *store.Store) {
				to := newWebhookReceiver(t, statuses(500))
				registry := prometheus.NewRegistry()
				metrics, err := NewMetrics(registry)
				if err != nil {
					t.Fatal(err)
				}
				var tries atomic.Int64
				r := newFixture(t, s, func(c *DispatcherConfig) {
					c.Metrics, c.Schedule = metrics, Schedule{}
					c.Queue = &failing{c.Queue.(*watched), func([]domain.DeliveryResult) error {
						if tries.Add(1); refused {
							return errors.New("a value that the database does not take")
						}
						return nil
					}}
				}).start()
				r.addEndpoint(to.URL)
				r.hire("e", 1)
				waitUntil(t, func() bool { return tries.Load() >= 2 || !refused && tries.Load() == 1 }) // with the log and without
				if err := r.d.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := figures(t, registry)["coursebridge_webhook_failed_deliveries_total"]; got != want {
					t.Errorf("%v failures are counted, want %v", got, want)
				}
			})
		})
	}
}

// lockedSecrets can not decrypt anything.
type lockedSecrets struct{}

func (lockedSecrets) Open(string, []byte) ([]byte, error) { return nil, errors.New("another key") }

func TestNothingIsSentUnsigned(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		r := newFixture(t, s, func(c *DispatcherConfig) { c.Secrets = lockedSecrets{} }).start()
		r.addEndpoint(to.URL)
		r.hire("e", 1)
		got := r.recorded(1)[0].Attempt
		if got.ErrorKind != string(KindInternal) || !strings.Contains(got.Error, "tell the operator") || got.StartedAt.IsZero() || len(to.arrivals) > 0 {
			t.Errorf("%d requests arrived, recorded %+v", len(to.arrivals), got)
		}
	})
}
