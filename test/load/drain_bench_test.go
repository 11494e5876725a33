package load

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // both engines by the same few statements
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

// analyze does what autovacuum would have done after a minute. SQLite has none.
func analyze(b *testing.B, db *sql.DB, database string) {
	b.Helper()
	if strings.HasPrefix(database, "postgres") {
		execAll(b, db, "VACUUM ANALYZE")
	}
}

// BenchmarkDrain measures how fast a queue empties, with the whole delivery log
// written: from the first arrival until the outcome of the last is recorded.
func BenchmarkDrain(b *testing.B) {
	for _, engine := range engineNames {
		for _, hooks := range []int{1, 4} {
			b.Run(fmt.Sprintf("%s/%d", engine, hooks), func(b *testing.B) {
				target := map[string]float64{"postgres": 2000, "sqlite": 1000}[engine]
				for b.Loop() {
					rate := drain(b, engines[engine](b), hooks, 20_000)
					atLeast(b, fmt.Sprintf("deliveries with full log, %d endpoint(s), %s", hooks, engine), rate, target, "deliveries/s")
				}
			})
		}
	}
}

// drain queues deliveries while the endpoints are disabled, lets them go, and
// gives how many per second were sent and written down.
func drain(b *testing.B, database string, hooks, deliveries int) float64 {
	b.Helper()
	f := newFirm(b, database)
	r := newReceiver(b, 0)
	for range hooks {
		hook := f.listen(b, r.url, "assignment.created")
		ask[struct{ State string }](b, database, "webhook", "disable", "--company", id(f.company), "--id", id(hook))
	}
	p := serve(b, database)
	c := newFleet(b, p.address, 1)[0]
	f.workforce(b, c)
	db := openSQL(b, database)
	for round := range deliveries / hooks / bulk {
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
	serve(b, database)
	r.until(b, 1, 30*time.Second)
	began := time.Now()
	r.until(b, int64(deliveries), 2*time.Minute)
	for left := -1; left != 0; {
		err := db.QueryRowContext(context.Background(), "SELECT count(*) FROM deliveries WHERE state <> 'delivered'").Scan(&left)
		if err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began)
	var logged int
	if err := db.QueryRowContext(context.Background(), "SELECT count(*) FROM delivery_attempts").Scan(&logged); err != nil {
		b.Fatal(err)
	}
	if logged < deliveries {
		b.Fatalf("%d attempts are in the log, want %d", logged, deliveries)
	}
	return float64(deliveries) / took.Seconds()
}
