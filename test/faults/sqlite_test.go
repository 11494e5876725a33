package faults

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for the other program on the file
)

// Another program that keeps the file locked is an outage, not a failure.
func TestSQLiteIsLockedByAnotherProgram(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	f, caller, inbox := newFirm(t, database), newCaller(t), newReceiver(t, nil)
	caller.Timeout = 2 * patience // whoever writes waits for those before it
	f.listen(t, inbox.URL)
	server := serve(t, database)
	f.join(t, caller, server.url, "there")
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
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	run("PRAGMA busy_timeout = 10000")
	run("BEGIN IMMEDIATE")
	began := time.Now()
	got, err := f.call(t.Context(), caller, http.MethodPost, server.url+"/api/v1/employees/provision", someone("lost"))
	if err != nil {
		t.Fatalf("no answer after %s: %v", time.Since(began), err)
	}
	wantError(t, got, http.StatusServiceUnavailable, "unavailable")
	t.Logf("told after %s", time.Since(began).Round(time.Millisecond))
	f.must(t, caller, http.MethodGet, server.url+"/api/v1/employees/there", nil) // reading goes on
	run("ROLLBACK")
	works(t, f, caller, server.url, "back", inbox)
	if f.has(t, caller, server.url, "lost") {
		t.Error("a change that was refused has happened")
	}
}
