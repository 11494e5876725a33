package delivery

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// A start that is refused leaves the leases of the running dispatcher alone.
func TestDispatcherIsStartedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		r := newFixture(t, s, func(c *DispatcherConfig) { c.Lease = time.Hour }).start()
		e := r.addEndpoint(to.URL)
		r.hire("e", 1)
		receive(t, to.arrivals)
		if err := r.d.Start(t.Context()); err == nil {
			t.Error("it was started twice")
		}
		leases, err := s.ClaimEndpoints(t.Context(), "other", time.Hour, []domain.FetchRequest{{Key: e.Key(), Limit: 1}})
		if err != nil || leases[0].Owner != r.d.self {
			t.Errorf("after the second start another replica gets %+v, %v", leases, err)
		}
		r.stop()
		if err := r.d.Start(t.Context()); err == nil {
			t.Error("it was started after it had stopped")
		}
	})
}
