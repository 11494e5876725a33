// Package postgres opens PostgreSQL for the store: the pool, the transactions
// with their change clock, notifications, and driver errors as the store's.
// The SQL of the nouns is not here.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// writerLock is an advisory lock that every writing transaction holds, shared, from
// before it reads its stamp, the one timestamp of its changes, until it ends. Watermark
// looks for its holders.
const writerLock = 4_261_946_101

// Engine is a PostgreSQL database.
type Engine struct {
	dialect
	pool    *pgxpool.Pool
	options db.Options
	// snapshots bounds long reads, which may never take the last connections.
	snapshots *db.Limit
	server    *serverClock // an estimate of the clock of the server
	// clock is what Now returns: it follows server and never falls behind a stamp.
	clock *db.Clock
	// replica takes reads that may use it; nil, which takes none, if there is none.
	replica *replica

	stop    context.CancelFunc // ends the work in the background
	running sync.WaitGroup
}

// Open connects to the database that the address names.
func Open(ctx context.Context, address string, options db.Options) (*Engine, error) {
	options = options.WithDefaults()
	cfg, err := poolConfig(address, options)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open the pool: %w", err)
	}
	e := &Engine{pool: pool, options: options, server: newServerClock()}
	e.snapshots = db.NewLimit(int(cfg.MaxConns)*2/5, connectionTimeout) // the other three fifths are for short calls
	e.clock = db.NewClock(e.server.Now)
	if err := e.sampleClock(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	if options.ReadAddress != "" {
		if e.replica, err = newReplica(ctx, options.ReadAddress, pool, options); err != nil {
			pool.Close()
			return nil, err
		}
	}
	background, stop := context.WithCancel(context.Background())
	e.stop = stop
	e.running.Go(func() { e.watchClock(background) })
	if e.replica != nil {
		e.running.Go(func() { e.replica.watch(background) })
	}
	return e, nil
}

// Write runs fn in a transaction.
func (e *Engine) Write(ctx context.Context, fn func(db.Tx) error) error {
	began := time.Now()
	for try := 0; ; try++ {
		lost, err := e.writeOnce(ctx, fn)
		if err == nil {
			return nil
		}
		elapsed := time.Since(began)
		reconnect := lost && try < maxLostConnections && elapsed < time.Second
		if !reconnect && (try >= retries(err) || elapsed > connectionTimeout) {
			return err
		}
		wait := time.Duration(1+rand.IntN(4<<min(try, 5))) * time.Millisecond //nolint:gosec // Jitter is no secret.
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// maxLostConnections is how many connections of the pool may turn out to be dead,
// as all are after the server was restarted, before a transaction fails.
const maxLostConnections = 3

// writeOnce reports lost = true if the connection broke before the commit was sent:
// then the transaction has had no effect and can run again.
func (e *Engine) writeOnce(ctx context.Context, fn func(db.Tx) error) (lost bool, err error) {
	conn, release, err := e.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	t := &tx{runner: runner{conn: conn}, engine: e}
	if err := fn(t); err != nil {
		lost = conn.IsClosed() && ctx.Err() == nil && errors.Is(err, db.ErrUnavailable)
		t.rollback()
		return lost, err
	}
	if err := t.commit(ctx); err != nil {
		t.rollback()
		return false, err
	}
	return false, nil
}

// Read runs fn on one connection: to the read replica if ctx allows that and the
// replica has all changes, else to the primary.
func (e *Engine) Read(ctx context.Context, fn func(db.Conn) error) error {
	if e.replica.takes(ctx) {
		if done, err := e.replica.read(ctx, fn); done {
			return err
		}
	}
	return e.readPrimary(ctx, fn)
}

func (e *Engine) readPrimary(ctx context.Context, fn func(db.Conn) error) error {
	conn, release, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	if e.options.TransactionPooler {
		return fn(&pooledReader{runner{conn: conn}})
	}
	return fn(&runner{conn: conn})
}

// connectionTimeout is how long a call may use a connection. It ends calls to a
// database that hangs instead of closing its connections.
const connectionTimeout = 15 * time.Second

// acquire returns a connection that breaks when it is used for longer than
// connectionTimeout.
func (e *Engine) acquire(ctx context.Context) (*pgx.Conn, func(), error) {
	conn, err := e.waitForConnection(ctx)
	if err != nil {
		return nil, nil, err
	}
	netConn := conn.Conn().PgConn().Conn()
	if err := netConn.SetDeadline(time.Now().Add(connectionTimeout)); err != nil {
		conn.Release()
		return nil, nil, mapError(err)
	}
	return conn.Conn(), func() {
		_ = netConn.SetDeadline(time.Time{}) // a closed connection does not return to the pool
		conn.Release()
	}, nil
}

// waitForConnection returns a connection, or ErrUnavailable if none is free in time.
func (e *Engine) waitForConnection(ctx context.Context) (*pgxpool.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, e.options.ConnectionWait)
	defer cancel()
	conn, err := e.pool.Acquire(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: no connection within %s: %w", db.ErrUnavailable, e.options.ConnectionWait, err)
	}
	return conn, mapError(err)
}

// Snapshot runs fn in a repeatable read-only transaction, on the server that Read would
// use.
func (e *Engine) Snapshot(ctx context.Context, fn func(db.Conn) error) error {
	release, err := e.snapshots.Acquire(ctx, 0)
	if err != nil {
		return err
	}
	defer release()
	if e.replica.takes(ctx) {
		if done, err := e.replica.snapshot(ctx, fn); done {
			return err
		}
	}
	conn, err := e.waitForConnection(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return inSnapshot(ctx, conn.Conn(), fn)
}

// inSnapshot runs fn in a repeatable read-only transaction. JIT compilation is off
// because it would delay the first rows of a long statement.
func inSnapshot(ctx context.Context, conn *pgx.Conn, fn func(db.Conn) error) error {
	err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, snapshotSQL); err != nil {
				return err
			}
			return fn(&runner{conn: conn})
		})
	return mapError(err)
}

