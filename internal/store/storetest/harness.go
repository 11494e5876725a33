// Package storetest is the store's specification: the conformance suite that
// every store method joins, run by the same tests on every engine. It holds
// tests and what they share, nothing the program uses.
package storetest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store"
)

// Each runs fn once per engine, each time on a migrated database of its own.
func Each(t *testing.T, fn func(t *testing.T, s *store.Store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, Open(t, SQLite(t)))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		if address := Postgres(t); address != "" {
			fn(t, Open(t, address))
		}
	})
}

// SQLite gives the address of a database that does not exist yet.
func SQLite(tb testing.TB) string {
	return "sqlite://" + filepath.Join(tb.TempDir(), "test.db")
}

// Postgres gives the address of a migrated database, or "" where there is no server.
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

// Open opens and migrates the database at the address until the test ends.
func Open(tb testing.TB, address string) *store.Store {
	tb.Helper()
	s, err := store.Open(tb.Context(), address)
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
	return s
}
