package delivery

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// bare is a vault that seals nothing.
type bare struct{}

func (bare) Open(_ string, sealed []byte) ([]byte, error) { return sealed, nil }

// watched is a queue that reports what is recorded.
type watched struct {
	*store.Store
	recorded  chan domain.DeliveryResult
	isReplica bool // it is not alone, whatever the engine
}

func (w *watched) ReclaimEndpoints(ctx context.Context) error {
	if w.isReplica {
		return nil
	}
	return w.Store.ReclaimEndpoints(ctx)
}

func (w *watched) RecordResults(ctx context.Context, results []domain.DeliveryResult) (domain.Recorded, error) {
	out, err := w.Store.RecordResults(ctx, results)
	if err == nil {
		for _, r := range results {
			w.recorded <- r
		}
	}
	return out, err
}

// fixture is a company with a dispatcher that sends its events.
type fixture struct {
	t      testing.TB
	s      *store.Store
	c      domain.Caller
	config DispatcherConfig
	queue  *watched
	d      *Dispatcher
}

// newFixture sets a dispatcher up but does not start it. It never polls, so that
// every test whose subject is not the poll shows that wake-ups do.
func newFixture(t testing.TB, s *store.Store, change ...func(*DispatcherConfig)) *fixture {
	t.Helper()
	queue := &watched{Store: s, recorded: make(chan domain.DeliveryResult, 100_000)}
	r := &fixture{t: t, s: s, c: storetest.Company(t, s, t.Name()), queue: queue}
	r.config = DispatcherConfig{
		CancellerConfig: CancellerConfig{Queue: queue, Bus: s.Engine(), Log: slog.New(slog.DiscardHandler)},
		Secrets:         bare{}, Sender: newSender(t, Config{Guard: local}),
		Schedule: Schedule{time.Millisecond, 2 * time.Millisecond}, Poll: time.Hour,
	}
	for _, c := range change {
		c(&r.config)
	}
	r.d = NewDispatcher(r.config)
	s.OnDeliveries(r.d.Wake)
	return r
}

func (r *fixture) start() *fixture {
	r.t.Helper()
	if err := r.d.Start(r.t.Context()); err != nil {
		r.t.Fatalf("start: %v", err)
	}
	r.t.Cleanup(r.stop)
	return r
}

// stop cuts short what is under way.
func (r *fixture) stop() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.d.Stop(ctx); err != nil {
		r.t.Errorf("stop: %v", err)
	}
}

// replica is a second dispatcher next to the first one, for the same company.
func (r *fixture) replica() *fixture {
	config := r.config
	config.Queue = &watched{Store: r.s, recorded: r.queue.recorded, isReplica: true}
	return &fixture{t: r.t, s: r.s, c: r.c, config: config, queue: r.queue, d: NewDispatcher(config)}
}

// restarted is the dispatcher of the process that follows one that died.
func (r *fixture) restarted() *fixture {
	config := r.config
	return &fixture{t: r.t, s: r.s, c: r.c, config: config, queue: r.queue, d: NewDispatcher(config)}
}

// addEndpoint subscribes a URL of the company to new employees.
func (r *fixture) addEndpoint(url string) domain.Endpoint {
	r.t.Helper()
	return addEndpointFor(r.t, r.s, r.c, url)
}

func addEndpointFor(t testing.TB, s *store.Store, c domain.Caller, url string) domain.Endpoint {
	t.Helper()
	in := domain.EndpointInput{URL: url, Events: []domain.EventKind{domain.EventEmployeeJoined}}
	e, err := s.AddEndpoint(t.Context(), c, in, domain.SealedSecret(NewSecret()))
	if err != nil {
		t.Fatalf("add an endpoint: %v", err)
	}
	return e
}

// hire makes n events, one transaction each.
func (r *fixture) hire(prefix string, n int) { hireAt(r.t, r.s, r.c, prefix, n) }

func hireAt(t testing.TB, s *store.Store, c domain.Caller, prefix string, n int) {
	t.Helper()
	for i := range n {
		id := fmt.Sprintf("%s%d", prefix, i)
		_, _, err := s.Provision(t.Context(), c, domain.Provision{ExternalID: id, Email: id + "@x.test", Name: id})
		if err != nil {
			t.Fatalf("provision: %v", err)
		}
	}
}

// recorded waits for n results.
func (r *fixture) recorded(n int) []domain.DeliveryResult {
	r.t.Helper()
	out := make([]domain.DeliveryResult, n)
	for i := range out {
		out[i] = receive(r.t, r.queue.recorded)
	}
	return out
}

func (r *fixture) delivery(id string) domain.DeliveryDetail {
	r.t.Helper()
	d, err := r.s.Delivery(r.t.Context(), r.c.Company.ID, id)
	if err != nil {
		r.t.Fatalf("delivery: %v", err)
	}
	return d
}

func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came in time")
		panic("unreachable")
	}
}

// arrival is a request as a receiver saw it.
type arrival struct {
	header http.Header
	body   string
}

func (a arrival) id() string { return a.header.Get(HeaderDelivery) }

// receiver keeps what arrives and answers as it is told.
type receiver struct {
	*httptest.Server
	arrivals chan arrival
	mu       sync.Mutex
	answer   func(w http.ResponseWriter, n int) // n counts arrivals from 1
	n        int
}

func newWebhookReceiver(t testing.TB, answer func(w http.ResponseWriter, n int)) *receiver {
	t.Helper()
	r := &receiver{arrivals: make(chan arrival, 100_000), answer: answer}
	r.Server = newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.n++
		n := r.n
		r.arrivals <- arrival{req.Header, string(body)}
		r.mu.Unlock()
		if r.answer != nil {
			r.answer(w, n)
		}
	})
	return r
}

// statuses answers with each status in turn, and then with the last.
func statuses(codes ...int) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, n int) { w.WriteHeader(codes[min(n, len(codes))-1]) }
}

// hang answers nothing until the test ends.
func hang(t testing.TB) func(http.ResponseWriter, int) {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return func(http.ResponseWriter, int) { <-end }
}