// snapshotSQL sets what holds for a snapshot. The reader of a report may be slow,
// so the transaction may be idle for longer than a writing one, and its statements
// end with their context.
const snapshotSQL = `SELECT set_config('jit', 'off', true), set_config('idle_in_transaction_session_timeout', '60s', true),
	set_config('statement_timeout', '0', true)`

// ScrubDeleted does nothing: PostgreSQL's vacuum clears dead rows.
func (e *Engine) ScrubDeleted(context.Context) {}

// Claim does nothing: any number of servers can share the database.
func (e *Engine) Claim() error { return nil }

// grownTablesSQL finds tables that are much larger than when they were last analyzed,
// or that were never analyzed. A hundred rows already mislead the planner: it
// filtered all 500 employees of a company for each that was read, at half the rate.
const grownTablesSQL = `
	SELECT quote_ident(s.relname) FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
	WHERE s.schemaname = current_schema() AND s.n_mod_since_analyze > 100 + 2 * greatest(c.reltuples, 0)`

// grownPartitionedSQL does the same for partitioned tables, which PostgreSQL analyzes
// only if it is told to. Their changes are those of their partitions.
const grownPartitionedSQL = `
	SELECT quote_ident(p.relname) FROM pg_class p JOIN pg_inherits i ON i.inhparent = p.oid
		JOIN pg_stat_user_tables s ON s.relid = i.inhrelid
	WHERE p.relkind = 'p' AND p.relnamespace = current_schema()::regnamespace
	GROUP BY p.oid HAVING sum(s.n_live_tup) > 100 + 3 * greatest(p.reltuples, 0)`

// AnalyzeGrownTables analyzes tables that have grown fast. In a new database
// PostgreSQL plans for empty tables and keeps those plans, and autovacuum runs
// once a minute at best: an import would scan whole tables until then.
func (e *Engine) AnalyzeGrownTables(ctx context.Context) error {
	// The partitioned ones come first, because their partitions are analyzed with them.
	for _, find := range []string{grownPartitionedSQL, grownTablesSQL} {
		rows, err := e.pool.Query(ctx, find)
		if err != nil {
			return mapError(err)
		}
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return mapError(err)
		}
		for _, table := range tables {
			if err := e.analyze(ctx, table); err != nil {
				return fmt.Errorf("analyze %s: %w", table, mapError(err))
			}
		}
	}
	return nil
}

func (e *Engine) analyze(ctx context.Context, table string) error {
	return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; ANALYZE "+table)
		return err
	})
}

// Ping returns an error if the database does not answer or takes no changes.
func (e *Engine) Ping(ctx context.Context) error {
	var readOnly bool
	if err := e.pool.QueryRow(ctx, `SELECT current_setting('transaction_read_only') = 'on'`).Scan(&readOnly); err != nil {
		return mapError(err)
	}
	if readOnly {
		return fmt.Errorf("%w: the database is read-only", db.ErrUnavailable)
	}
	return nil
}

// Stats returns the state of the pool.
func (e *Engine) Stats() db.Stats {
	s := e.pool.Stat()
	return db.Stats{
		Max: int(s.MaxConns()), Open: int(s.TotalConns()), InUse: int(s.AcquiredConns()), Idle: int(s.IdleConns()),
		WaitCount: s.EmptyAcquireCount(), WaitDuration: s.EmptyAcquireWaitTime(), Replica: e.replica.stats(),
	}
}

// Close closes the pool once all its connections are released.
func (e *Engine) Close() error {
	e.stop()
	e.running.Wait()
	if e.replica != nil {
		e.replica.pool.Close()
	}
	e.pool.Close()
	return nil
}
