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
	if schema, err := e.schema(ctx); err == nil && schema.Version >= migrations.Version {
		return migrations.Check(schema)
	}
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

// Migrated returns an error unless this program can run on the schema.
func (e *Engine) Migrated(ctx context.Context) error {
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
