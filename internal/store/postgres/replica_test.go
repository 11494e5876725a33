//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/postgres"
)

// replicated is a primary with a standby, and two engines that stand for two servers.
type replicated struct {
	t                *testing.T
	primary, standby *pgtest.Cluster
	writer, reader   *postgres.Engine
	admin            *pgx.Conn // to the standby
	notes            int
}

func newReplicated(t *testing.T) *replicated {
	t.Helper()
	r := &replicated{t: t, primary: pgtest.NewCluster(t, pgtest.ClusterDir(t))}
	r.standby = r.primary.NewStandby()
	options := db.Options{ReadAddress: r.standby.ReadAddress()}
	r.writer, r.reader = open(t, pgtest.ClusterAddress(r.primary), options), open(t, pgtest.ClusterAddress(r.primary), options)
	if err := r.writer.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.admin, err = pgx.Connect(t.Context(), r.standby.ReadAddress()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.admin.Close(context.Background()) })
	r.write()
	return r
}

// write commits one more row on one server.
func (r *replicated) write() {
	r.t.Helper()
	r.notes++
	err := r.writer.Write(r.t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(r.t.Context(), `INSERT INTO settings (key, value) VALUES ($1, '')`, fmt.Sprint("note ", r.notes))
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

const countNotes = `SELECT count(*), pg_is_in_recovery() FROM settings WHERE key LIKE 'note %'`

// wantNotes reads the rows on the other server and checks that none is missing. It
// reports whether the standby served the read.
func (r *replicated) wantNotes() (fromStandby bool) {
	r.t.Helper()
	ctx := domain.AllowReplica(r.t.Context())
	n, calls := 0, 0
	each := func(rows db.Rows) error { calls++; return rows.Scan(&n, &fromStandby) }
	b := &db.Batch{}
	b.Query(each, countNotes)
	if err := r.reader.Read(ctx, func(c db.Conn) error { return c.Send(ctx, b) }); err != nil {
		r.t.Fatal("read:", err)
	}
	if n != r.notes || calls != 1 {
		r.t.Errorf("a read found %d rows in %d callbacks, want %d rows in one; from the standby: %v", n, calls, r.notes, fromStandby)
	}
	return fromStandby
}

// waitForStandby reads until the standby serves a read. No read may miss a row meanwhile.
func (r *replicated) waitForStandby() {
	r.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !r.wantNotes(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("the standby serves no reads: %+v", r.reader.Stats().Replica)
		}
	}
}

func (r *replicated) onStandby(sql string) {
	r.t.Helper()
	if _, err := r.admin.Exec(r.t.Context(), sql); err != nil {
		r.t.Fatal(err)
	}
}

// One standby serves all cases, because starting it takes a second.
func TestReadReplica(t *testing.T) {
	t.Parallel()
	r := newReplicated(t)
	r.waitForStandby()
	t.Run("a read finds what another server has just committed", r.freshReads)
	t.Run("a standby that lags serves nothing", r.laggingStandby)
	t.Run("reads that did not ask for it use the primary", r.unmarkedReads)
	t.Run("the results of a batch keep their columns", r.mixedBatch)
	t.Run("a report reads from the standby in one snapshot", r.report)
	t.Run("a watermark is the primary's", r.watermark)
	t.Run("a statement that fails on the standby runs on the primary", r.refusedStatement)
	t.Run("a caller that is gone is not the standby's fault", r.canceledReads)
	t.Run("a standby that goes away and comes back", r.outage)
	t.Run("a server that is no standby of the primary", r.foreignServer)
}

func (r *replicated) freshReads(t *testing.T) {
	before := r.reader.Stats().Replica.Reads
	for range 200 {
		r.write()
		r.wantNotes()
	}
	r.waitForStandby()
	t.Logf("the standby served %d of about 200 reads that followed a commit", r.reader.Stats().Replica.Reads-before)
}

// mixedBatch reads rows with different columns in one batch. Callbacks run when all of it has
// arrived, and each row still has the columns of its own statement.
func (r *replicated) mixedBatch(t *testing.T) {
	r.waitForStandby()
	ctx := domain.AllowReplica(t.Context())
	for _, n := range []int{1, 2, 3} { // a statement is prepared by its first call
		before := r.reader.Stats().Replica.Reads
		var number, other int64
		var text, last string
		b := &db.Batch{}
		b.Query(func(rows db.Rows) error { return rows.Scan(&number, &other) }, `SELECT CAST($1 AS bigint), CAST(7 AS bigint)`, n)
		b.Query(func(rows db.Rows) error { return rows.Scan(&text, &last) }, `SELECT CAST($1 AS text), 'last'`, "text")
		if err := r.reader.Read(ctx, func(c db.Conn) error { return c.Send(ctx, b) }); err != nil {
			t.Fatal(err)
		}
		if number != int64(n) || other != 7 || text != "text" || last != "last" {
			t.Errorf("a batch returned %d, %d, %q and %q", number, other, text, last)
		}
		if r.reader.Stats().Replica.Reads == before {
			t.Error("the primary served the batch")
		}
	}
}

func (r *replicated) laggingStandby(t *testing.T) {
	r.onStandby(`SELECT pg_wal_replay_pause()`)
	for range 3 {
		r.write()
		if r.wantNotes() {
			t.Error("a standby whose replay is paused served a read")
		}
	}
	if s := r.reader.Stats().Replica; s.Problem == "" || s.Fallbacks < 3 {
		t.Errorf("the lag is not reported: %+v", s)
	}
	r.onStandby(`SELECT pg_wal_replay_resume()`)
	r.waitForStandby()
	if s := r.reader.Stats().Replica; s.Problem != "" {
		t.Errorf("the lag is still reported: %+v", s)
	}
}

func (r *replicated) unmarkedReads(t *testing.T) {
	var n int
	var fromStandby bool
	b := &db.Batch{}
	b.Query(func(rows db.Rows) error { return rows.Scan(&n, &fromStandby) }, countNotes)
	if err := r.reader.Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil || fromStandby {
		t.Errorf("an ordinary read: %v, from the standby: %v", err, fromStandby)
	}
}

func (r *replicated) report(t *testing.T) {
	r.waitForStandby()
	ctx := domain.AllowReplica(t.Context())
	r.write()
	var seen [2]int
	var fromStandby bool
	for range 100 { // until the standby is not behind at this moment
		err := r.reader.Snapshot(ctx, func(c db.Conn) error {
			for i := range seen {
				if i > 0 {
					r.write()
				}
				rows, err := c.Query(ctx, countNotes)
				if err != nil {
					return err
				}
				for rows.Next() {
					if err := rows.Scan(&seen[i], &fromStandby); err != nil {
						return err
					}
				}
				rows.Close()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if seen[0] != seen[1] || seen[0] != r.notes-1 {
			t.Errorf("a report found %d rows, then %d, want %d both times", seen[0], seen[1], r.notes-1)
		}
		if fromStandby {
			return
		}
		r.waitForStandby()
	}
	t.Error("no report was read from the standby")
}

// watermark checks a change that is visible before the watermark is taken and lies below it: the page must
// have it, even if the standby lags.
func (r *replicated) watermark(t *testing.T) {
	ctx := domain.AllowReplica(t.Context())
	r.onStandby(`SELECT pg_wal_replay_pause()`)
	defer r.onStandby(`SELECT pg_wal_replay_resume()`)
	var stamp time.Time
	err := r.writer.Write(t.Context(), func(tx db.Tx) error {
		r.notes++
		_, err := tx.Exec(t.Context(), `INSERT INTO settings (key, value) VALUES ($1, '')`, fmt.Sprint("note ", r.notes))
		stamp = tx.Now()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mark, err := r.reader.Watermark(ctx)
	if err != nil || mark.Before(stamp) {
		t.Errorf("the watermark is %s (%v), want it at or after the last change, %s", mark, err, stamp)
	}
	r.wantNotes()
}

// refusedStatement sends a statement that a standby refuses. The rows of the statement before it
// must not be passed on twice.
func (r *replicated) refusedStatement(t *testing.T) {
	r.waitForStandby()
	ctx := domain.AllowReplica(t.Context())
	var rows []int
	b := &db.Batch{}
	b.Query(func(row db.Rows) error {
		var n int
		err := row.Scan(&n)
		rows = append(rows, n)
		return err
	}, `SELECT generate_series(1, 3)`)
	b.Exec(`UPDATE settings SET value = 'read' WHERE key = 'note 1'`)
	if err := r.reader.Read(ctx, func(c db.Conn) error { return c.Send(ctx, b) }); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 {
		t.Errorf("the callback saw the rows %v, want each of three once", rows)
	}
}

func (r *replicated) outage(t *testing.T) {
	_ = r.admin.Close(t.Context())
	r.standby.StopNow()
	for range 3 {
		r.write()
		if r.wantNotes() {
			t.Error("a stopped standby served a read")
		}
	}
	second := open(t, pgtest.ClusterAddress(r.primary), db.Options{ReadAddress: r.standby.ReadAddress()})
	if s := second.Stats().Replica; s.Problem == "" {
		t.Errorf("a server that started without its standby reports no problem: %+v", s)
	}
	r.standby.Start()
	r.waitForStandby()
}

func (r *replicated) foreignServer(t *testing.T) {
	for name, address := range map[string]string{
		"another cluster":      pgtest.URL(t),
		"the primary itself":   pgtest.ClusterAddress(r.primary),
		"nothing listens":      "postgres://postgres@127.0.0.1:1/postgres",
		"another database":     r.otherDatabase(t),
		"a user that is wrong": "postgres://nobody-knows@127.0.0.1:1/postgres",
	} {
		e := open(t, pgtest.ClusterAddress(r.primary), db.Options{ReadAddress: address})
		if s := e.Stats().Replica; s.Problem == "" {
			t.Errorf("%s: no problem is reported", name)
		}
	}
	if _, err := postgres.Open(t.Context(), pgtest.ClusterAddress(r.primary), db.Options{ReadAddress: "postgres://%zz"}); err == nil {
		t.Error("an address that cannot be read was accepted")
	}
}

// otherDatabase returns the address of another database on the standby.
func (r *replicated) otherDatabase(t *testing.T) string {
	t.Helper()
	cfg, err := pgx.ParseConfig(r.standby.ReadAddress())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/template1?sslmode=disable", cfg.Port)
}

// canceledReads checks that a caller that is gone gets its own error, and that the standby is not blamed.
func (r *replicated) canceledReads(t *testing.T) {
	ctx, cancel := context.WithCancel(domain.AllowReplica(t.Context()))
	cancel()
	if err := r.reader.Read(ctx, func(db.Conn) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a read whose caller is gone: %v", err)
	}
	if s := r.reader.Stats().Replica; s.Problem != "" {
		t.Errorf("the standby is blamed: %+v", s)
	}
}
