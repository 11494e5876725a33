// Package storetest is the specification of the store: a conformance suite that
// runs the same tests on every engine. Every store method has its tests here. The
// package holds tests and their helpers, nothing that the program uses.
package storetest

import (
	"context"
	"path/filepath"
	"strings"
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

// SQLite returns the address of a database that does not exist yet.
func SQLite(tb testing.TB) string {
	return "sqlite://" + filepath.Join(tb.TempDir(), "test.db")
}

// Postgres returns the address of a migrated database, or ends the test where there
// is no server: see pgtest.URL.
func Postgres(tb testing.TB) string {
	return pgtest.URLFromTemplate(tb, "migrated", func(address string) error {
		s, err := store.Open(context.Background(), address)
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Engine().Migrate(context.Background())
	})
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
