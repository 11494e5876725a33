package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/postgres"
)

const lockCounter = `SELECT n FROM counters WHERE id = 1 FOR UPDATE`

func query[T any](t *testing.T, e *postgres.Engine, sql string, args ...any) (value T) {
	t.Helper()
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&value) }, sql, args...)
	if err := e.Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
		t.Fatal(err)
	}
	return value
}

// waitForWaiter returns once a transaction of the engine's database waits for a lock.
func waitForWaiter(t *testing.T, e *postgres.Engine) {
	t.Helper()
	for query[int64](t, e, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("no transaction waits for a lock")
		}
		time.Sleep(time.Millisecond)
	}
}

// holdUntilDone lets whileLocked hold the lock until work is done.
const holdUntilDone = time.Duration(-1)

// whileLocked holds the lock of a counter for the given time, counted from when
// work waits for it, and returns the server's clock at the end of the lock.
func whileLocked(t *testing.T, e *postgres.Engine, hold time.Duration, work func() error) (released time.Time) {
	t.Helper()
	done := make(chan error, 1)
	err := e.Write(t.Context(), func(tx db.Tx) error {
		if _, err := tx.Exec(t.Context(), lockCounter); err != nil {
			return err
		}
		go func() { done <- work() }()
		if hold == holdUntilDone {
			err := <-done
			done <- nil
			return err
		}
		waitForWaiter(t, e)
		time.Sleep(hold)
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&released) }, `SELECT clock_timestamp()`)
		return tx.Send(t.Context(), b)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return released.Truncate(time.Millisecond)
}

func TestWaitForALockDoesNotMoveTheClock(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	if e == nil {
		return
	}
	whileLocked(t, e, time.Second, func() error {
		return e.Write(t.Context(), func(tx db.Tx) error { _, err := tx.Exec(t.Context(), lockCounter); return err })
	})
	server := query[time.Time](t, e, `SELECT clock_timestamp()`)
	if behind := server.Sub(e.Now()); behind > 500*time.Millisecond {
		t.Errorf("the estimate of the server's clock is %v behind", behind)
	}
}

func TestStampIsReadAfterTheLocks(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	if e == nil {
		return
	}
	for name, lock := range map[string]func(db.Tx) error{
		"first batch": func(tx db.Tx) error { _, err := tx.Exec(t.Context(), lockCounter); return err },
		"later batch": func(tx db.Tx) error {
			if err := tx.Send(t.Context(), nil); err != nil {
				return err
			}
			b := &db.Batch{}
			b.Exec(lockCounter)
			tx.Restamp(b)
			return tx.Send(t.Context(), b)
		},
	} {
		var stamp time.Time
		released := whileLocked(t, e, 20*time.Millisecond, func() error {
			return e.Write(t.Context(), func(tx db.Tx) error {
				err := lock(tx)
				stamp = tx.Now()
				return err
			})
		})
		if stamp.Before(released) {
			t.Errorf("%s: a transaction that waited for a lock is stamped %v before the lock was released", name, released.Sub(stamp))
		}
	}
}

// setClock lets the server's clock differ from the machine's.
func setClock(t *testing.T, e *postgres.Engine, shift time.Duration) {
	t.Helper()
	err := write(t, e, fmt.Sprintf(`CREATE OR REPLACE FUNCTION database_clock() RETURNS timestamptz LANGUAGE sql VOLATILE
		AS 'SELECT clock_timestamp() + interval ''%d milliseconds'''`, shift.Milliseconds()))
	if err != nil {
		t.Fatal(err)
	}
}

