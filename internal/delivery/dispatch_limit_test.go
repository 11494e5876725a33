package delivery

import (
	"net/http"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// An endpoint that is disabled while it waits for a slot does not get it later.
func TestEndpointDisabledWhileItWaitsKeepsNoSlot(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		release := make(chan struct{})
		to.answer = func(http.ResponseWriter, int) { <-release }
		r := newFixture(t, s, func(c *DispatcherConfig) {
			c.Limits, c.Lease = Limits{PerEndpoint: 1, PerCompany: 1, Total: 1}, shortLease // all reserves together may double the total
		}).start()
		for range 2 {
			r.addEndpoint(to.URL)
		}
		r.hire("e", 1)
		for range 2 {
			receive(t, to.arrivals)
		}
		third := r.addEndpoint(to.URL)
		r.hire("f", 1)
		waitUntil(t, func() bool {
			q := r.queueOf(third)
			r.d.limiter.mu.Lock()
			defer r.d.limiter.mu.Unlock()
			return q != nil && q.slots.isWaiting
		})
		if _, err := s.DisableEndpoint(t.Context(), r.c, third.ID); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, func() bool { return r.queueOf(third) == nil })
		close(release)
		r.recorded(4)
		waitUntil(t, func() bool {
			r.d.limiter.mu.Lock()
			defer r.d.limiter.mu.Unlock()
			return r.d.limiter.total == 0
		})
	})
}

func (r *fixture) queueOf(e domain.Endpoint) *endpointQueue {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	return r.d.queues[e.Key()]
}

func waitUntil(t *testing.T, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.After(patience)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it did not happen in time")
		}
	}
}
