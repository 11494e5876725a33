package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/migrations"
)

// Migrate brings the schema up to date. Processes that start together wait for one
// another.
func (e *Engine) Migrate(ctx context.Context) error {
	if schema, err := e.schema(ctx); err == nil && schema.Version >= migrations.Version {
		return migrations.Check(schema)
	}
	return setUp(e.path, func() error { return e.migrate(ctx) })
}

func (e *Engine) migrate(ctx context.Context) error {
	files, err := migrations.For("sqlite")
	if err != nil {
		return err
	}
	schema, err := e.schema(ctx)
	if err != nil && !errors.Is(err, db.ErrNoSchema) {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, e.db, files, goose.WithDisableGlobalRegistry(true),
		goose.WithExcludeVersions(migrations.Applied(schema.Version)))
	if errors.Is(err, goose.ErrNoMigrations) { // another process was quicker
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
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
	var tables int64
	var out migrations.Schema
	read := func(c db.Conn, into *int64, sql string) error {
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(into) }, sql)
		return c.Send(ctx, b)
	}
	err := e.Read(ctx, func(c db.Conn) error {
		err := read(c, &tables, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'goose_db_version'")
		if err != nil || tables == 0 {
			return err
		}
		err = read(c, &out.Version, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied = 1")
		if err != nil || out.Version <= migrations.Version {
			return err
		}
		return read(c, &out.OldestProgram, migrations.OldestProgramSQL)
	})
	if err == nil && tables == 0 {
		err = db.ErrNoSchema
	}
	return out, err
}
