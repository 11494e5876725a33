package load

import (
	"context"
	"database/sql"
	"net/url"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for the baseline
)

// openFile opens an SQLite file with the program's settings.
func openFile(b *testing.B, database string) *sql.Conn {
	b.Helper()
	q := url.Values{"_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)", "cache_size(-4000)", "temp_store(MEMORY)",
	}}
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(database, "sqlite://")+"?"+q.Encode())
	if err != nil {
		b.Fatal(err)
	}
	conn, err := db.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = conn.Close()
		_ = db.Close()
	})
	return conn
}

// inserter prepares an INSERT of bulkSize rows.
func inserter(b *testing.B, conn *sql.Conn, into, row string) *sql.Stmt {
	b.Helper()
	st, err := conn.PrepareContext(b.Context(), "INSERT INTO "+into+" VALUES "+strings.TrimSuffix(strings.Repeat(row+",", bulkSize), ","))
	if err != nil {
		b.Fatal(err)
	}
	return st
}

// BenchmarkBulkSQLite compares bulk requests of 500 items with prepared multi-row
// inserts of the same rows and events in one transaction.
func BenchmarkBulkSQLite(b *testing.B) {
	f, other := newCompany(b, engines["sqlite"](b)), newCompany(b, engines["sqlite"](b))
	ours := newFleet(b, serve(b, f.database).address, 1)[0]
	f.provisionWorkers(b, ours)
	q := serve(b, other.database)
	other.provisionWorkers(b, newFleet(b, q.address, 1)[0])
	q.stop(b)
	conn := openFile(b, other.database)
	employees := make([]int64, bulkSize)
	for i := range employees {
		employees[i] = int64(i) + 1
	}
	least := &bulkBaseline{company: other, employees: employees, run: baselineBulk(b, conn, other)}
	var round int
	for b.Loop() {
		c := compare(9,
			func() float64 { return f.bulkRate(b, ours, &round, 1500*time.Millisecond) },
			func() float64 { return least.rate(b, 1500*time.Millisecond) })
		ratio(b, "bulk of 500, SQLite, of prepared multi-row inserts", c, 0.50, "rows/s")
	}
}

func baselineBulk(b *testing.B, conn *sql.Conn, f company) func(bulkRows) error {
	b.Helper()
	tasks := inserter(b, conn, `assignments (company_id, id, external_id, employee_id, course_id, status, percent, attempts, granted_attempts,
		is_required, assigned_at, deadline, asked_deadline, asked_required, updated_at)`, "(?, ?, ?, ?, ?, 'assigned', 0, 0, 0, 1, ?, ?, ?, 1, ?)")
	events := inserter(b, conn, `events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)`,
		"(?, ?, 'assignment.created', ?, ?, ?, ?, ?)")
	return func(v bulkRows) error {
		ctx := context.Background()
		now, later := time.Now().UnixMilli(), time.Now().AddDate(3, 0, 0).UnixMilli()
		var taskArgs, eventArgs []any
		for i := range v.ids {
			taskArgs = append(taskArgs, f.id, v.ids[i], v.externals[i], v.employees[i], f.courseID, now, later, later, now)
			eventArgs = append(eventArgs, f.id, v.events[i], now, v.employees[i], v.ids[i], v.externals[i], v.bodies[i])
		}
		if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		if _, err := tasks.ExecContext(ctx, taskArgs...); err != nil {
			return err
		}
		if _, err := events.ExecContext(ctx, eventArgs...); err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, `INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind,
			record_id, employee_id, request_id, address, detail)
			VALUES (?, ?, 'token', 1, 'load', 'assignment.created', 'assignment', '1–500', 0, 'request', '127.0.0.1', '500 assignments in one request.')`,
			f.id, now); err != nil {
			return err
		}
		_, err := conn.ExecContext(ctx, "COMMIT")
		return err
	}
}
