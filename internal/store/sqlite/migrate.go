package sqlite

import (
	"context"
	"fmt"

	"github.com/pressly/goose/v3"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/migrations"
)

// Migrate brings the schema up to date. Processes that start together wait for one
// another.
func (e *Engine) Migrate(ctx context.Context) error {
	if e.Migrated(ctx) == nil {
		return nil
	}
	return setUp(e.path, func() error { return e.migrate(ctx) })
}

func (e *Engine) migrate(ctx context.Context) error {
	files, err := migrations.For("sqlite")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, e.db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", mapError(err))
	}
	return nil
}

// Migrated returns an error unless the schema is the one this program needs.
func (e *Engine) Migrated(ctx context.Context) error {
	var tables, version int64
	err := e.Read(ctx, func(c db.Conn) error {
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&tables) },
			"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'goose_db_version'")
		if err := c.Send(ctx, b); err != nil || tables == 0 {
			return err
		}
		b = &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&version) },
			"SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied = 1")
		return c.Send(ctx, b)
	})
	if err != nil {
		return err
	}
	if tables == 0 {
		return db.ErrNoSchema
	}
	return migrations.Check(version)
}
