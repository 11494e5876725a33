package main

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestOnlyServeAndMigrateCreateADatabase(t *testing.T) {
	t.Parallel()
	eachEngineEmpty(t, func(t *testing.T, database string) {
		file := filepath.Join(t.TempDir(), "copy")
		for _, args := range [][]string{
			{"company", "list"}, {"backup", file}, {"token", "revoke", "--id", "1"}, {"compact"}, {"public-url"},
			{"company", "create", "--name", "Acme", "--admin", "ann@acme.example"},
		} {
			wantRefused(t, "there is no database at ", append(args, "--database", database)...)
		}
		if path, isFile := strings.CutPrefix(database, "sqlite://"); isFile {
			if _, err := os.Stat(path); err == nil {
				t.Error("a file was created")
			}
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("a backup of nothing was written")
		}
		for _, look := range []string{"--status", "--dry-run"} {
			got := mustRun(t, database, "migrate", look)
			if !strings.Contains(got["status"].(string), "would be created") || got["pending"].([]any)[0] != "0001_initial" {
				t.Errorf("migrate %s: %v", look, got)
			}
		}
		wantRefused(t, "there is no database at ", "company", "list", "--database", database)
		mustRun(t, database, "migrate")
		mustRun(t, database, "company", "list")
		if got := mustRun(t, database, "migrate", "--status"); got["status"] != "up to date" || got["pending"] != nil {
			t.Errorf("migrate --status: %v", got)
		}
	})
}

func TestPasswordOfARefusedDatabaseIsNotPrinted(t *testing.T) {
	t.Parallel()
	database, err := url.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	got := runCommand(t, "company", "list", "--database", database.String())
	password, _ := database.User.Password()
	if got.code == 0 || password == "" || strings.Contains(got.stderr, ":"+password+"@") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

// newCompany migrates a database, which also makes its key, and creates a company in it.
func newCompany(t *testing.T, database string) {
	t.Helper()
	mustRun(t, database, "migrate")
	mustRun(t, database, "company", "create", "--name", "Acme", "--admin", "ann@acme.example")
}

// emptyDatabase returns the address of another empty database of the same engine.
func emptyDatabase(t *testing.T, like string) string {
	t.Helper()
	if strings.HasPrefix(like, "sqlite://") {
		return newSQLite(t)
	}
	return pgtest.URL(t)
}

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		newCompany(t, database)
		file := filepath.Join(t.TempDir(), "copy")
		pooled := database
		if strings.HasPrefix(database, "postgres") {
			pooled = withParameter(t, database, "pool_max_conns", "3")
		}
		mustRun(t, pooled, "backup", file)
		entries, err := filepath.Glob(file + "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range entries {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v, want mode 0600", name, info.Mode(), err)
			}
			if strings.HasSuffix(name, ".partial") {
				t.Errorf("%s was left behind", name)
			}
		}
		wantRefused(t, "already exists", "backup", file, "--database", database)

		restored := emptyDatabase(t, database)
		if got := mustRun(t, restored, "restore", file)["webhooks"]; got != "off" {
			t.Errorf("restore printed webhooks = %v", got)
		}
		if got := fmt.Sprint(mustRun(t, restored, "company", "list")); !strings.Contains(got, "Acme") {
			t.Errorf("the restored database has %s", got)
		}
		wantRefused(t, "already", "restore", file, "--database", restored)
		wantRefused(t, "already", "restore", file, "--database", database)
	})
}

func withParameter(t *testing.T, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

func TestFailedBackupLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "pg_dump")
	script := "#!/bin/sh\nfor a in \"$@\"; do case \"$a\" in --file=*) echo half > \"${a#--file=}\";; esac; done\necho \"$@\" > " + dir + "/arguments\nexit 3\n"
	if err := os.WriteFile(tool, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	database := storetest.Postgres(t)
	newCompany(t, database)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	target := filepath.Join(t.TempDir(), "copy")
	wantRefused(t, "pg_dump", "backup", target, "--database", database)
	left, err := fs.Glob(os.DirFS(filepath.Dir(target)), "*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	arguments, err := os.ReadFile(dir + "/arguments")
	if err != nil || password == "" || strings.Contains(string(arguments), ":"+password+"@") {
		t.Errorf("arguments of pg_dump: %s, %v", arguments, err)
	}
}

func TestRestoreRefusesADamagedFile(t *testing.T) {
	t.Parallel()
	eachEngineEmpty(t, func(t *testing.T, database string) {
		file := filepath.Join(t.TempDir(), "letters")
		if err := os.WriteFile(file, []byte(strings.Repeat("Dear diary, ", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
		got := runCommand(t, "restore", file, "--database", database)
		if got.code == 0 {
			t.Errorf("exit code 0: %s", got.stdout)
		}
		wantRefused(t, "there is no database at ", "company", "list", "--database", database)
	})
}

// A copy must not call the receivers of the original.
func TestRestoredDatabaseSendsNoWebhooks(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		newCompany(t, database)
		var received atomic.Int64
		receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received.Add(1) }))
		t.Cleanup(receiver.Close)
		mustRun(t, database, "webhook", "add", "--company", "1", "--url", receiver.URL, "--event", "employee.joined",
			"--webhook-allow-private", "--webhook-allow-http")
		token := mustRun(t, database, "token", "create", "--company", "1", "--name", "x", "--scope", "b2b_provision")["token"].(string)
		file := filepath.Join(t.TempDir(), "copy")
		mustRun(t, database, "backup", file)
		restored := emptyDatabase(t, database)
		mustRun(t, restored, "restore", file)

		s := startServer(t, restored)
		provision(t, s, token, "one")
		if !strings.Contains(s.log.String(), "sends no webhooks") {
			t.Errorf("the log does not say so:\n%s", s.log)
		}
		time.Sleep(1500 * time.Millisecond) // a new delivery leaves within milliseconds
		s.stop()
		if n := received.Load(); n != 0 {
			t.Fatalf("the copy sent %d webhooks", n)
		}
		mustRun(t, restored, "webhook", "resume")
		s = startServer(t, restored)
		for deadline := time.Now().Add(20 * time.Second); received.Load() == 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("nothing is sent after webhook resume")
			}
		}
		s.stop()
		wantAttemptLine(t, s.log.String())
	})
}

