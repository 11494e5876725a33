package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const (
	// catchUpWait is how long a read waits for the standby to replay what the primary
	// has flushed. A standby in the same place needs a few milliseconds.
	catchUpWait = 25 * time.Millisecond
	// replicaTimeout bounds how long a read may use the standby before it goes to the
	// primary; a standby that hangs is noticed by watch within that time as well.
	replicaTimeout = 3 * time.Second
	// watchInterval is how often the standby is checked.
	watchInterval = time.Second
)

// replica is a streaming standby that takes reads off the primary. A read uses it only
// once the standby has replayed everything that the primary had flushed after the read
// was asked for. So it finds every change that was acknowledged before, whichever
// process made it: nobody has to remember who wrote what, and watermarks and walks over
// pages mean the same on both servers. See docs/adr/0009-read-replica.md.
type replica struct {
	pool    *pgxpool.Pool
	primary *pgxpool.Pool
	pooled  bool
	// flushed asks the primary how far it has flushed its log. Reads that arrive while a
	// question is under way share the next one.
	flushed *batch.Batcher[struct{}, int64]
	// problem is why reads go to the primary; nil while the standby is used.
	problem atomic.Pointer[string]
	// keepsRows reports whether the primary keeps the rows that the standby's long
	// transactions need; without it a report would be cancelled.
	keepsRows atomic.Bool

	reads, fallbacks atomic.Int64
}

// flushedSQL returns how far the primary has flushed its log. A commit is acknowledged
// once it is flushed, unless synchronous_commit is off.
const flushedSQL = `SELECT (CASE WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn()
	ELSE pg_current_wal_flush_lsn() END - '0/0')::bigint`

// replayedSQL returns how far the standby has replayed the log, and 0 on a server that
// is no standby.
const replayedSQL = `SELECT CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0')::bigint ELSE 0 END`

// identitySQL returns what a primary has in common with its standbys, and with no other
// server: positions in the log of another one would mean nothing.
const identitySQL = `SELECT system_identifier::text || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
	FROM pg_control_system()`

var (
	errBehind = errors.New("it has not replayed the latest changes")
	errOther  = errors.New("it is not a standby of the server that --database names, or it has another database open")
)

// newReplica returns the standby at an address. It need not be reachable yet.
func newReplica(ctx context.Context, address string, primary *pgxpool.Pool, options db.Options) (*replica, error) {
	cfg, err := poolConfig(address, options)
	if err != nil {
		return nil, fmt.Errorf("the read replica: %w", err)
	}
	r := &replica{primary: primary, pooled: options.TransactionPooler}
	r.flushed = batch.New(r.askFlushed, batch.Options{})
	prepare := cfg.AfterConnect
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := prepare(ctx, conn); err != nil {
			return err
		}
		return r.identify(ctx, conn)
	}
	if r.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, fmt.Errorf("open the pool of the read replica: %w", err)
	}
	r.check(ctx)
	return r, nil
}

// identify returns an error unless the connection leads to a standby of the primary.
func (r *replica) identify(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	var own, primary string
	if err := r.primary.QueryRow(ctx, identitySQL).Scan(&primary); err != nil {
		return err
	}
	if err := conn.QueryRow(ctx, identitySQL).Scan(&own); err != nil {
		return err
	}
	if own != primary {
		return errOther
	}
	return nil
}

func (r *replica) askFlushed(ctx context.Context, requests []struct{}) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	var at int64
	if err := r.primary.QueryRow(ctx, flushedSQL).Scan(&at); err != nil {
		return nil, mapError(err)
	}
	out := make([]int64, len(requests))
	for i := range out {
		out[i] = at
	}
	return out, nil
}

