package delivery

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func eachEngine(b *testing.B, fn func(b *testing.B, s *store.Store)) {
	b.Helper()
	b.Run("sqlite", func(b *testing.B) { fn(b, storetest.Open(b, storetest.SQLite(b))) })
	b.Run("postgres", func(b *testing.B) {
		fn(b, storetest.Open(b, storetest.Postgres(b)))
	})
}

// queued is an event with its delivery.
type queued struct {
	company, event, endpoint int64
	id                       string
}

// pile puts n due deliveries into the queue, shared by the endpoints.
func (r *fixture) pile(n int, endpoints ...domain.Endpoint) {
	r.t.Helper()
	body := []byte(`{"event":"employee.joined","data":"` + strings.Repeat("x", 500) + `"}`)
	for first := 0; first < n; first += 1000 {
		var items []queued
		for i := first; i < min(first+1000, n); i++ {
			items = append(items, queued{r.c.Company.ID, int64(1_000_000 + i), endpoints[i%len(endpoints)].ID, uuid.Must(uuid.NewV7()).String()})
		}
		columns := db.Columns(items,
			db.IntColumn("company", func(q *queued) int64 { return q.company }), db.IntColumn("event", func(q *queued) int64 { return q.event }),
			db.IntColumn("target", func(q *queued) int64 { return q.endpoint }), db.UUIDColumn("key", func(q *queued) string { return q.id }))
		err := r.s.Engine().Write(r.t.Context(), func(tx db.Tx) error {
			rows, args := r.s.Engine().ValuesTable(3, columns...)
			b := &db.Batch{}
			b.Exec(`INSERT INTO events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)
				SELECT company, event, 'employee.joined', $1, 0, 0, '', $2 FROM `+rows+` r`, append([]any{r.s.Now(), body}, args...)...)
			rows, args = r.s.Engine().ValuesTable(2, columns...)
			b.Exec(`INSERT INTO deliveries (company_id, id, endpoint_id, event_id, kind, state, attempts, round_start, due_at,
					created_at, status_code, error_kind, requested_by)
				SELECT company, key, target, event, 'employee.joined', 'pending', 0, 0, $1, $1, 0, '', '' FROM `+rows+` r`,
				append([]any{r.s.Now()}, args...)...)
			return tx.Send(r.t.Context(), b)
		})
		if err != nil {
			r.t.Fatalf("pile up: %v", err)
		}
	}
}

// processorTime returns the processor time of this process, receivers included and
// PostgreSQL not.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// reportProcessorTime reports the processor time since before for each of b.N operations.
func reportProcessorTime(b *testing.B, before time.Duration) {
	b.Helper()
	b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/1000/float64(b.N), "processor-µs/op")
}

// BenchmarkDispatch works a pile of deliveries off, with full logging, to a
// receiver in the same process.
func BenchmarkDispatch(b *testing.B) {
	for name, endpoints := range map[string]int{"endpoints=1": 1, "endpoints=50": 50, "strict": 1} {
		b.Run(name, func(b *testing.B) {
			eachEngine(b, func(b *testing.B, s *store.Store) {
				to := newWebhookReceiver(b, nil)
				r := newFixture(b, s)
				var list []domain.Endpoint
				for range endpoints {
					list = append(list, r.addEndpoint(to.URL))
				}
				if name == "strict" {
					in := domain.EndpointInput{URL: to.URL, Events: []domain.EventKind{domain.EventEmployeeJoined}, StrictOrder: true}
					if _, err := s.UpdateEndpoint(b.Context(), r.c, list[0].ID, in); err != nil {
						b.Fatal(err)
					}
				}
				r.pile(b.N, list...)
				b.ResetTimer()
				before := processorTime(b)
				r.start()
				r.recorded(b.N)
				reportProcessorTime(b, before)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
			})
		})
	}
}

// BenchmarkLatency measures from the start of a change to the arrival of its
// event, at 200 changes a second, alone and behind a pile that stalls.
func BenchmarkLatency(b *testing.B) {
	for _, stalled := range []int{0, 5000} {
		b.Run(fmt.Sprintf("stalled=%d", stalled), func(b *testing.B) {
			eachEngine(b, func(b *testing.B, s *store.Store) {
				to, dead := newWebhookReceiver(b, nil), newWebhookReceiver(b, nil)
				dead.answer = hang(b)
				r := newFixture(b, s)
				if stalled > 0 {
					other := &fixture{t: b, s: s, c: storetest.Company(b, s, "stalled")}
					other.pile(stalled, other.addEndpoint(dead.URL))
				}
				r.start()
				r.addEndpoint(to.URL)
				r.hire("warm", 1)
				receive(b, to.arrivals)
				took := make([]time.Duration, b.N)
				tick := time.NewTicker(time.Second / 200)
				defer tick.Stop()
				b.ResetTimer()
				before := processorTime(b)
				for i := range took {
					<-tick.C
					began := time.Now()
					r.hire(fmt.Sprintf("e%d-", i), 1)
					receive(b, to.arrivals)
					took[i] = time.Since(began)
				}
				reportProcessorTime(b, before)
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			})
		})
	}
}