func stampOf(t *testing.T, e *postgres.Engine) (stamp time.Time) {
	t.Helper()
	err := e.Write(t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE counters SET n = n WHERE id = 2`)
		stamp = tx.Now()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return stamp
}

func watermark(t *testing.T, e *postgres.Engine) time.Time {
	t.Helper()
	at, err := e.Watermark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// The server's clock steps back, or a standby with a slower clock takes over. No
// stamp lies below one that was handed out before, nor below a watermark, in a
// process that saw them or in one that starts afterwards.
func TestStampsDoNotFollowAClockThatStepsBack(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	if e == nil {
		return
	}
	address := e.Address()
	for _, step := range []time.Duration{time.Hour, time.Second, 20 * time.Millisecond} {
		setClock(t, e, step)
		latest := stampOf(t, e)
		if mark := watermark(t, e); mark.After(latest) {
			latest = mark
		}
		setClock(t, e, 0)
		for name, process := range map[string]*postgres.Engine{"a running process": e, "a new process": open(t, address)} {
			if stamp := stampOf(t, process); stamp.Before(latest) {
				t.Errorf("a step of %v back: %s stamps %v before the latest stamp", step, name, latest.Sub(stamp))
			}
			if now := process.Now(); now.Before(latest) {
				t.Errorf("a step of %v back: the clock of %s is %v before the latest stamp", step, name, latest.Sub(now))
			}
			if mark := watermark(t, process); mark.Before(latest) {
				t.Errorf("a step of %v back: the watermark of %s fell by %v", step, name, latest.Sub(mark))
			}
		}
	}
}

// Two processes store a stamp or a watermark at the same time, the lower one last. The
// floor is not below what was handed out.
func TestFloorNeverFalls(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	if e == nil {
		return
	}
	name := query[string](t, e, `SELECT quote_ident(current_database())`)
	for _, sql := range []string{
		`CREATE FUNCTION setval(regclass, bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
			IF pg_try_advisory_lock(4711) THEN PERFORM pg_sleep(0.5); END IF; -- the first of all
			RETURN pg_catalog.setval($1, $2);
		END $$`,
		`ALTER DATABASE ` + name + ` SET search_path = public, pg_catalog`,
	} {
		if err := write(t, e, sql); err != nil {
			t.Fatal(err)
		}
	}
	for i, what := range []string{"stamp", "watermark"} {
		setClock(t, e, time.Duration(i+1)*2*time.Second) // so that a watermark is stored too
		storeSlowly := func(slow *postgres.Engine) { _ = watermark(t, slow) }
		if what == "stamp" {
			storeSlowly = func(slow *postgres.Engine) {
				if err := write(t, slow, `UPDATE counters SET n = n WHERE id = 1`); err != nil {
					t.Error(err)
				}
			}
		}
		slow, quick := open(t, e.Address()), open(t, e.Address())
		done := make(chan struct{})
		go func() {
			defer close(done)
			storeSlowly(slow)
		}()
		for query[int64](t, e, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`) == 0 {
			time.Sleep(time.Millisecond)
		}
		stamp := stampOf(t, quick)
		<-done
		<-done
		if floor := time.UnixMilli(query[int64](t, e, `SELECT last_value FROM change_clock`)); floor.Before(stamp) {
			t.Errorf("a slow %s lets the floor fall %v below a stamp that was handed out", what, stamp.Sub(floor))
		}
		if err := slow.Close(); err != nil { // then the next one can be slow
			t.Error(err)
		}
	}
}

// An idle database returns watermarks that move on, so that a client does not read
// the latest changes again and again.
func TestWatermarkMovesOnWhileIdle(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	if e == nil {
		return
	}
	stamp := stampOf(t, e)
	setClock(t, e, 2*time.Second)
	if mark := watermark(t, e); !mark.After(stamp.Add(time.Second)) {
		t.Errorf("two seconds after the latest stamp the watermark is %v after it", mark.Sub(stamp))
	}
}

// The watermark stays before a transaction that was open while it was asked for.
func TestWatermarkStaysBeforeOpenWriters(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	if e == nil {
		return
	}
	err := e.Write(t.Context(), func(tx db.Tx) error {
		if err := tx.Send(t.Context(), nil); err != nil {
			return err
		}
		stampOf(t, e)
		if mark := watermark(t, e); mark.After(tx.Now()) {
			t.Errorf("the watermark is %v after the stamp of an open transaction", mark.Sub(tx.Now()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
