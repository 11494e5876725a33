package faults

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Three servers share a database. The one that removes what has expired freezes in the middle
// and does not renew its leases. No other does the work meanwhile; when the frozen one is
// killed, another continues as soon as the leases expire.
func TestRetentionIsOneServersAndOutlivesIt(t *testing.T) {
	t.Parallel()
	database := postgresDatabase(t)
	acme, inbox := newCompany(t, database), newReceiver(t, nil)
	acme.addWebhook(t, inbox.URL)
	writer := serve(t, database, quickRetries...)
	acme.provision(t, writer.url, "expired")
	inbox.waitFor(t, timeout, "expired", 1)
	writer.signal(t, syscall.SIGTERM)
	writer.wantExit(t, timeout)

	r := newRetention(t, database)
	r.exec(`UPDATE events SET occurred_at = now() - interval '2 years'`)
	r.exec(`UPDATE audit_entries SET at = now() - interval '2 years'`)
	before := r.expired()
	if before["events"] == 0 || before["deliveries"] == 0 || before["audit_entries"] == 0 {
		t.Fatalf("nothing has expired: %v", before)
	}
	release := r.lockTables()
	first := serve(t, database)
	eventually(t, timeout, "a server that removes events and audit entries", func() error { return expect(r.waiting(), nil, 2) })
	first.signal(t, syscall.SIGSTOP)
	owners := r.owners()
	r.exec(`UPDATE leases SET until = until + interval '1 hour'`) // however slow this machine is
	serve(t, database)
	serve(t, database)
	eventually(t, timeout, "the end of what the frozen server has begun", func() error { return expect(r.waiting(), nil, 0) })
	release()
	time.Sleep(2 * time.Second) // the others' first round is at once
	if now := r.owners(); fmt.Sprint(now) != fmt.Sprint(owners) || len(now) != 2 {
		t.Errorf("%v have the leases, want %v", now, owners)
	}
	if now := r.expired(); fmt.Sprint(now) != fmt.Sprint(before) {
		t.Errorf("%v have expired, want %v still: another server removed some", now, before)
	}

	first.kill()
	r.exec(`UPDATE leases SET until = until - interval '1 hour'`)
	took := eventually(t, 3*timeout, "another server that continues", func() error {
		for table, n := range r.expired() {
			if n > 0 {
				return fmt.Errorf("%d %s are left", n, table)
			}
		}
		return nil
	})
	t.Logf("another server continued after %s", took.Round(time.Second))
}

// retention looks at what has expired, behind the servers' backs.
type retention struct {
	t    *testing.T
	conn *pgx.Conn
}

func newRetention(t *testing.T, database string) *retention {
	t.Helper()
	return &retention{t, connectTo(t, database)}
}

func connectTo(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (r *retention) exec(sql string) {
	r.t.Helper()
	if _, err := r.conn.Exec(r.t.Context(), sql); err != nil {
		r.t.Fatal(err)
	}
}

// expired returns how many rows of each table have expired.
func (r *retention) expired() map[string]int {
	r.t.Helper()
	out := map[string]int{}
	for table, sql := range map[string]string{
		"events":        `SELECT count(*) FROM events WHERE occurred_at < now() - interval '1 year'`,
		"deliveries":    `SELECT count(*) FROM deliveries`,
		"audit_entries": `SELECT count(*) FROM audit_entries WHERE at < now() - interval '1 year' AND employee_id <= 0`,
	} {
		var n int
		if err := r.conn.QueryRow(r.t.Context(), sql).Scan(&n); err != nil {
			r.t.Fatal(err)
		}
		out[table] = n
	}
	return out
}

// lockTables keeps events and audit entries from being deleted until release is called.
func (r *retention) lockTables() (release func()) {
	r.t.Helper()
	tx, err := connectTo(r.t, r.conn.Config().ConnString()).Begin(r.t.Context())
	if err == nil {
		_, err = tx.Exec(r.t.Context(), `LOCK TABLE events, audit_entries IN SHARE MODE`)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(r.t.Context()); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			r.t.Error(err)
		}
	}
}

// waiting returns how many connections wait for a table.
func (r *retention) waiting() int {
	r.t.Helper()
	var n int
	err := r.conn.QueryRow(r.t.Context(), `SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted AND
		relation IN ('events'::regclass, 'audit_entries'::regclass) AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&n)
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// owners returns the owners of the leases of retention.
func (r *retention) owners() []string {
	r.t.Helper()
	rows, err := r.conn.Query(r.t.Context(), `SELECT name || ' ' || owner FROM leases WHERE name IN ('retention', 'expire') ORDER BY name`)
	if err != nil {
		r.t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		r.t.Fatal(err)
	}
	return names
}
