package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/postgres"
)

func open(t *testing.T, address string, options ...db.Options) *postgres.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), address, append(options, db.Options{})[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// openMigrated returns an engine on a migrated database with a table of two
// counters. A deadlock is noticed at once.
func openMigrated(t *testing.T, options ...db.Options) *postgres.Engine {
	t.Helper()
	address := pgtest.URL(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("deadlock_timeout", "10ms")
	u.RawQuery = q.Encode()
	e := open(t, u.String(), options...)
	if err := e.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{`CREATE TABLE counters (id bigint PRIMARY KEY, n bigint NOT NULL)`, `INSERT INTO counters VALUES (1, 0), (2, 0)`} {
		if err := write(t, e, sql); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func write(t *testing.T, e *postgres.Engine, sql string, args ...any) error {
	t.Helper()
	return e.Write(t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(t.Context(), sql, args...)
		return err
	})
}

func sum(t *testing.T, e *postgres.Engine) (n int64) {
	t.Helper()
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&n) }, `SELECT sum(n)::bigint FROM counters`)
	if err := e.Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReplicasMigrateTogether(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	var all sync.WaitGroup
	for range 5 {
		e := open(t, address)
		all.Go(func() {
			if err := e.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
			if err := e.CheckSchema(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestMigratedNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	if open(t, address).CheckSchema(t.Context()) == nil {
		t.Error("an empty database passes for a migrated one")
	}
}

// Two transactions that lock the same rows in opposite orders: one is run again.
func TestDeadlockIsRunAgain(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	const bump = `UPDATE counters SET n = n + 1 WHERE id = $1`
	var met, all sync.WaitGroup
	met.Add(2)
	for _, order := range [][2]int64{{1, 2}, {2, 1}} {
		all.Go(func() {
			first := sync.OnceFunc(func() { met.Done(); met.Wait() })
			err := e.Write(t.Context(), func(tx db.Tx) error {
				if _, err := tx.Exec(t.Context(), bump, order[0]); err != nil {
					return err
				}
				first()
				_, err := tx.Exec(t.Context(), bump, order[1])
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := sum(t, e); n != 4 {
		t.Errorf("counted %d, want 4", n)
	}
}

func TestSerializationFailureIsRunAgain(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	runs := 0
	err := e.Write(t.Context(), func(tx db.Tx) error {
		runs++
		if _, err := tx.Exec(t.Context(), `UPDATE counters SET n = n + 1`); err != nil {
			return err
		}
		last := &db.Batch{} // fails together with the commit, as a conflict at the end does
		if runs == 1 {
			last.Exec(`DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$`)
		}
		tx.SendAndCommit(last)
		return nil
	})
	if err != nil || runs != 2 || sum(t, e) != 2 {
		t.Errorf("%d runs, counted %d, %v", runs, sum(t, e), err)
	}
}

// A server that goes away in the middle is told as such, and is back afterwards.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	err := e.Write(t.Context(), func(tx db.Tx) error {
		if _, err := tx.Exec(t.Context(), `UPDATE counters SET n = 7`); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `SELECT pg_terminate_backend(pg_backend_pid())`)
		return err
	})
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a lost connection: %v", err)
	}
	if n := sum(t, e); n != 0 {
		t.Errorf("counted %d of a transaction that was lost", n)
	}
	if _, err := postgres.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none?sslmode=disable", db.Options{}); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("no server at all: %v", err)
	}
}

// While others write, the watermark stays close: a writer that ends while we look
// is no reason to begin from the start of time.
func TestWatermarkStaysClose(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for ctx.Err() == nil {
				err := e.Write(ctx, func(tx db.Tx) error { return tx.Send(ctx, nil) })
				if err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 300 {
		at, err := e.Watermark(ctx)
		if err != nil {
			t.Error(err)
			break
		}
		if behind := e.Now().Sub(at); behind > time.Minute {
			t.Errorf("the watermark is %v behind", behind)
			break
		}
	}
	stop()
	writers.Wait()
}

// PostgreSQL is made to look at a table that has grown.
func TestAnalyzeGrownTables(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	if err := write(t, e, `INSERT INTO counters SELECT n, 0 FROM generate_series(3, 3000) n`); err != nil {
		t.Fatal(err)
	}
	known := -1.0
	for known < 0 {
		// What was written reaches the statistics a moment after its transaction.
		if err := e.AnalyzeGrownTables(t.Context()); err != nil {
			t.Fatal(err)
		}
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&known) }, `SELECT reltuples::float8 FROM pg_class WHERE oid = 'counters'::regclass`)
		if err := e.Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
			t.Fatal(err)
		}
	}
	if known != 3000 {
		t.Errorf("PostgreSQL believes the table to have %v rows", known)
	}
}

// A partition is analyzed with its table, and not once more.
func TestAnalyzeGrownPartitions(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	for _, statement := range []string{
		`CREATE TABLE parts (n bigint) PARTITION BY RANGE (n)`,
		`CREATE TABLE parts_all PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`,
		`INSERT INTO parts SELECT n FROM generate_series(1, 3000) n`,
	} {
		if err := write(t, e, statement); err != nil {
			t.Fatal(err)
		}
	}
	look := func() (changed, analyzed int, known float64) {
		t.Helper()
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&changed, &analyzed, &known) }, `SELECT s.n_mod_since_analyze, s.analyze_count,
			c.reltuples::float8 FROM pg_stat_user_tables s, pg_class c WHERE s.relname = 'parts_all' AND c.oid = 'parts'::regclass`)
		if err := e.Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
			t.Fatal(err)
		}
		return changed, analyzed, known
	}
	// What was written reaches the statistics a moment after its transaction.
	for changed := 0; changed == 0; {
		changed, _, _ = look()
	}
	if err := e.AnalyzeGrownTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, analyzed, known := look(); known != 3000 || analyzed != 1 {
		t.Errorf("PostgreSQL believes the table to have %v rows and has analyzed the partition %d times", known, analyzed)
	}
}
