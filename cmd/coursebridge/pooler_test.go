package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// Two servers and the commands work through PgBouncer in transaction mode, with the
// setting from the environment. What one process does reaches the others.
func TestEverythingWorksBehindATransactionPooler(t *testing.T) {
	direct := pgtest.URL(t)
	pooled := pgtest.Pooler(t, direct)
	t.Setenv("COURSEBRIDGE_DATABASE_POOLER", "transaction")
	first := startServer(t, pooled)
	second := startServer(t, pooled, "--database-direct", direct)
	mustRun(t, pooled, "migrate")
	mustRun(t, pooled, "company", "create", "--name", "Acme", "--admin", "ann@acme.example")
	token := mustRun(t, pooled, "token", "create", "--company", "1", "--name", "HR", "--scope", "b2b_read", "--scope", "b2b_provision")
	received := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received <- r.URL.Path }))
	defer receiver.Close()
	mustRun(t, pooled, "webhook", "add", "--company", "1", "--url", receiver.URL+"/hook", "--event", "employee.joined",
		"--webhook-allow-private", "--webhook-allow-http")
	for i, s := range []*server{first, second} {
		body := fmt.Sprintf(`{"externalId": "e%d", "email": "e%[1]d@acme.example", "name": "Person %[1]d"}`, i)
		if status := s.call(t, http.MethodPost, "/api/v1/employees/provision", token["token"].(string), body); status/100 != 2 {
			t.Errorf("provision: %d", status)
		}
		select {
		case <-received:
		case <-time.After(20 * time.Second):
			t.Fatal("the webhook was not sent")
		}
	}
	for _, s := range []*server{first, second} {
		if status := s.call(t, http.MethodGet, "/api/v1/employees/e0", token["token"].(string), ""); status != 200 {
			t.Errorf("read: %d", status)
		}
	}
	mustRun(t, pooled, "token", "revoke", "--id", "1")
	time.Sleep(time.Second) // how long a revoked token may be accepted elsewhere
	for _, s := range []*server{first, second} {
		if status := s.call(t, http.MethodGet, "/api/v1/employees/e0", token["token"].(string), ""); status != 401 {
			t.Errorf("a revoked token after a second: %d", status)
		}
	}
	wantRefused(t, "--database-direct", "backup", t.TempDir()+"/copy", "--database", pooled)
	mustRun(t, pooled, "backup", t.TempDir()+"/copy", "--database-direct", direct)
}

func TestPoolerSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--database-pooler must be one of": {"--database-pooler", "session"},
		"add --database-pooler":            {"--database-direct", "postgres://db.example/x"},
		"must begin with postgres://":      {"--database-pooler", "transaction", "--database-direct", "db.example"},
		"--database-read must begin with":  {"--database-read", "sqlite://standby.db"},
	} {
		wantRefused(t, want, append([]string{"company", "list", "--database", "postgres://127.0.0.1:1/x"}, args...)...)
	}
	wantRefused(t, "SQLite has no standbys", "company", "list", "--database", "sqlite://x.db", "--database-read", "postgres://127.0.0.1:1/x")
}

// call sends a request with a token and returns the status.
func (s *server) call(t *testing.T, method, path, token, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode
}
