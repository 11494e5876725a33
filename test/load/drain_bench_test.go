package load

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // to use both engines through database/sql
)

func openSQL(b *testing.B, database string) *sql.DB {
	b.Helper()
	driver, name := "pgx", database
	if path, ok := strings.CutPrefix(database, "sqlite://"); ok {
		driver, name = "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		b.Fatal(err)
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

// BenchmarkDrain measures how fast queued deliveries are sent, from the first
// arrival until the result of the last one is in the delivery log.
func BenchmarkDrain(b *testing.B) {
	for _, engine := range engineNames {
		for _, endpoints := range []int{1, 4} {
			b.Run(fmt.Sprintf("%s/%d", engine, endpoints), func(b *testing.B) {
				for b.Loop() {
					rate := drain(b, engines[engine](b), endpoints, 20_000).rate
					atLeast(b, fmt.Sprintf("deliveries with full log, %d endpoint(s), %s", endpoints, engine), rate, 2000, "deliveries/s")
				}
			})
		}
	}
}

// drain queues deliveries while the endpoints are disabled, enables the endpoints
// and returns how many deliveries per second were sent and recorded.
func drain(b *testing.B, database string, endpoints, deliveries int) turn {
	b.Helper()
	f := newCompany(b, database)
	r := newReceiver(b, 0)
	for range endpoints {
		hook := f.addWebhook(b, r.url, "assignment.created")
		runJSON[struct{ State string }](b, database, "webhook", "disable", "--company", formatID(f.id), "--id", formatID(hook))
	}
	p := serve(b, database)
	c := newFleet(b, p.address, 1)[0]
	f.provisionWorkers(b, c)
	db := openSQL(b, database)
	for round := range deliveries / endpoints / bulkSize {
		if err := c.do(f.bulkRequest(round)); err != nil {
			b.Fatal(err)
		}
		if round == 1 {
			analyze(b, db, database)
		}
	}
	p.stop(b)
	execAll(b, db,
		"UPDATE endpoints SET disabled_at = NULL, disabled_reason = ''",
		"UPDATE deliveries SET state = 'pending'")
	analyze(b, db, database)
	p = serve(b, database)
	r.waitFor(b, 1, 30*time.Second)
	before, began := processorTime(), time.Now()
	r.waitFor(b, int64(deliveries), 2*time.Minute)
	for left := -1; left != 0; {
		err := db.QueryRowContext(context.Background(), "SELECT count(*) FROM deliveries WHERE state <> 'delivered'").Scan(&left)
		if err != nil {
			b.Fatal(err)
		}
	}
	took, work := time.Since(began), processorTime()-before
	var logged int
	if err := db.QueryRowContext(context.Background(), "SELECT count(*) FROM delivery_attempts").Scan(&logged); err != nil {
		b.Fatal(err)
	}
	if logged < deliveries {
		b.Fatalf("%d attempts are in the log, want %d", logged, deliveries)
	}
	p.stop(b)
	return newTurn(float64(deliveries)/took.Seconds(), took, work)
}
