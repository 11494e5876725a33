package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/migrations"
)

// provider returns goose on connections of its own, whose statements may take as long
// as they need.
func (e *Engine) provider(schema migrations.Schema) (*goose.Provider, func(), error) {
	files, err := migrations.For("postgres")
	if err != nil {
		return nil, nil, err
	}
	cfg, err := e.sessionConfig()
	if err != nil {
		return nil, nil, err
	}
	locking := goose.WithLocker(&transactionLocker{})
	if e.hasSessions() {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120))
		if err != nil {
			return nil, nil, fmt.Errorf("make the migration lock: %w", err)
		}
		locking = goose.WithSessionLocker(locker)
	}
	sqlDB := sql.OpenDB(migrationConnector{stdlib.GetConnector(*cfg)})
	p, err := goose.NewProvider(goose.DialectPostgres, sqlDB, files, locking, goose.WithDisableGlobalRegistry(true),
		goose.WithExcludeVersions(migrations.Applied(schema.Version)))
	if err != nil {
		_ = sqlDB.Close()
		return nil, nil, fmt.Errorf("read the migrations: %w", err)
	}
	return p, func() { _ = sqlDB.Close() }, nil
}

// A migration that waits for a table makes every later request for that table wait
// behind it, and two tables can make a deadlock with requests. So it waits less long
// than PostgreSQL needs to find a deadlock (1 s), lets the requests pass, and tries
// again. A report may hold a table for ten minutes.
const (
	migrationLockWait = 500 * time.Millisecond
	migrationPatience = 15 * time.Minute
)

// migrationConnector opens connections whose transactions wait at most
// migrationLockWait for a lock. The setting is the transaction's own, not the
// session's: behind a pooler it would outlive the migration, in a session of others.
type migrationConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c migrationConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return migrationConn{conn.(*stdlib.Conn)}, nil
}

type migrationConn struct{ *stdlib.Conn }

// BeginTx implements driver.ConnBeginTx.
func (c migrationConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	if _, err := c.ExecContext(ctx, dialect{}.LockTimeout(migrationLockWait), nil); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// transactionLocker keeps migrations apart behind a pooler, where a session cannot
// hold a lock. A transaction that stays open for that long holds it instead. The lock
// is the one that goose takes in a session, so that both kinds exclude each other.
type transactionLocker struct{ tx *sql.Tx }

// lockRetry is how often the lock is tried again. A waiting process holds no
// connection of the pooler meanwhile.
const lockRetry = 200 * time.Millisecond

// Lock implements lock.Locker.
func (l *transactionLocker) Lock(ctx context.Context, pool *sql.DB) error {
	limited, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		locked, err := l.try(ctx, pool)
		if locked || err != nil {
			return err
		}
		select {
		case <-limited.Done():
			return fmt.Errorf("wait for another process that migrates the database: %w", limited.Err())
		case <-time.After(lockRetry):
		}
	}
}

func (l *transactionLocker) try(ctx context.Context, pool *sql.DB) (locked bool, err error) {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	err = tx.QueryRowContext(ctx, `SELECT pg_try_advisory_xact_lock($1)`, lock.DefaultLockID).Scan(&locked)
	if locked && err == nil {
		// This also ends the snapshot of the statement before, for which the building of an
		// index would wait.
		_, err = tx.ExecContext(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`)
	}
	if locked && err == nil {
		l.tx = tx
		return true, nil
	}
	return false, errors.Join(err, tx.Rollback())
}

// Unlock implements lock.Locker.
func (l *transactionLocker) Unlock(context.Context, *sql.DB) error { return l.tx.Rollback() }

// Migrate brings the schema up to date. Replicas that start together wait for
// one another. Running servers go on.
func (e *Engine) Migrate(ctx context.Context) error {
	for began := time.Now(); ; {
		err := e.migrate(ctx)
		waits := errors.Is(err, db.ErrLocked) || errors.Is(err, db.ErrRetry)
		if !waits || time.Since(began) > migrationPatience {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockRetry):
		}
	}
}

// migrate applies the migrations that are missing. Each is a transaction, so that
// those that have succeeded stay when a later one fails.
func (e *Engine) migrate(ctx context.Context) error {
	schema, err := e.schema(ctx)
	switch {
	case err == nil && schema.Version >= migrations.Version:
		return migrations.Check(schema)
	case err != nil && !errors.Is(err, db.ErrNoSchema):
		return err
	}
	p, done, err := e.provider(schema)
	if err != nil {
		return err
	}
	defer done()
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", mapError(err))
	}
	return nil
}

// CheckSchema returns an error unless this program can run on the schema.
func (e *Engine) CheckSchema(ctx context.Context) error {
	schema, err := e.schema(ctx)
	if err != nil {
		return err
	}
	return migrations.Check(schema)
}

// schema returns the state of the schema, or db.ErrNoSchema.
func (e *Engine) schema(ctx context.Context) (migrations.Schema, error) {
	var out migrations.Schema
	err := e.pool.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&out.Version)
	const undefinedTable = "42P01"
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == undefinedTable {
		return out, db.ErrNoSchema
	}
	if err == nil && out.Version > migrations.Version {
		err = e.pool.QueryRow(ctx, migrations.OldestProgramSQL).Scan(&out.OldestProgram)
	}
	return out, mapError(err)
}
