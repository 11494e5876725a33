package postgres_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/postgres"
)

// BenchmarkWrite measures what a transaction costs beyond its own statement.
func BenchmarkWrite(b *testing.B) {
	e, err := postgres.Open(b.Context(), pgtest.URL(b), db.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	if err := e.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	change := func(sql string) {
		err := e.Write(b.Context(), func(tx db.Tx) error { _, err := tx.Exec(b.Context(), sql); return err })
		if err != nil {
			b.Fatal(err)
		}
	}
	change(`CREATE TABLE counters (id bigint PRIMARY KEY, n bigint NOT NULL)`)
	change(`INSERT INTO counters VALUES (1, 0)`)
	for b.Loop() {
		change(`UPDATE counters SET n = n + 1 WHERE id = 1`)
	}
}