// wantAttemptLine fails unless the log has one line about an attempt, with the company
// and with a duration in milliseconds.
func wantAttemptLine(t *testing.T, log string) {
	t.Helper()
	var attempts []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"msg":"webhook attempt"`) {
			attempts = append(attempts, line)
		}
	}
	if len(attempts) != 1 || !strings.Contains(attempts[0], `"company":1,`) || !strings.Contains(attempts[0], `"duration_ms":`) {
		t.Errorf("the lines about one attempt: %q", attempts)
	}
}

// provision creates an employee through the API.
func provision(t *testing.T, s *server, token, id string) {
	t.Helper()
	body := strings.NewReader(fmt.Sprintf(`{"externalId":%q,"email":"%s@acme.example","name":"Ann"}`, id, id))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/employees/provision", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("provision: status %d", resp.StatusCode)
	}
}

func TestCompact(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		newCompany(t, database)
		path, isFile := strings.CutPrefix(database, "sqlite://")
		if isFile {
			leaveFreePages(t, path)
		}
		got := mustRun(t, database, "compact")
		before, after := got["bytesBefore"].(float64), got["bytesAfter"].(float64)
		if before <= 0 || after <= 0 || isFile && after > before/2 {
			t.Errorf("%v", got)
		}
		if _, hint := got["hint"]; hint == isFile {
			t.Errorf("%v", got)
		}
	})
}

// leaveFreePages makes most of an SQLite file consist of deleted rows.
func leaveFreePages(t *testing.T, path string) {
	t.Helper()
	e, err := sqlite.Open(t.Context(), path, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	err = e.Write(t.Context(), func(tx db.Tx) error {
		for _, text := range []string{
			`CREATE TABLE junk (text TEXT)`,
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO junk SELECT printf('%01000d', i) FROM n`,
			`DROP TABLE junk`,
		} {
			if _, err := tx.Exec(t.Context(), text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPlatformAudit(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		newCompany(t, database)
		mustRun(t, database, "platform-token", "create", "--name", "LMS")
		mustRun(t, database, "platform-token", "revoke", "--id", "1")
		var actions []string
		for _, e := range mustRun(t, database, "platform-audit", "list")["entries"].([]any) {
			entry := e.(map[string]any)
			actions = append(actions, fmt.Sprint(entry["action"], " by ", entry["actor"]))
		}
		if got, want := strings.Join(actions, ", "), "platform_token.revoked by operator, platform_token.created by operator"; got != want {
			t.Errorf("the log has %s, want %s", got, want)
		}
		if got := runCommand(t, "platform-audit", "list", "--limit", "0", "--database", database); got.code == 0 || !strings.Contains(got.stderr, "--limit must be from 1 to 10000") {
			t.Errorf("--limit 0: exit code %d, %s", got.code, got.stderr)
		}
	})
}

func TestListsAreTables(t *testing.T) {
	t.Parallel()
	database := storetest.SQLite(t)
	newCompany(t, database)
	mustRun(t, database, "token", "create", "--company", "1", "--name", "HR", "--scope", "b2b_read")
	for args, columns := range map[string]string{
		"company list": "ID  NAME  TIME ZONE  STATE", "token list": "ID  COMPANY  NAME  TOKEN", "platform-token list": "ID  NAME  TOKEN",
		"webhook list --company 1": "ID  URL  STATE", "platform-audit list": "AT  BY  ACTION  RECORD", "delivery list --company 1": "ID  WEBHOOK  EVENT",
	} {
		got := runCommand(t, append(strings.Fields(args), "--database", database)...)
		if got.code != 0 || !strings.HasPrefix(got.stdout, columns) {
			t.Errorf("%s: exit code %d, printed %q, want a table with %q", args, got.code, got.stdout, columns)
		}
	}
}
