package delivery

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestEventsAreDelivered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		r := newFixture(t, s).start()
		r.addEndpoint(to.URL)
		for _, name := range []string{"a", "b", "c"} {
			r.hire(name, 1)
			got := receive(t, to.arrivals)
			if !strings.Contains(got.body, `"externalId":"`+name+`0"`) || got.header.Get(HeaderEvent) != "employee.joined" ||
				got.header.Get(HeaderAttempt) != "1" || !strings.HasPrefix(got.header.Get(HeaderSignature), "sha256=") {
				t.Errorf("arrived %+v", got)
			}
			r.recorded(1)
			d := r.delivery(got.id())
			if d.State != domain.DeliveryDelivered || string(d.Body) != got.body || len(d.Tries) != 1 || d.Tries[0].StatusCode != http.StatusOK {
				t.Errorf("kept %+v", d)
			}
		}
	})
}

func TestDeliveriesStartInOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		r := newFixture(t, s, func(c *DispatcherConfig) { c.Limits.PerEndpoint = 1 })
		r.addEndpoint(to.URL)
		const n = 150 // several fetches
		r.hire("e", n)
		r.start()
		for i := range n {
			got := receive(t, to.arrivals)
			if want := `"externalId":"e` + strconv.Itoa(i) + `"`; !strings.Contains(got.body, want) {
				t.Fatalf("arrival %d is %s", i, got.body)
			}
		}
	})
}

// An endpoint with a rate of its own gets its requests at equal distances, also those
// that were waiting; others are not kept back.
func TestEndpointRateIsRespected(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		slow, quick := newWebhookReceiver(t, nil), newWebhookReceiver(t, nil)
		r := newFixture(t, s)
		in := domain.EndpointInput{URL: slow.URL, Events: []domain.EventKind{domain.EventEmployeeJoined}, RatePerMinute: 240}
		if _, err := s.AddEndpoint(t.Context(), r.c, in, domain.SealedSecret(NewSecret())); err != nil {
			t.Fatal(err)
		}
		r.addEndpoint(quick.URL)
		const n = 5
		r.hire("e", n)
		began := time.Now()
		r.start()
		for range n {
			receive(t, quick.arrivals)
		}
		for range n {
			receive(t, slow.arrivals)
		}
		if took, want := time.Since(began), (n-1)*time.Minute/240; took < want {
			t.Errorf("%d requests took %v, want %v or more", n, took, want)
		}
	})
}

func TestFailedAttemptsAreRepeated(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, statuses(500, 404, 200))
		r := newFixture(t, s).start()
		r.addEndpoint(to.URL)
		r.hire("e", 1)
		first := receive(t, to.arrivals)
		for _, number := range []string{"2", "3"} {
			next := receive(t, to.arrivals)
			if next.id() != first.id() || next.body != first.body || next.header.Get(HeaderAttempt) != number {
				t.Errorf("attempt %s: %+v", number, next)
			}
		}
		r.recorded(3)
		d := r.delivery(first.id())
		var codes []int
		for _, a := range d.Tries {
			codes = append(codes, a.StatusCode)
		}
		if diff := cmp.Diff([]int{500, 404, 200}, codes); diff != "" || d.State != domain.DeliveryDelivered {
			t.Errorf("state %s, codes (- want):\n%s", d.State, diff)
		}
	})
}

func TestDeliveryFailsAfterTheLastAttemptAndCanBeSentAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, statuses(500, 500, 500, 503, 200))
		r := newFixture(t, s).start()
		r.addEndpoint(to.URL)
		r.hire("e", 1)
		results := r.recorded(3)
		id := results[2].Delivery.ID
		if d := r.delivery(id); d.State != domain.DeliveryFailed || d.Attempts != 3 {
			t.Fatalf("after three attempts: %+v", d.Delivery)
		}
		if err := s.Redeliver(t.Context(), r.c, id); err != nil {
			t.Fatal(err)
		}
		r.recorded(2) // a new round begins with the first wait
		d := r.delivery(id)
		if d.State != domain.DeliveryDelivered || d.Attempts != 5 {
			t.Errorf("sent again: %+v", d.Delivery)
		}
		for i, a := range d.Tries {
			if asked := i >= 3; (a.RequestedBy == "test") != asked || a.DeliveryID != id {
				t.Errorf("attempt %d was asked for by %q", a.Number, a.RequestedBy)
			}
		}
	})
}

func TestStalledReceiverHoldsUpNobody(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		stalled, prompt := newWebhookReceiver(t, nil), newWebhookReceiver(t, nil)
		stalled.answer = hang(t)
		// So tight that the hanging receivers alone fill it.
		r := newFixture(t, s, func(c *DispatcherConfig) { c.Limits = Limits{PerEndpoint: 8, PerCompany: 8, Total: 12} }).start()
		for range 3 {
			r.addEndpoint(stalled.URL)
		}
		neighbour := storetest.Company(t, s, "neighbour")
		r.hire("stall", 20)
		for range 3 * firstWindow {
			receive(t, stalled.arrivals)
		}
		r.addEndpoint(prompt.URL)
		addEndpointFor(t, s, neighbour, prompt.URL)
		r.hire("same", 3)
		hireAt(t, s, neighbour, "other", 3)
		for range 6 {
			receive(t, prompt.arrivals)
		}
	})
}

