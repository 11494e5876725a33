package delivery

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// steppedStores opens a database twice, as two replicas do, and returns a function that
// steps its clock: on PostgreSQL the server's, on SQLite the machine's, where both
// dispatchers share the one process that may have the file.
func steppedStores(t *testing.T, address string) (a, b *store.Store, step func(time.Duration)) {
	t.Helper()
	if strings.HasPrefix(address, "postgres") {
		a, b = storetest.Open(t, address), storetest.Open(t, address)
		return a, b, func(by time.Duration) {
			err := a.Engine().Write(t.Context(), func(tx db.Tx) error {
				_, err := tx.Exec(t.Context(), fmt.Sprintf(`CREATE OR REPLACE FUNCTION database_clock() RETURNS timestamptz
					LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp() + interval ''%d milliseconds'''`, by.Milliseconds()))
				return err
			})
			if err != nil {
				t.Fatal("step the clock:", err)
			}
		}
	}
	var shift atomic.Int64
	s, err := store.OpenWith(t.Context(), address, db.Options{Clock: func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Engine().Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, s, func(by time.Duration) { shift.Store(int64(by)) }
}

// asking is a queue that reports when a claim was answered with another replica's lease.
// A claim that meets a locked row is not: it is repeated.
type asking struct {
	*watched
	foreign chan struct{}
}

func (q *asking) ClaimEndpoints(ctx context.Context, owner string, leaseTime time.Duration, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
	leases, err := q.watched.ClaimEndpoints(ctx, owner, leaseTime, requests)
	for _, l := range leases {
		if l.Owner != owner && l.Remaining > 0 {
			select {
			case q.foreign <- struct{}{}:
			default:
			}
		}
	}
	return leases, err
}

// The clock steps forward by more than a lease, and back, while one replica sends and
// another knows that it does. Leases are measured on each replica by its own monotonic
// clock: nothing is sent twice. What comes after a step is sent at once or, if the replica
// that sends has not seen the step yet, with the first poll after it has.
func TestSteppedClocksNeitherRepeatNorDelay(t *testing.T) {
	t.Parallel()
	for engine, address := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			first, second, step := steppedStores(t, address(t))
			to := newWebhookReceiver(t, nil)
			release := make(chan struct{})
			to.answer = func(_ http.ResponseWriter, n int) {
				if n <= 2 {
					<-release
				}
			}
			foreign := make(chan struct{}, 1)
			a := newFixture(t, first, func(c *DispatcherConfig) {
				c.Lease, c.Poll, c.Queue = time.Minute, 50*time.Millisecond, &asking{c.Queue.(*watched), foreign}
			}).start()
			b := a.replica()
			b.s, b.config.Queue = second, &asking{&watched{Store: second, recorded: a.queue.recorded, isReplica: true}, foreign}
			b.config.Bus = second.Engine()
			b.d = NewDispatcher(b.config)
			b.start()
			a.addEndpoint(to.URL)
			a.hire("e", 2)
			seen := map[string]int{} // attempts
			note := func(got arrival) bool {
				seen[got.id()+", attempt "+got.header.Get("X-Service-Attempt")]++
				return got.header.Get("X-Service-Attempt") == "1"
			}
			arrive := func(n int) {
				t.Helper()
				for n > 0 {
					if note(receive(t, to.arrivals)) { // on a very slow machine one of the first times out and is tried again
						n--
					}
				}
			}
			arrive(2) // under way until they are released
			second.OnDeliveries(b.d.Wake)
			b.hire("known", 1) // b asks, and comes to know that a holds the lease
			arrive(1)
			receive(t, foreign) // or the other way round, if b's poll was faster
			for i, by := range []time.Duration{time.Hour, 0, -time.Hour, 2 * time.Hour} {
				step(by)
				b.d.searchBacklog() // the poll must not take the lease of a for one that has ended
				second.OnDeliveries(func(keys []domain.EndpointKey) {
					a.d.Wake(keys)
					b.d.Wake(keys)
				})
				b.hire(fmt.Sprint("step", i, "-"), 2)
				began := time.Now()
				arrive(2)
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("after a step to %v it took %v", by, took)
				}
			}
			close(release)
			a.recorded(11)
			select {
			case extra := <-to.arrivals:
				note(extra)
			case <-time.After(50 * time.Millisecond): // time for a repetition, if there is one
			}
			for attempt, n := range seen {
				if n != 1 {
					t.Errorf("delivery %s was sent %d times", attempt, n)
				}
			}
		})
	}
}
