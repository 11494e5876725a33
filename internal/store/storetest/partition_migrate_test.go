package storetest_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// beforePartitions is the last schema without partitions.
const beforePartitions = 33

// filledEvents are enough that the table of attempts is not small to the migration.
const filledEvents = 100_000

// openOldSchema opens a filled database of the schema before partitions.
func openOldSchema(t *testing.T, address string, options db.Options) (*store.Store, endpointFixture) {
	t.Helper()
	storetest.MigrateTo(t, address, beforePartitions)
	used := address
	if options.TransactionPooler {
		used = pgtest.Pooler(t, address)
	}
	s, err := store.OpenWith(t.Context(), used, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	h := newEndpointFixture(t, s)
	for _, statement := range []string{
		`INSERT INTO events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)
			SELECT $1, n, 'employee.joined', now() - interval '1 day', 0, 0, 'old', $2 FROM generate_series(1, $3) n`,
		`INSERT INTO deliveries (company_id, id, endpoint_id, event_id, kind, state, attempts, round_start, due_at, created_at, status_code, error_kind, requested_by)
			SELECT $1, CAST('01930000-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS uuid), length($2), n, 'employee.joined', 'delivered', 1, 0, now(), now(), 200, '', ''
			FROM generate_series(1, $3) n`,
		`INSERT INTO delivery_attempts (company_id, delivery_id, number, url, started_at, duration_us, status_code, error_kind, error, request_headers, response_headers, response_body, requested_by)
			SELECT $1, CAST('01930000-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS uuid), 1, '', now(), 0, 200, '', '', '[]', '[]', $2, '' FROM generate_series(1, $3) n`,
	} {
		change(t, s, statement, h.c.Company.ID, []byte("a response or an event"), filledEvents)
	}
	storetest.Texts(t, s, fmt.Sprintf(`SELECT CAST(setval('event_ids', %d) AS text)`, filledEvents))
	return s, h
}

// A filled database is migrated while servers, with statements prepared on the schema
// before, go on to write: nothing fails, nothing is lost, and nobody waits long.
func TestPartitioningWhileServersWrite(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]db.Options{"direct": {}, "pooled": {TransactionPooler: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := openOldSchema(t, pgtest.URL(t), options)
			w := startWriters(t, h)
			w.waitFor(50)
			if err := s.Engine().Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.waitFor(50)
			keepPartitions(t, s, 4*24*time.Hour)
			w.waitFor(50)
			w.stop()
			hired := int(w.hired.Load())
			for table, want := range map[string]int{"events": filledEvents + hired, "deliveries": filledEvents + hired, "employees": hired} {
				if got := count(t, s, table); got != want {
					t.Errorf("%s has %d rows, want %d", table, got, want)
				}
			}
			h.deliver()
			for h.claim("me", 100).Due != nil {
				h.deliver()
			}
			if got, want := count(t, s, "delivery_attempts"), filledEvents+hired; got != want {
				t.Errorf("%d attempts, want %d: one of each delivery", got, want)
			}
			if got := count(t, s, "delivery_attempts_rest"); got != 0 {
				t.Errorf("%d rows are in the default partition", got)
			}
			if first, ahead := partitions(t, s)[0], s.Now().Add(6*24*time.Hour); !first.To.After(ahead) { // of a table that is not small
				t.Errorf("the first partition ends at %s, want after %s", first.To, ahead)
			}
			if left := storetest.Texts(t, s, `SELECT conname::text FROM pg_constraint WHERE conname LIKE '%!_bound' ESCAPE '!'`); len(left) > 0 {
				t.Errorf("constraints are left: %v", left)
			}
			t.Logf("%d changes, the longest of which took %s", hired, time.Duration(w.longest.Load()))
			if longest := time.Duration(w.longest.Load()); longest > longestWait {
				t.Errorf("a change took %s, want at most %s", longest, longestWait)
			}
		})
	}
}

// longestWait is how long a change may take during the migration. Each of its locks is
// waited for half a second at most.
const longestWait = 3 * time.Second

// writers make changes and deliver their events.
type writers struct {
	t              *testing.T
	hired, longest atomic.Int64
	done           chan struct{}
	all            sync.WaitGroup
}

func startWriters(t *testing.T, h endpointFixture) *writers {
	t.Helper()
	w := &writers{t: t, done: make(chan struct{})}
	w.repeat("deliver", func(int) error {
		leases, err := h.s.ClaimEndpoints(t.Context(), "me", time.Minute, h.ask(20))
		if err != nil || len(leases) == 0 {
			return err
		}
		var results []domain.DeliveryResult
		for _, d := range leases[0].Due {
			results = append(results, h.result(d, domain.DeliveryDelivered))
		}
		if len(results) == 0 {
			return nil
		}
		if _, err = h.s.RecordResults(t.Context(), results); !errors.Is(err, batch.ErrSplit) {
			return err
		}
		for i := range results { // as the dispatcher does
			if _, err := h.s.RecordResults(t.Context(), results[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	})
	for n := range 2 {
		w.repeat("provision", func(i int) error {
			id := fmt.Sprintf("w%d-%d", n, i)
			_, _, err := h.s.Provision(t.Context(), h.c, domain.Provision{ExternalID: id, Email: id + "@x.test", Name: "Anna"})
			if err == nil {
				w.hired.Add(1)
			}
			return err
		})
	}
	return w
}

// repeat calls do until stop, and notes the longest call.
func (w *writers) repeat(name string, do func(int) error) {
	w.all.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-w.done:
				return
			default:
			}
			began := time.Now()
			if err := do(i); err != nil {
				w.t.Errorf("%s: %v", name, err)
				return
			}
			took := int64(time.Since(began))
			for old := w.longest.Load(); took > old; old = w.longest.Load() {
				w.longest.CompareAndSwap(old, took)
			}
		}
	})
}

// waitFor returns after n more changes.
func (w *writers) waitFor(n int64) {
	w.t.Helper()
	for want, late := w.hired.Load()+n, time.Now().Add(30*time.Second); w.hired.Load() < want; time.Sleep(time.Millisecond) {
		if w.t.Failed() || time.Now().After(late) {
			w.t.Fatal("the writers do not go on")
		}
	}
}

func (w *writers) stop() {
	close(w.done)
	w.all.Wait()
}
