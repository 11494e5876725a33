package storetest

import (
	"database/sql"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of goose
	"github.com/pressly/goose/v3"

	"github.com/coursebridge/coursebridge/internal/store/migrations"
)

// MigrateTo creates the schema of an earlier version on PostgreSQL.
func MigrateTo(tb testing.TB, address string, version int64) {
	tb.Helper()
	files, err := migrations.For("postgres")
	if err != nil {
		tb.Fatal(err)
	}
	pool, err := sql.Open("pgx", address)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	p, err := goose.NewProvider(goose.DialectPostgres, pool, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := p.UpTo(tb.Context(), version); err != nil {
		tb.Fatal(err)
	}
}
