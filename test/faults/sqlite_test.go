package faults

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to lock the file like another program
)

// While another program locks the file, writes are answered with "unavailable".
func TestSQLiteIsLockedByAnotherProgram(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	acme, inbox := newCompany(t, database), newReceiver(t, nil)
	acme.client.Timeout = 2 * timeout // a write waits for the writes before it
	acme.addWebhook(t, inbox.URL)
	server := serve(t, database)
	acme.provision(t, server.url, "there")
	other, err := sql.Open("sqlite", strings.TrimPrefix(database, "sqlite://"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	conn, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func(statement string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	run("PRAGMA busy_timeout = 10000")
	run("BEGIN IMMEDIATE")
	began := time.Now()
	got, err := acme.send(t.Context(), http.MethodPost, server.url+"/api/v1/employees/provision", newPerson("lost"))
	if err != nil {
		t.Fatalf("no answer after %s: %v", time.Since(began), err)
	}
	wantError(t, got, http.StatusServiceUnavailable, "unavailable")
	t.Logf("refused after %s", time.Since(began).Round(time.Millisecond))
	acme.mustSend(t, http.MethodGet, server.url+"/api/v1/employees/there", nil) // reads still work
	run("ROLLBACK")
	waitForRecovery(t, acme, server.url, "back", inbox)
	if acme.hasEmployee(t, server.url, "lost") {
		t.Error("a change that was refused was made after all")
	}
}
