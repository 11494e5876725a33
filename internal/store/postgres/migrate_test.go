package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/postgres"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// A migration that has to wait for a table, as for one that a report reads, does not
// keep requests from it, and goes on once the table is free.
func TestMigrationLetsRequestsPass(t *testing.T) {
	t.Parallel()
	t.Run("direct", func(t *testing.T) {
		t.Parallel()
		address := pgtest.URL(t)
		checkMigrationLetsRequestsPass(t, address, open(t, address))
	})
	t.Run("pooled", func(t *testing.T) {
		t.Parallel()
		address := pgtest.URL(t)
		checkMigrationLetsRequestsPass(t, address, open(t, pgtest.Pooler(t, address), db.Options{TransactionPooler: true}))
	})
}

func checkMigrationLetsRequestsPass(t *testing.T, address string, e *postgres.Engine) {
	t.Helper()
	storetest.MigrateTo(t, address, 21)
	reader, request := connect(t, address), connect(t, address)
	execute(t, reader, `BEGIN`)
	execute(t, reader, `SELECT count(*) FROM events`)
	migrated := make(chan error, 1)
	go func() { migrated <- e.Migrate(t.Context()) }()
	waitForLock(t, request)
	execute(t, request, `SET lock_timeout = '20s'; SELECT count(*) FROM events`)
	select {
	case err := <-migrated:
		t.Fatalf("the migration ended while the table was read: %v", err)
	default:
	}
	execute(t, reader, `COMMIT`)
	if err := <-migrated; err != nil {
		t.Error(err)
	}
	if err := e.CheckSchema(t.Context()); err != nil {
		t.Error(err)
	}
}

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// waitForLock waits until a connection waits for a table.
func waitForLock(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	const waitingSQL = `SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
		if err := conn.QueryRow(t.Context(), waitingSQL).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
}
