package contract_test

import (
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// databaseContents returns everything that the database holds: on SQLite the bytes of
// the file and its log, free pages included, on PostgreSQL every row of every table.
func (s *suite) databaseContents(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	if file, ok := strings.CutPrefix(s.Database, "sqlite://"); ok {
		for _, suffix := range []string{"", "-wal", "-journal"} {
			text, err := os.ReadFile(file + suffix)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			out.Write(text)
		}
		return out.String()
	}
	conn, err := pgx.Connect(t.Context(), s.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	rows, err := conn.Query(t.Context(), `SELECT format('SELECT row_to_json(t)::text FROM %I t', tablename) FROM pg_tables WHERE schemaname = 'public'`)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range queries {
		rows, err := conn.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(strings.Join(lines, "\n") + "\n")
	}
	return out.String()
}

// containsText reports whether the contents have a word, as text or as hexadecimal bytes.
func containsText(contents, word string) bool {
	return strings.Contains(strings.ToLower(contents), word) || strings.Contains(contents, hex.EncodeToString([]byte(word)))
}

// erased looks for an erased person in the database itself, also when a receiver has
// returned the body of an event about them.
func erased(t *testing.T, s *suite) {
	o := apptest.Options{}
	if strings.HasPrefix(s.Database, "postgres") {
		o.Database = s.Database
	}
	f := newSuite(t, apptest.Start(t, o), s.coverage).newCompany(t)
	received, release := make(chan string, 64), make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := r.Header.Get("X-Service-Event")
		received <- kind
		if kind == "assignment.completed" {
			<-release
		}
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.Copy(w, r.Body)
	}))
	defer receiver.Close()
	kinds := []string{}
	for _, k := range domain.EventKinds {
		kinds = append(kinds, string(k))
	}
	if _, err := f.suite.AddWebhook(t.Context(), app.WebhookInput{Company: f.id, URL: receiver.URL, Description: "echo", Events: kinds}); err != nil {
		t.Fatal(err)
	}
	f.sendRows(t, []row{
		{do: provisionPath, body: `{"externalId":"zq-77","email":"<@wilhelmina.xu>","name":"Wilhelmina Xu"}`},
		{do: "PATCH /employees/zq-77", body: `{"tags":["quokka"],"email":"<@wilhelmina.lee>"}`},
		{do: assignPath, body: `{"employeeExternalId":"zq-77","courseId":<exam>,"externalId":"W1"}`, save: "w"},
	})
	f.reportActivity(t, f.vars["w"], "attempt_finished", `"score":81.25`)
	deadline := time.After(eventTimeout)
	for kind := ""; kind != "assignment.completed"; {
		select {
		case kind = <-received:
		case <-deadline:
			t.Fatal("no event arrived")
		}
	}
	words := []string{"wilhelmina", "quokka", "zq-77"}
	for _, word := range words {
		if !containsText(f.suite.databaseContents(t), word) {
			t.Fatalf("%q is not even there before", word)
		}
	}
	f.sendRows(t, []row{{do: "DELETE /employees/zq-77", has: `{"status":"deleted"}`}})
	for _, word := range words[:2] {
		if containsText(f.suite.databaseContents(t), word) {
			t.Errorf("%q is still in the database", word)
		}
	}
	close(release)
	for kind := ""; kind != "employee.removed"; {
		select {
		case kind = <-received:
		case <-deadline:
			t.Fatal("no event of the removal arrived")
		}
	}
	for _, word := range words[:2] {
		if containsText(f.suite.databaseContents(t), word) {
			t.Errorf("%q is in the database once its last event is over", word)
		}
	}
}
