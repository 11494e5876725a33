package delivery

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

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
		to := newHookReceiver(t, nil)
		var tries atomic.Int64
		r := newFixture(t, s, func(c *DispatcherConfig) {
			c.Queue = &failing{c.Queue.(*watched), func([]domain.DeliveryResult) error {
				if tries.Add(1) < 3 {
					return domain.Errorf(domain.CodeUnavailable, "away")
				}
				return nil
			}}
		}).start()
		r.hook(to.URL)
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
		to := newHookReceiver(t, nil)
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
		r.hook(to.URL)
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
