package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

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
	if err != nil {
		return mapError(err)
	}
	return migrations.Check(version)
}

// Backup runs pg_dump, which must be installed.
func (e *Engine) Backup(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s exists already; name a new file", path)
	}
	bin, err := exec.LookPath("pg_dump")
	if err != nil {
		return errors.New("a backup of PostgreSQL needs pg_dump on this machine; install the PostgreSQL client, or back up on the database server")
	}
	cmd := exec.CommandContext(ctx, bin, "--format=custom", "--file", path, e.pool.Config().ConnString())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_dump: %w: %s", err, out)
	}
	return nil
}