// acquire returns a connection to the standby on which every change is visible that was
// acknowledged before the call.
func (r *replica) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	need, err := r.flushed.Do(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	conn, err := r.pool.Acquire(ctx)
	if err != nil {
		return nil, mapError(err)
	}
	deadline := time.Now().Add(catchUpWait)
	for pause := time.Millisecond; ; pause *= 2 {
		var at int64
		err := conn.QueryRow(ctx, replayedSQL).Scan(&at)
		switch {
		case err != nil:
		case at >= need:
			return conn, nil
		case at == 0:
			err = errOther
		case time.Now().After(deadline):
			err = fmt.Errorf("%w: %d bytes of the log are missing", errBehind, need-at)
		}
		if err != nil {
			conn.Release()
			return nil, mapError(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// takes reports whether a read should try the standby.
func (r *replica) takes(ctx context.Context) bool {
	if r == nil || !domain.MayUseReplica(ctx) {
		return false
	}
	if r.problem.Load() != nil {
		r.fallbacks.Add(1)
		return false
	}
	return true
}

// read runs fn on the standby. It reports done = false if fn has to run on the primary
// instead; then no result was passed to fn's callbacks.
func (r *replica) read(ctx context.Context, fn func(db.Conn) error) (done bool, err error) {
	limited, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	conn, err := r.acquire(limited)
	if err != nil {
		return r.giveUp(ctx, err)
	}
	defer conn.Release()
	c := &bufferedReader{runner: runner{conn: conn.Conn()}, limit: limited, pooled: r.pooled}
	err = fn(c)
	if isStatementError(c.failed) {
		r.fallbacks.Add(1)
		return false, nil
	}
	if c.failed != nil {
		return r.giveUp(ctx, c.failed)
	}
	r.reads.Add(1)
	return true, err
}

// isStatementError reports whether a standby that works refused one statement, as when
// it conflicts with what the standby replays.
func isStatementError(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.SeverityUnlocalized == "ERROR"
}

// snapshot begins a repeatable read-only transaction on the standby and runs fn in it.
// It reports done = false if fn has to run on the primary instead.
func (r *replica) snapshot(ctx context.Context, fn func(db.Conn) error) (done bool, err error) {
	if !r.keepsRows.Load() {
		return false, nil
	}
	limited, cancel := context.WithTimeout(ctx, replicaTimeout)
	conn, err := r.acquire(limited)
	cancel()
	if err != nil {
		return r.giveUp(ctx, err)
	}
	defer conn.Release()
	begun := false
	err = inSnapshot(ctx, conn.Conn(), func(c db.Conn) error {
		begun = true
		return fn(c)
	})
	if !begun && err != nil {
		return r.giveUp(ctx, err)
	}
	r.reads.Add(1)
	return true, err
}

// giveUp sends a read to the primary, and those that follow until the next check, unless
// the caller is gone.
func (r *replica) giveUp(ctx context.Context, err error) (done bool, _ error) {
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	r.fallbacks.Add(1)
	r.setProblem(err)
	return false, nil
}

func (r *replica) setProblem(err error) {
	if err == nil {
		r.problem.Store(nil)
		return
	}
	text := err.Error()
	r.problem.Store(&text)
	if !errors.Is(err, errBehind) {
		r.pool.Reset() // if one connection is dead, the others may be too
	}
}

// check finds out whether the standby can be used.
func (r *replica) check(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, watchInterval)
	defer cancel()
	conn, err := r.acquire(limited)
	if err == nil {
		var feedback bool
		err = conn.QueryRow(limited, `SELECT current_setting('hot_standby_feedback') = 'on'`).Scan(&feedback)
		r.keepsRows.Store(feedback)
		conn.Release()
	}
	if ctx.Err() == nil {
		r.setProblem(err)
	}
}

// watch checks the standby until ctx ends.
func (r *replica) watch(ctx context.Context) {
	repeat(ctx, watchInterval, func() { r.check(ctx) })
}

// stats returns what the replica has done; nil if there is none.
func (r *replica) stats() *db.ReplicaStats {
	if r == nil {
		return nil
	}
	out := &db.ReplicaStats{Reads: r.reads.Load(), Fallbacks: r.fallbacks.Load(), TakesReports: r.keepsRows.Load()}
	if problem := r.problem.Load(); problem != nil {
		out.Problem = *problem
	}
	return out
}
