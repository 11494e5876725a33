package delivery

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// kill ends a dispatcher as kill -9 would: nothing is recorded, no lease given up.
func (r *fixture) kill() {
	r.d.mu.Lock()
	r.d.life.endWorking()
	r.d.mu.Unlock()
	r.d.life.queues.Wait()
	r.d.life.background.Wait()
}

// Replicas are killed again and again next to one that lives, while the receiver
// refuses every fifth attempt: whatever was committed arrives.
func TestNothingIsLostWhenReplicasDie(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, func(w http.ResponseWriter, n int) {
			if n%5 == 0 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		r := newFixture(t, s, func(c *DispatcherConfig) {
			c.Lease, c.Poll = shortLease, 50*time.Millisecond
			c.Schedule = slices.Repeat(Schedule{time.Millisecond}, 30)
		})
		steady := r.replica().start()
		for range 3 {
			r.addEndpoint(to.URL)
		}
		const rounds, each = 6, 12
		for round := range rounds {
			mortal := r.replica()
			if err := mortal.d.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.OnDeliveries(mortal.d.Wake)
			r.hire(string(rune('a'+round)), each)
			for range each {
				receive(t, to.arrivals)
			}
			mortal.kill()
		}
		s.OnDeliveries(steady.d.Wake)
		// A replica may die after its commit and before it could tell, so the queue
		// itself is asked.
		finished := func() int {
			page, err := s.Deliveries(t.Context(), r.c.Company.ID, domain.DeliveryFilter{State: domain.DeliveryDelivered}, nil, 500)
			if err != nil {
				t.Fatal(err)
			}
			return len(page.Items)
		}
		tick, late := time.NewTicker(20*time.Millisecond), time.After(patience)
		defer tick.Stop()
		for n := finished(); n < 3*rounds*each; n = finished() {
			select {
			case <-tick.C:
			case <-late:
				t.Fatalf("%d are delivered, want %d", n, 3*rounds*each)
			}
		}
	})
}
