package storetest

import (
	"database/sql"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of goose
	"github.com/pressly/goose/v3"

	"github.com/coursebridge/coursebridge/internal/store/migrations"
)

// StopOldProgramsSQL makes the programs of versions 1 to 8 refuse a schema, which do not ask
// it for the oldest program that may run on it: see the package comment of migrations.
const StopOldProgramsSQL = "DELETE FROM goose_db_version WHERE version_id BETWEEN 1 AND 8"

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
