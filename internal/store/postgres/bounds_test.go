package postgres_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

func TestWaitForALockIsBounded(t *testing.T) {
	t.Parallel()
	e := openMigrated(t, db.Options{LockWait: 100 * time.Millisecond})
	if e == nil {
		return
	}
	whileLocked(t, e, holdUntilDone, func() error {
		err := e.Write(t.Context(), func(tx db.Tx) error { _, err := tx.Exec(t.Context(), lockCounter); return err })
		if !errors.Is(err, db.ErrLocked) {
			t.Errorf("a lock that is held for long: %v", err)
		}
		return nil
	})
}

// A replica that is lost from the network, or stopped, in the middle of a
// transaction sends nothing more. The server ends the transaction, so that others
// get its locks and the watermark moves on.
func TestTransactionOfALostClientEnds(t *testing.T) {
	t.Parallel()
	e := openMigrated(t, db.Options{IdleTransaction: 200 * time.Millisecond})
	if e == nil {
		return
	}
	lost := e.Write(t.Context(), func(tx db.Tx) error {
		if _, err := tx.Exec(t.Context(), lockCounter); err != nil {
			return err
		}
		stamp := tx.Now()
		err := write(t, e, `UPDATE counters SET n = n WHERE id = 1`)
		if err != nil {
			t.Errorf("another transaction did not get the lock of a lost client: %v", err)
		}
		if mark := watermark(t, e); mark.Before(stamp) {
			t.Errorf("a lost client holds the watermark back by %v", stamp.Sub(mark))
		}
		_, err = tx.Exec(t.Context(), `SELECT 1`)
		return err
	})
	if !errors.Is(lost, db.ErrUnavailable) {
		t.Errorf("the transaction of a lost client: %v", lost)
	}
}

func TestPoolIsBounded(t *testing.T) {
	t.Parallel()
	e := openMigrated(t, db.Options{MaxConnections: 5, ConnectionWait: time.Second})
	if e == nil {
		return
	}
	var all sync.WaitGroup
	used, done := make(chan struct{}, 5), make(chan struct{})
	for range 5 {
		all.Go(func() {
			err := e.Read(t.Context(), func(db.Conn) error { used <- struct{}{}; <-done; return nil })
			if err != nil {
				t.Error(err)
				used <- struct{}{}
			}
		})
	}
	for range 5 {
		<-used
	}
	stats := e.Stats()
	if stats.Max != 5 || stats.Open != 5 || stats.InUse != 5 {
		t.Errorf("the pool: %+v, want 5 connections at most, all in use", stats)
	}
	if err := e.Read(t.Context(), func(db.Conn) error { return nil }); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a read while all connections are in use: %v", err)
	}
	close(done)
	all.Wait()
}

// Long reads wait for each other, but never take the last connections.
func TestSnapshotsLeaveConnections(t *testing.T) {
	t.Parallel()
	e := openMigrated(t, db.Options{MaxConnections: 5})
	if e == nil {
		return
	}
	var all sync.WaitGroup
	reading, done := make(chan struct{}, 10), make(chan struct{})
	// The snapshots end also if the test fails early: an engine with one can't be closed.
	defer all.Wait()
	defer close(done)
	for range 10 {
		all.Go(func() {
			err := e.Snapshot(t.Context(), func(db.Conn) error { reading <- struct{}{}; <-done; return nil })
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-reading
	<-reading
	if n := sum(t, e); n != 0 {
		t.Errorf("counted %d", n)
	}
	if stats := e.Stats(); stats.InUse > 2 {
		t.Errorf("%d of 5 connections are used by snapshots", stats.InUse)
	}
}

func TestReadOnlyServerIsUnavailable(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	if e == nil {
		return
	}
	if err := e.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := query[string](t, e, `SELECT quote_ident(current_database())`)
	if err := write(t, e, `ALTER DATABASE `+name+` SET default_transaction_read_only = on`); err != nil {
		t.Fatal(err)
	}
	readOnly := open(t, e.Address())
	if err := write(t, readOnly, `UPDATE counters SET n = 1`); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a change: %v", err)
	}
	if err := readOnly.Ping(t.Context()); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("readiness: %v", err)
	}
	if _, err := readOnly.Watermark(t.Context()); err != nil {
		t.Errorf("a watermark, which only reads: %v", err)
	}
	if n := sum(t, readOnly); n != 0 {
		t.Errorf("counted %d", n)
	}
}

// After a restart of the server every connection of the pool is dead. A change finds
// out and runs on a new one.
func TestWriteSurvivesDeadConnections(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	if e == nil {
		return
	}
	killer := open(t, e.Address())
	for i := range 5 {
		err := write(t, killer, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(t, e, `UPDATE counters SET n = n + 1 WHERE id = 1`); err != nil {
			t.Fatalf("a change after the connections were killed: %v", err)
		}
		if n := sum(t, e); n != int64(i+1) {
			t.Fatalf("counted %d after %d changes", n, i+1)
		}
	}
}

// Reads on direct connections have the bounds that reads behind a pooler have.
func TestReadsAreBounded(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	for setting, want := range map[string]string{
		"statement_timeout": "15s", "lock_timeout": "5s", "idle_in_transaction_session_timeout": "15s", "jit": "off", "max_parallel_workers_per_gather": "0",
		// A client that is gone is noticed within half a minute, also while its statement runs.
		"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3", "tcp_user_timeout": "30000",
		"client_connection_check_interval": "5s",
	} {
		if got := query[string](t, e, `SELECT current_setting($1)`, setting); got != want {
			t.Errorf("%s of a read is %s, want %s", setting, got, want)
		}
	}
}
