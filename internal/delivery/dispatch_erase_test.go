package delivery

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// newHangingReceiver answers nothing; it reports requests that begin and that are
// cut short.
func newHangingReceiver(t *testing.T) (url string, began, cut chan struct{}) {
	began, cut = make(chan struct{}, 10), make(chan struct{}, 10)
	to := newReceiver(t, func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		began <- struct{}{}
		<-req.Context().Done()
		cut <- struct{}{}
	})
	return to.URL, began, cut
}

func (r *attemptRegistry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.running)
}

// Erasing a person ends what is under way about them before it answers.
func TestErasureCutsShortWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		url, began, cut := newHangingReceiver(t)
		r := newFixture(t, s).start()
		s.OnErased(r.d.StopSending)
		r.hook(url)
		r.hire("e", 1)
		receive(t, began)
		if err := s.DeleteEmployee(t.Context(), r.c, "e0"); err != nil {
			t.Fatal(err)
		}
		if n := r.d.attempts.count(); n != 0 {
			t.Errorf("the erasure answered while %d attempts were under way", n)
		}
		receive(t, cut)
	})
}

// The attempt is another replica's: it is asked to stop and answers.
func TestErasureCutsShortAnotherReplicasAttempt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		url, began, cut := newHangingReceiver(t)
		sending := newFixture(t, s).start()
		erasing := sending.replica().start()
		sending.hook(url)
		sending.hire("e", 1)
		receive(t, began)
		first, second := sending.d, erasing.d
		if second.attempts.count() > 0 {
			first, second = second, first // the poll of the other one was faster
		}
		s.OnErased(second.StopSending)
		asked := time.Now()
		if err := s.DeleteEmployee(t.Context(), sending.c, "e0"); err != nil {
			t.Fatal(err)
		}
		running := first.attempts.count()
		if took := time.Since(asked); running != 0 || took > keepQueued+maxTurnWait+DefaultTimeout {
			t.Errorf("the erasure answered after %s while %d attempts were under way", took, running)
		}
		receive(t, cut)
	})
}

// The erasing process sends no webhooks itself (--no-webhooks). It still has the
// replica that does stop.
func TestErasureByAProcessThatSendsNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		url, began, cut := newHangingReceiver(t)
		sending := newFixture(t, s).start()
		quiet := NewCanceller(sending.replica().config.CancellerConfig)
		go quiet.Listen(t.Context())
		s.OnErased(quiet.StopSending)
		sending.hook(url)
		sending.hire("e", 1)
		receive(t, began)
		if err := s.DeleteEmployee(t.Context(), sending.c, "e0"); err != nil {
			t.Fatal(err)
		}
		if n := sending.d.attempts.count(); n != 0 {
			t.Errorf("the erasure answered while %d attempts were under way", n)
		}
		receive(t, cut)
	})
}

// forgetfulBus loses the first request to stop sending, as a replica does that is
// connecting.
type forgetfulBus struct {
	Bus
	lost atomic.Bool
}

func (b *forgetfulBus) Publish(ctx context.Context, topic string, keys []string) error {
	if strings.HasPrefix(keys[0], eraseMark) && b.lost.CompareAndSwap(false, true) {
		return nil
	}
	return b.Bus.Publish(ctx, topic, keys)
}

// A request to stop sending that is lost is repeated, long before the attempt would time
// out.
func TestLostRequestOfAnErasureIsRepeated(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		url, began, cut := newHangingReceiver(t)
		sending := newFixture(t, s).start()
		config := sending.replica().config.CancellerConfig
		bus := &forgetfulBus{Bus: config.Bus}
		config.Bus = bus
		quiet := NewCanceller(config)
		go quiet.Listen(t.Context())
		s.OnErased(quiet.StopSending)
		sending.hook(url)
		sending.hire("e", 1)
		receive(t, began)
		asked := time.Now()
		if err := s.DeleteEmployee(t.Context(), sending.c, "e0"); err != nil {
			t.Fatal(err)
		}
		if n := sending.d.attempts.count(); n != 0 || !bus.lost.Load() {
			t.Errorf("%d attempts were under way when the erasure answered; the first request was lost: %t", n, bus.lost.Load())
		}
		if took := time.Since(asked); took >= DefaultTimeout {
			t.Errorf("the erasure took %s, as long as an attempt may", took)
		}
		receive(t, cut)
	})
}

// ownerlessQueue does not know who holds leases, as while the database is away.
type ownerlessQueue struct{ Queue }

func (ownerlessQueue) LeaseOwners(context.Context, int64, time.Duration) ([]string, error) {
	return nil, errors.New("the database is away")
}

// After the erasure was committed, the database can't be asked which replicas may
// be sending: the erasure waits until none can be, and has not failed.
func TestErasureWaitsIfTheReplicasAreUnknown(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		url, began, _ := newHangingReceiver(t)
		sending := newFixture(t, s)
		sending.config.AttemptTimeout = 100 * time.Millisecond
		sending.start()
		config := sending.replica().config.CancellerConfig
		config.AttemptTimeout, config.Queue = 100*time.Millisecond, ownerlessQueue{config.Queue}
		quiet := NewCanceller(config)
		go quiet.Listen(t.Context())
		s.OnErased(quiet.StopSending)
		sending.hook(url)
		sending.hire("e", 1)
		receive(t, began)
		asked := time.Now()
		if err := s.DeleteEmployee(t.Context(), sending.c, "e0"); err != nil {
			t.Error(err)
		}
		if took := time.Since(asked); took < quiet.maxTimeToSend() {
			t.Errorf("the erasure was answered after %s, when another replica could still be sending", took)
		}
		if n := sending.d.attempts.count(); n != 0 {
			t.Errorf("the erasure answered while %d attempts were under way", n)
		}
	})
}
