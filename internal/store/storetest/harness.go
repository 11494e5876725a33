// Package storetest is the specification of the store: a conformance suite that
// runs the same tests on every engine. Every store method has its tests here. The
// package holds tests and their helpers, nothing that the program uses.
package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Each runs fn once for each engine, on a migrated database of its own. Without a
// PostgreSQL server the subtest "postgres" is reported as skipped: see pgtest.URL.
func Each(t *testing.T, fn func(t *testing.T, s *store.Store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, Open(t, SQLite(t)))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, Open(t, Postgres(t)))
	})
}

// SQLite returns the address of a migrated database. It is a copy of one that is
// migrated once per process.
func SQLite(tb testing.TB) string {
	tb.Helper()
	migrated, err := migratedFile()
	if err != nil {
		tb.Fatalf("migrate a database: %v", err)
	}
	file := filepath.Join(tb.TempDir(), "test.db")
	if err := os.WriteFile(file, migrated, 0o600); err != nil {
		tb.Fatal(err)
	}
	return "sqlite://" + file
}

var migratedFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "coursebridge-migrated-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "migrated.db")
	if err := migrate("sqlite://" + file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

func migrate(address string) error {
	s, err := store.Open(context.Background(), address)
	if err != nil {
		return err
	}
	return errors.Join(s.Engine().Migrate(context.Background()), s.Close())
}

// Postgres returns the address of a migrated database, or ends the test where there
// is no server: see pgtest.URL.
func Postgres(tb testing.TB) string {
	return pgtest.URLFromTemplate(tb, "migrated", migrate)
}

// WrapEngine replaces, if it is set, the engine of every store that Open opens.
var WrapEngine func(testing.TB, db.Engine) db.Engine

// Open opens and migrates the database at the address, and closes it when the test
// ends.
func Open(tb testing.TB, address string) *store.Store {
	tb.Helper()
	var options db.Options
	if pgtest.UsePooler() && strings.HasPrefix(address, "postgres") {
		address, options.TransactionPooler = pgtest.Pooler(tb, address), true
	}
	s, err := store.OpenWith(tb.Context(), address, options)
	if err != nil {
		tb.Fatalf("open the store: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close the store: %v", err)
		}
	})
	if err := s.Engine().Migrate(tb.Context()); err != nil {
		tb.Fatalf("migrate: %v", err)
	}
	if WrapEngine != nil {
		s = store.New(WrapEngine(tb, s.Engine()))
	}
	return s
}
