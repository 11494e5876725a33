package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/migrations"
)

func (e *Engine) provider() (*goose.Provider, func(), error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120))
	if err != nil {
		return nil, nil, fmt.Errorf("make the migration lock: %w", err)
	}
	files, err := migrations.For("postgres")
	if err != nil {
		return nil, nil, err
	}
	sqlDB := stdlib.OpenDBFromPool(e.pool)
	p, err := goose.NewProvider(goose.DialectPostgres, sqlDB, files, goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		_ = sqlDB.Close()
		return nil, nil, fmt.Errorf("read the migrations: %w", err)
	}
	return p, func() { _ = sqlDB.Close() }, nil
}

// Migrate brings the schema up to date. Replicas that start together wait for
// one another.
func (e *Engine) Migrate(ctx context.Context) error {
	p, done, err := e.provider()
	if err != nil {
		return err
	}
	defer done()
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", mapError(err))
	}
	return nil
}

// Migrated returns an error unless the schema is the one this program needs.
func (e *Engine) Migrated(ctx context.Context) error {
	var version int64
	err := e.pool.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&version)
	const undefinedTable = "42P01"
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == undefinedTable {
		return db.ErrNoSchema
	}
	if err != nil {
		return mapError(err)
	}
	return migrations.Check(version)
}
