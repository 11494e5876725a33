package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const (
	sqliteScheme = "sqlite://"
	// databaseRetry is how often a database that cannot be reached is tried again.
	databaseRetry = 500 * time.Millisecond
)

// waitForDatabase opens the database. It waits as long as the configuration
// allows for one that cannot be reached, as while a machine starts.
func (a *App) waitForDatabase(ctx context.Context) error {
	deadline := time.Now().Add(a.config.DatabaseWait)
	for warned := false; ; warned = true {
		err := a.openDatabase(ctx)
		if err == nil || !a.mayComeBack(err) || !time.Now().Before(deadline) {
			return err
		}
		if !warned {
			a.log.Warn("waiting for the database", "error", err, "wait_ms", a.config.DatabaseWait.Milliseconds())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(databaseRetry):
		}
	}
}

// mayComeBack reports whether waiting can help: a file that cannot be opened, a
// wrong password and an unknown database stay as they are.
func (a *App) mayComeBack(err error) bool {
	if strings.HasPrefix(a.config.Database, sqliteScheme) || !errors.Is(err, db.ErrUnavailable) {
		return false
	}
	var refused interface{ SQLState() string }
	if !errors.As(err, &refused) {
		return true
	}
	class := refused.SQLState()[:2]
	return class == "53" || class == "57"
}

func (a *App) openDatabase(ctx context.Context) error {
	if err := a.requireFile(); err != nil {
		return err
	}
	a.createFile()
	s, err := store.OpenWith(ctx, a.config.Database, a.config.databaseOptions())
	if errors.Is(err, db.ErrUnavailable) && !strings.HasPrefix(a.config.Database, sqliteScheme) {
		return fmt.Errorf("open the database: %w; check that it runs there and that --database has the right address, user and password", err)
	}
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	a.store = s
	if err := a.prepare(ctx); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// prepare migrates the schema, or checks it, and opens the box.
func (a *App) prepare(ctx context.Context) error {
	if a.config.Create {
		if err := a.store.Engine().Migrate(ctx); err != nil {
			return fmt.Errorf("prepare the database: %w", err)
		}
		return a.openBox(ctx)
	}
	if a.config.LostKey {
		return a.checkSchema(ctx)
	}
	if err := a.checkSchema(ctx); err != nil {
		return err
	}
	return a.openBox(ctx)
}

// checkSchema returns an error unless the program can run on the schema.
func (a *App) checkSchema(ctx context.Context) error {
	err := a.store.Engine().Migrated(ctx)
	switch {
	case errors.Is(err, db.ErrNoSchema):
		return a.noDatabase()
	case err != nil:
		return fmt.Errorf("check the database: %w", err)
	}
	return nil
}

// requireFile returns an error if the database is an SQLite file that is missing
// and must not be created.
func (a *App) requireFile() error {
	path, ok := strings.CutPrefix(a.config.Database, sqliteScheme)
	if !ok || path == "" || a.config.Create {
		return nil
	}
	if info, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return a.noDatabase()
	}
	return nil
}

// createFile creates a new SQLite file that only its owner can read. Where it
// fails, opening the database fails too, with the reason.
func (a *App) createFile() {
	path, ok := strings.CutPrefix(a.config.Database, sqliteScheme)
	if !ok || path == "" || !a.config.Create {
		return
	}
	if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = f.Close()
	}
}

func (a *App) noDatabase() error {
	return fmt.Errorf("there is no database at %s; coursebridge serve or coursebridge migrate creates one", redact(a.config.Database))
}

// redact removes the password from a database address.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	return u.Redacted()
}
