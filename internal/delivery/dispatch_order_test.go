package delivery

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// slowReceiver is an Attempter whose requests have been written when the test calls Written,
// and are answered at its end.
type slowReceiver struct {
	begun chan Request
	ended chan struct{}
}

func newSlowReceiver(t *testing.T) *slowReceiver {
	s := &slowReceiver{begun: make(chan Request), ended: make(chan struct{})}
	t.Cleanup(func() { close(s.ended) })
	return s
}

func (s *slowReceiver) Send(ctx context.Context, r Request) Outcome {
	select {
	case s.begun <- r:
	case <-s.ended:
	}
	select {
	case <-ctx.Done():
	case <-s.ended:
	}
	return Outcome{StatusCode: http.StatusOK}
}

func (s *slowReceiver) wants(t *testing.T, i int) Request {
	t.Helper()
	got := receive(t, s.begun)
	if want := `"externalId":"e` + strconv.Itoa(i) + `"`; !strings.Contains(string(got.Body), want) {
		t.Fatalf("request %d is %s", i, got.Body)
	}
	return got
}

// Several requests are under way to one endpoint, but each begins once the one
// before it has been written.
func TestRequestsAreSentInTurn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newSlowReceiver(t)
		r := newFixture(t, s, func(c *DispatcherConfig) { c.Sender = to })
		r.addEndpoint("https://receiver.example")
		r.hire("e", firstWindow)
		r.start()
		for i := range firstWindow {
			got := to.wants(t, i)
			select {
			case early := <-to.begun:
				t.Fatalf("%s begins before request %d has been written", early.Body, i)
			default:
			}
			got.Written()
		}
	})
}

func TestRequestThatIsStuckIsPassed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		to := newSlowReceiver(t)
		r := newFixture(t, s, func(c *DispatcherConfig) { c.Sender = to })
		r.addEndpoint("https://receiver.example")
		r.hire("e", 2)
		r.start()
		to.wants(t, 0)
		to.wants(t, 1)
	})
}

func TestRequestIsWrittenBeforeItIsAnswered(t *testing.T) {
	t.Parallel()
	written := make(chan struct{})
	to := newWebhookReceiver(t, func(w http.ResponseWriter, _ int) {
		<-written
		w.WriteHeader(http.StatusNoContent)
	})
	out := newSender(t, Config{Guard: local}).Send(t.Context(), Request{
		URL: to.URL, DeliveryID: "d", Event: "test", Attempt: 1, Secret: parseSecret("whsec_c2VjcmV0"), Written: func() { close(written) },
	})
	if out.StatusCode != http.StatusNoContent {
		t.Errorf("outcome: %+v", out)
	}
}
