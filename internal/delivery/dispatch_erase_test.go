package delivery

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
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

// deniedQueue grants no lease any more once it is cut off, as a database that a replica
// does not reach.
type deniedQueue struct {
	*watched
	isCutOff atomic.Bool
}

func (q *deniedQueue) ClaimEndpoints(ctx context.Context, owner string, leaseTime time.Duration, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
	if q.isCutOff.Load() {
		return nil, domain.Errorf(domain.CodeUnavailable, "away")
	}
	return q.watched.ClaimEndpoints(ctx, owner, leaseTime, requests)
}

// slowBus delivers messages late.
type slowBus struct{ Bus }

func (b slowBus) Listen(ctx context.Context, topic string, fn func([]string)) error {
	return b.Bus.Listen(ctx, topic, func(messages []string) {
		if messages != nil {
			time.Sleep(300 * time.Millisecond)
		}
		fn(messages)
	})
}

// A replica does not reach the database for a while, and another one takes over while its
// attempt is under way. Both are asked to stop.
func TestErasureCutsShortTheAttemptOfAFormerOwner(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		url, began, cut := newHangingReceiver(t)
		queue := &deniedQueue{}
		former := newFixture(t, s, func(c *DispatcherConfig) {
			queue.watched = c.Queue.(*watched)
			c.Queue, c.Lease, c.Poll, c.Bus = queue, shortLease, 20*time.Millisecond, slowBus{c.Bus}
		}).start()
		former.hook(url)
		former.hire("e", 1)
		receive(t, began)
		queue.isCutOff.Store(true)
		owner := former.replica()
		owner.config.Bus = s.Engine()
		owner.d = NewDispatcher(owner.config)
		owner.start()
		receive(t, began)
		quiet := NewCanceller(owner.config.CancellerConfig)
		go quiet.Listen(t.Context())
		s.OnErased(quiet.StopSending)
		if err := s.DeleteEmployee(t.Context(), former.c, "e0"); err != nil {
			t.Fatal(err)
		}
		if a, b := former.d.attempts.count(), owner.d.attempts.count(); a+b > 0 {
			t.Errorf("the erasure answered while %d attempts of the former owner and %d of the present one were under way", a, b)
		}
		receive(t, cut)
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