func TestGoneDisablesAndHolds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, statuses(http.StatusGone))
		parked := make(chan int, 10)
		r := newFixture(t, s, func(c *DispatcherConfig) {
			c.Limits.PerEndpoint = 1
			c.Queue = &parking{c.Queue.(*watched), parked}
		})
		e := r.addEndpoint(to.URL)
		r.hire("e", 5)
		r.start()
		if n := receive(t, parked); n != 5 {
			t.Errorf("held %d, want 5", n)
		}
		e, err := s.Endpoint(t.Context(), r.c.Company.ID, e.ID)
		if err != nil || e.Enabled() || e.DisabledReason != domain.DisabledByGone {
			t.Errorf("endpoint %+v, %v", e, err)
		}
		r.hire("later", 1)
		page, err := s.Deliveries(t.Context(), r.c.Company.ID, domain.DeliveryFilter{State: domain.DeliveryHeld}, nil, 10)
		if err != nil || len(page.Items) != 6 {
			t.Errorf("%d are held, %v; want 6", len(page.Items), err)
		}
	})
}

func TestDisabledEndpointGetsNothingMore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		release := make(chan struct{})
		to.answer = func(http.ResponseWriter, int) { <-release }
		parked := make(chan int, 10)
		r := newFixture(t, s, func(c *DispatcherConfig) {
			c.Limits.PerEndpoint = 1
			c.Queue = &parking{c.Queue.(*watched), parked}
		}).start()
		e := r.addEndpoint(to.URL)
		r.hire("e", 4)
		first := receive(t, to.arrivals)
		if _, err := s.DisableEndpoint(t.Context(), r.c, e.ID); err != nil {
			t.Fatal(err)
		}
		if n := receive(t, parked); n != 4 {
			t.Errorf("held %d, want 4", n)
		}
		close(release)
		r.recorded(1)
		page, err := s.Deliveries(t.Context(), r.c.Company.ID, domain.DeliveryFilter{State: domain.DeliveryHeld}, nil, 10)
		if err != nil || len(page.Items) != 3 || len(to.arrivals) != 0 {
			t.Errorf("%d are held and %d more were sent, %v; want 3 and none", len(page.Items), len(to.arrivals), err)
		}
		if d := r.delivery(first.id()); d.State != domain.DeliveryDelivered {
			t.Errorf("what was under way is %s", d.State)
		}
	})
}

// parking returns how many deliveries are put aside.
type parking struct {
	*watched
	parked chan int
}

func (p *parking) HoldDeliveries(ctx context.Context, key domain.EndpointKey, limit int) (int, error) {
	n, err := p.watched.HoldDeliveries(ctx, key, limit)
	p.parked <- n
	return n, err
}

func TestChangesToAnEndpointTakeEffect(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		before, after := newWebhookReceiver(t, nil), newWebhookReceiver(t, nil)
		r := newFixture(t, s).start()
		e := r.addEndpoint(before.URL)
		r.hire("e", 1)
		old := receive(t, before.arrivals)
		if old.header.Get(HeaderSignaturePrevious) != "" || strings.Contains(old.header.Get(HeaderWebhookSignature), " ") {
			t.Errorf("two signatures outside a rotation: %v", old.header)
		}
		second := NewSecret()
		if _, err := s.RotateSecret(t.Context(), r.c, e.ID, domain.SecretRotation{Secret: domain.SealedSecret(second)}); err != nil {
			t.Fatal(err)
		}
		in := domain.EndpointInput{URL: after.URL, Events: e.Events}
		if _, err := s.UpdateEndpoint(t.Context(), r.c, e.ID, in); err != nil {
			t.Fatal(err)
		}
		r.hire("f", 1)
		got := receive(t, after.arrivals)
		if want := serviceSignature(got.body, second); got.header.Get(HeaderSignature) != want {
			t.Errorf("signed %s, want the new secret's %s", got.header.Get(HeaderSignature), want)
		}
		if want := serviceSignature(got.body, string(e.Secret)); got.header.Get(HeaderSignaturePrevious) != want {
			t.Errorf("previous signature %s, want %s", got.header.Get(HeaderSignaturePrevious), want)
		}
		if len(strings.Fields(got.header.Get(HeaderWebhookSignature))) != 2 {
			t.Errorf("webhook-signature %q, want two", got.header.Get(HeaderWebhookSignature))
		}
	})
}

func TestErasedEventIsNotSent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		r := newFixture(t, s)
		r.addEndpoint(to.URL)
		r.hire("e", 2)
		if err := s.DeleteEmployee(t.Context(), r.c, "e0"); err != nil {
			t.Fatal(err)
		}
		r.start()
		if got := receive(t, to.arrivals); !strings.Contains(got.body, `"e1"`) {
			t.Errorf("sent %s", got.body)
		}
	})
}

func TestPollFindsWhatNoWakeUpToldOf(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newWebhookReceiver(t, nil)
		r := newFixture(t, s, func(c *DispatcherConfig) { c.Poll = 20 * time.Millisecond })
		s.OnDeliveries(func([]domain.EndpointKey) {})
		r.start()
		r.addEndpoint(to.URL)
		r.hire("e", 2)
		for range 2 {
			receive(t, to.arrivals)
		}
	})
}
