package delivery

import (
	"context"
	"io"
	"net/http"
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
		quiet := sending.replica().d
		quiet.Listen()
		t.Cleanup(func() { _ = quiet.Stop(context.Background()) })
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
