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
		if err == nil || !a.isTemporary(err) || !time.Now().Before(deadline) {
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

// isTemporary reports whether waiting can help: a file that cannot be opened, a wrong
// password and an unknown database stay as they are.
func (a *App) isTemporary(err error) bool {
	if _, ok := sqlitePath(a.config.Database); ok || !errors.Is(err, db.ErrUnavailable) {
		return false
	}
	var refused interface{ SQLState() string }
	if !errors.As(err, &refused) {
		return true
	}
	const outOfResources, operatorIntervention = "53", "57" // classes of codes; the second while PostgreSQL starts or shuts down
	return strings.HasPrefix(refused.SQLState(), outOfResources) || strings.HasPrefix(refused.SQLState(), operatorIntervention)
}

func (a *App) openDatabase(ctx context.Context) error {
	if err := a.requireFile(); err != nil {
		return err
	}
	a.createFile()
	s, err := store.OpenWith(ctx, a.config.Database, a.config.databaseOptions())
	if _, ok := sqlitePath(a.config.Database); !ok && errors.Is(err, db.ErrUnavailable) {
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

// prepare migrates or checks the schema and, unless the key is lost, loads the key that
// encrypts secrets.
func (a *App) prepare(ctx context.Context) error {
	if a.config.Create {
		if err := a.store.Engine().Migrate(ctx); err != nil {
			return fmt.Errorf("prepare the database: %w", err)
		}
	} else if err := a.checkSchema(ctx); err != nil || a.config.LostKey {
		return err
	}
	return a.openBox(ctx)
}

// checkSchema returns an error unless the program can run on the schema.
func (a *App) checkSchema(ctx context.Context) error {
	err := a.store.Engine().CheckSchema(ctx)
	switch {
	case errors.Is(err, db.ErrNoSchema):
		return a.errNoDatabase()
	case err != nil:
		return fmt.Errorf("check the database: %w", err)
	}
	return nil
}

// requireFile returns an error if the database is an SQLite file that is missing
// and must not be created.
func (a *App) requireFile() error {
	path, ok := sqlitePath(a.config.Database)
	if !ok || path == "" || a.config.Create {
		return nil
	}
	if info, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return a.errNoDatabase()
	}
	return nil
}

// createFile creates a new SQLite file that only its owner can read. Where it
// fails, opening the database fails too, with the reason.
func (a *App) createFile() {
	path, ok := sqlitePath(a.config.Database)
	if !ok || path == "" || !a.config.Create {
		return
	}
	if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = f.Close()
	}
}

func (a *App) errNoDatabase() error {
	return fmt.Errorf("there is no database at %s; coursebridge serve or coursebridge migrate creates one", Redact(a.config.Database))
}

// sqlitePath returns the path in the address of an SQLite database; ok is false for
// another engine's address.
func sqlitePath(address string) (path string, ok bool) {
	return strings.CutPrefix(address, sqliteScheme)
}

// Redact returns a database address, or another URL, without the passwords in it.
func Redact(address string) string {
	if _, ok := sqlitePath(address); ok {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return unreadableAddress
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return unreadableAddress
	}
	for _, name := range []string{"password", "sslpassword"} { // the parameters with which PostgreSQL takes passwords
		if query.Has(name) {
			query.Set(name, "xxxxx") // as Redacted does
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted()
}

// unreadableAddress stands for an address in which a password cannot be recognised.
const unreadableAddress = "(an address that cannot be read)"
