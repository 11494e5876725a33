package load

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib" // to use both engines through database/sql
)

func openSQL(b *testing.B, database string) *sql.DB {
	b.Helper()
	var db *sql.DB
	if path, ok := strings.CutPrefix(database, "sqlite://"); ok {
		var err error
		if db, err = sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"); err != nil {
			b.Fatal(err)
		}
	} else {
		db = stdlib.OpenDB(*ownConfig(b, database))
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

func execAll(b *testing.B, db *sql.DB, statements ...string) {
	b.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(b.Context(), s); err != nil {
			b.Fatalf("%s: %v", s, err)
		}
	}
}

// analyze updates PostgreSQL's statistics, as autovacuum does within a minute.
func analyze(b *testing.B, db *sql.DB, database string) {
	b.Helper()
	if strings.HasPrefix(database, "postgres") {
		execAll(b, db, "VACUUM ANALYZE")
	}
}

// BenchmarkDrain measures how fast queued deliveries are sent, from the first answer to one
// until the result of the last one is in the delivery log.
func BenchmarkDrain(b *testing.B) {
	for _, engine := range engineNames {
		for _, endpoints := range []int{1, 4} {
			b.Run(fmt.Sprintf("%s/%d", engine, endpoints), func(b *testing.B) {
				for b.Loop() {
					q := fillQueue(b, engines[engine](b), endpoints, 20_000)
					rest()
					each := drain(b, q)[0]
					figure{
						What: fmt.Sprintf("deliveries with full log, %d endpoint(s), %s", endpoints, engine), Value: 1000 / each.wall, Unit: "deliveries/s",
						Sign: ">=", Target: 2000, Cost: each.work, Per: "delivery",
					}.record(b)
				}
			})
		}
	}
}

// queue is deliveries that are sent once a server is started.
type queue struct {
	database   string
	receiver   *receiver
	deliveries int
	db         *sql.DB
}

// fillQueue queues deliveries while the endpoints are disabled, and then enables the
// endpoints.
func fillQueue(b *testing.B, database string, endpoints, deliveries int) *queue {
	b.Helper()
	f := newCompany(b, database)
	q := &queue{database: database, receiver: newReceiver(b, 0), deliveries: deliveries, db: openSQL(b, database)}
	q.receiver.held = make(chan struct{})
	for range endpoints {
		id := f.addWebhook(b, q.receiver.url, "assignment.created")
		runJSON[struct{ State string }](b, database, "webhook", "disable", "--company", formatID(f.id), "--id", formatID(id))
	}
	p := serve(b, database)
	c := newFleet(b, p.address, 1)[0]
	f.provisionWorkers(b, c)
	for round := range deliveries / endpoints / bulkSize {
		if err := c.do(f.bulkRequest(round)); err != nil {
			b.Fatal(err)
		}
		if round == 1 {
			analyze(b, q.db, database)
		}
	}
	p.stop(b)
	execAll(b, q.db,
		"UPDATE endpoints SET disabled_at = NULL, disabled_reason = ''",
		"UPDATE deliveries SET state = 'pending'")
	analyze(b, q.db, database)
	return q
}

// isEmpty reports whether the result of every delivery is recorded.
func (q *queue) isEmpty(b *testing.B) bool {
	b.Helper()
	if int(q.receiver.count.Load()) < q.deliveries {
		return false
	}
	left, logged := 0, 0
	err := q.db.QueryRowContext(b.Context(), "SELECT count(*) FROM deliveries WHERE state <> 'delivered'").Scan(&left)
	if err == nil && left == 0 {
		err = q.db.QueryRowContext(b.Context(), "SELECT count(*) FROM delivery_attempts").Scan(&logged)
	}
	if err != nil {
		b.Fatal(err)
	}
	if left == 0 && logged < q.deliveries {
		b.Fatalf("%d attempts are in the log, want %d", logged, q.deliveries)
	}
	return left == 0
}

// drain starts a server for each queue and returns what a delivery costs each. The receivers
// answer once every server has begun, so that all drain at the same time.
func drain(b *testing.B, queues ...*queue) []cost {
	b.Helper()
	costs, meters, before := make([]cost, len(queues)), make([]*costMeter, len(queues)), make([]time.Duration, len(queues))
	for i, q := range queues {
		meters[i] = newCostMeter(b, serve(b, q.database), q.database)
	}
	for i, q := range queues {
		q.receiver.waitFor(b, 1, 30*time.Second)
		before[i] = meters[i].total(b)
	}
	began := time.Now()
	for _, q := range queues {
		close(q.receiver.held)
	}
	for left := len(queues); left > 0; time.Sleep(2 * time.Millisecond) {
		if time.Since(began) > 3*time.Minute {
			b.Fatal("the queues are not empty after three minutes")
		}
		for i, q := range queues {
			if costs[i].wall == 0 && q.isEmpty(b) {
				costs[i] = cost{wall: time.Since(began).Seconds() * 1000 / float64(q.deliveries), work: meters[i].since(b, before[i], q.deliveries)}
				left--
			}
		}
	}
	for _, m := range meters {
		m.server.stop(b)
	}
	return costs
}
