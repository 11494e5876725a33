package load

import (
	"testing"
	"time"
)

// sizeRounds is how many bulk requests of bulkSize assignments are sent.
const sizeRounds = 200

// BenchmarkSize measures the disk that assignments, their events and their deliveries take
// on PostgreSQL, with indexes, and prints it for a million of each.
func BenchmarkSize(b *testing.B) {
	f := newCompany(b, engines["postgres"](b))
	conn := connect(b, f.database)
	r := newReceiver(b, 0)
	f.addWebhook(b, r.url, "assignment.created")
	c := newFleet(b, serve(b, f.database).address, 1)[0]
	f.provisionWorkers(b, c)
	tables := map[string]string{
		"assignments": `'assignments', 'assignment_history', 'assignment_attempts'`, "events": `'events'`, "deliveries": `'deliveries', 'delivery_attempts'`,
		"audit-entries": `'audit_entries'`,
	}
	size := func(what string) (n int64) {
		const sql = `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
			LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent WHERE c.relkind = 'r' AND coalesce(p.relname, c.relname) IN (`
		if err := conn.QueryRow(b.Context(), sql+tables[what]+`)`).Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	for b.Loop() {
		before := map[string]int64{}
		for what := range tables {
			before[what] = size(what)
		}
		for round := range sizeRounds {
			if err := c.do(f.bulkRequest(round)); err != nil {
				b.Fatal(err)
			}
		}
		for left := 1; left > 0; time.Sleep(100 * time.Millisecond) {
			if err := conn.QueryRow(b.Context(), `SELECT count(*) FROM deliveries WHERE state = 'pending'`).Scan(&left); err != nil {
				b.Fatal(err)
			}
		}
		for what := range tables {
			b.ReportMetric(float64(size(what)-before[what])/(sizeRounds*bulkSize)/1e3, "GB/million-"+what)
		}
	}
}
