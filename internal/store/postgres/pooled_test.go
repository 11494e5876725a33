package postgres_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/postgres"
)

// openPooled returns an engine behind PgBouncer in transaction mode, and the address of
// its database without PgBouncer.
func openPooled(t *testing.T, options db.Options) (e *postgres.Engine, direct string) {
	t.Helper()
	direct = pgtest.URL(t)
	options.TransactionPooler = true
	e = open(t, pgtest.Pooler(t, direct), options)
	if err := e.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := write(t, e, `CREATE TABLE counters (id bigint PRIMARY KEY, n bigint NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	if err := write(t, e, `INSERT INTO counters VALUES (1, 0), (2, 0)`); err != nil {
		t.Fatal(err)
	}
	return e, direct
}

func TestPooledReplicasMigrateTogether(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	pooled := pgtest.Pooler(t, direct)
	var all sync.WaitGroup
	for i := range 6 {
		options := db.Options{TransactionPooler: i != 0}
		address := pooled
		switch i {
		case 0:
			address = direct // a replica whose configuration was not changed yet
		case 1:
			options.DirectAddress = direct
		}
		e := open(t, address, options)
		all.Go(func() {
			if err := errors.Join(e.Migrate(t.Context()), e.CheckSchema(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestPooledTransactionsAndReads(t *testing.T) {
	t.Parallel()
	e, direct := openPooled(t, db.Options{})
	var all sync.WaitGroup
	const workers, rounds = 8, 25
	for range workers {
		all.Go(func() {
			for range rounds {
				if err := write(t, e, `UPDATE counters SET n = n + $1 WHERE id = 1`, 1); err != nil {
					t.Error(err)
				}
				_ = sum(t, e)
			}
		})
	}
	all.Wait()
	if n := sum(t, e); n != workers*rounds {
		t.Errorf("counted %d, want %d", n, workers*rounds)
	}
	var got int64
	err := e.Read(t.Context(), func(c db.Conn) error {
		rows, err := c.Query(t.Context(), `SELECT n FROM counters WHERE id = $1`, 1)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(&got); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil || got != workers*rounds {
		t.Errorf("read %d, %v", got, err)
	}
	if n := query[int64](t, open(t, direct), `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE '%statement_timeout%' AND state LIKE 'idle in%'`); n != 0 {
		t.Errorf("%d sessions are in a transaction", n)
	}
}

// A setting or a prepared statement that stayed in a session would reach whoever gets it
// next.
func TestPooledSessionsStayClean(t *testing.T) {
	t.Parallel()
	e, _ := openPooled(t, db.Options{})
	for range 20 {
		if err := write(t, e, `UPDATE counters SET n = n WHERE id = $1`, 1); err != nil {
			t.Fatal(err)
		}
		for setting, want := range map[string]string{"statement_timeout": "15s", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0"} {
			if got := query[string](t, e, `SELECT current_setting($1)`, setting); got != want {
				t.Fatalf("%s is %s outside a transaction, want %s", setting, got, want)
			}
		}
		if n := query[int64](t, e, `SELECT count(*) FROM pg_prepared_statements WHERE name <> ''`); n != 0 {
			t.Fatalf("the session has %d prepared statements", n)
		}
	}
}

func TestPooledLocksAndStamps(t *testing.T) {
	t.Parallel()
	e, direct := openPooled(t, db.Options{LockWait: 100 * time.Millisecond})
	other := open(t, direct)
	err := e.Write(t.Context(), func(tx db.Tx) error {
		if _, err := tx.Exec(t.Context(), `UPDATE counters SET n = 7 WHERE id = 1`); err != nil {
			return err
		}
		if mark := watermark(t, other); mark.After(tx.Now()) {
			t.Errorf("the watermark %v is later than the stamp %v of an open transaction", mark, tx.Now())
		}
		if err := write(t, e, `UPDATE counters SET n = 8 WHERE id = 1`); !errors.Is(err, db.ErrLocked) {
			t.Errorf("a lock that is held: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := watermark(t, e)
	if err := write(t, e, `UPDATE counters SET n = 9 WHERE id = 1`); err != nil {
		t.Fatal(err)
	}
	if after := watermark(t, e); after.Before(before) {
		t.Errorf("the watermark fell from %v to %v", before, after)
	}
}

// Messages reach every replica, whether it listens at the direct address or polls, and
// however it was published by a replica that polls.
func TestPooledMessagesArriveWithinASecond(t *testing.T) {
	t.Parallel()
	polling, direct := openPooled(t, db.Options{})
	other := open(t, polling.Address(), db.Options{TransactionPooler: true})
	listening := open(t, polling.Address(), db.Options{TransactionPooler: true, DirectAddress: direct})
	got := make(chan []string, 100)
	var ready, all sync.WaitGroup
	t.Cleanup(all.Wait)
	for _, e := range []*postgres.Engine{polling, other, listening} {
		ready.Add(1)
		started := sync.OnceFunc(ready.Done)
		all.Go(func() {
			_ = e.Listen(t.Context(), "news", func(keys []string) {
				if keys == nil {
					started()
					return
				}
				got <- keys
			})
		})
	}
	ready.Wait()
	if err := other.Publish(t.Context(), "news", []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		select {
		case keys := <-got:
			if !slices.Equal(keys, []string{"a", "b"}) {
				t.Errorf("received %v", keys)
			}
		case <-time.After(10 * time.Second): // a busy machine; the poll is every 200 ms
			t.Fatal("a replica received nothing")
		}
	}
	select {
	case keys := <-got:
		t.Errorf("%v was received twice", keys)
	case <-time.After(500 * time.Millisecond):
	}
}

func TestBackupThroughAPoolerIsRefused(t *testing.T) {
	t.Parallel()
	e, direct := openPooled(t, db.Options{})
	if err := e.Backup(t.Context(), t.TempDir()+"/copy"); !errors.Is(err, postgres.ErrNeedsSession) {
		t.Errorf("a backup through the pooler: %v", err)
	}
	withDirect := open(t, e.Address(), db.Options{TransactionPooler: true, DirectAddress: direct})
	if err := withDirect.Backup(t.Context(), t.TempDir()+"/copy"); err != nil {
		t.Errorf("a backup at the direct address: %v", err)
	}
}
