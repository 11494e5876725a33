package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// companyWithWork creates two companies; the first has an employee with an assignment
// and a webhook. It returns the token and the webhook's secret of the first.
func companyWithWork(t *testing.T, database string) (token, secret string) {
	t.Helper()
	newCompany(t, database)
	mustRun(t, database, "company", "create", "--name", "Other", "--admin", "q@other.example")
	secret = mustRun(t, database, "webhook", "add", "--company", "1", "--url", "https://hooks.example/a", "--event", "employee.joined")["secret"].(string)
	mustRun(t, database, "course", "add", "--company", "1", "--name", "Safety", "--module", "One", "--pass-mark", "72.5", "--assessment")
	scopes := []string{"--name", "x", "--scope", "b2b_provision", "--scope", "b2b_assignment", "--scope", "b2b_read"}
	token = mustRun(t, database, append([]string{"token", "create", "--company", "1"}, scopes...)...)["token"].(string)
	other := mustRun(t, database, append([]string{"token", "create", "--company", "2"}, scopes...)...)["token"].(string)
	s := startServer(t, database, "--no-webhooks")
	provision(t, s, token, "one")
	provision(t, s, other, "elsewhere")
	if status := s.call(t, "POST", "/api/v1/assignments", token,
		`{"externalId": "a1", "employeeExternalId": "one", "courseId": 1, "deadline": "2030-01-01T00:00:00Z"}`); status/100 != 2 {
		t.Fatalf("the assignment was refused: %d", status)
	}
	s.stop()
	return token, secret
}

// exportedRows returns the rows of an export by table.
func exportedRows(t *testing.T, file string) map[string][]map[string]any {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	out := map[string][]map[string]any{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var line struct {
			Table string
			Row   map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		out[line.Table] = append(out[line.Table], line.Row)
	}
	return out
}

func TestCompanyExport(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		token, secret := companyWithWork(t, database)
		file := filepath.Join(t.TempDir(), "acme.jsonl")
		printed := mustRun(t, database, "company", "export", "--id", "1", file)
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("the export: %v, %v, want mode 0600", info, err)
		}
		rows := exportedRows(t, file)
		for table, want := range map[string]int{"companies": 1, "administrators": 1, "courses": 1, "course_modules": 1, "employees": 1, "assignments": 1, "endpoints": 1, "tokens": 1} {
			if got := len(rows[table]); got != want || printed["rows"].(map[string]any)[table] != float64(want) {
				t.Errorf("%d rows of %s, want %d; the command printed %v", got, table, want, printed)
			}
		}
		assignment := rows["assignments"][0]
		if assignment["deadline"] != "2030-01-01T00:00:00+00:00" || assignment["is_required"] != false || assignment["percent"] != 0.0 {
			t.Errorf("the assignment is %v", assignment)
		}
		if rows["courses"][0]["pass_mark"] != 72.5 {
			t.Errorf("the course is %v", rows["courses"][0])
		}
		if body, isObject := rows["events"][0]["body"].(map[string]any); !isObject {
			t.Errorf("an event's body is %v", body)
		}
		if scopes, isList := rows["tokens"][0]["scopes"].([]any); !isList || !slices.Contains(scopes, any("b2b_read")) {
			t.Errorf("a token's scopes are %v", rows["tokens"][0]["scopes"])
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, hidden := range []string{token, secret, `"hash"`, `"secret"`, `"password_hash"`, "elsewhere"} {
			if strings.Contains(string(text), hidden) {
				t.Errorf("the export has %s", hidden)
			}
		}
		wantRefused(t, "already exists", "company", "export", "--id", "1", file, "--database", database)
		wantRefused(t, "no company", "company", "export", "--id", "9", file+"2", "--database", database)
	})
}

// forbid makes every deletion from companies fail, as a lost connection would, and
// returns a function that allows it again.
func forbid(t *testing.T, database string) (allow func()) {
	t.Helper()
	s, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	exec := func(statements ...string) {
		t.Helper()
		err := s.Engine().Write(t.Context(), func(tx db.Tx) error {
			for _, sql := range statements {
				if _, err := tx.Exec(t.Context(), sql); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if s.Engine().Name() == "sqlite" {
		exec(`CREATE TRIGGER cut BEFORE DELETE ON companies BEGIN SELECT RAISE(ABORT, 'cut'); END`)
		return func() { exec(`DROP TRIGGER cut`) }
	}
	exec(`CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'cut'; END $$`,
		`CREATE TRIGGER cut BEFORE DELETE ON companies FOR EACH ROW EXECUTE FUNCTION cut()`)
	return func() { exec(`DROP TRIGGER cut ON companies`) }
}

func TestInterruptedCompanyDeletionIsContinued(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		token, _ := companyWithWork(t, database)
		allow := forbid(t, database)
		wantRefused(t, "run the command again", "company", "delete", "--id", "1", "--confirm", "--database", database)
		s := startServer(t, database, "--no-webhooks")
		if status := s.call(t, "GET", "/api/v1/employees/one", token, ""); status != 401 && status != 403 {
			t.Errorf("a token of the half deleted company: %d", status)
		}
		if status, _ := s.get(t, "/readyz"); status != 200 {
			t.Errorf("/readyz after the interruption: %d", status)
		}
		allow()
		if got := mustRun(t, database, "company", "delete", "--id", "1", "--confirm"); got["deleted"] != true {
			t.Errorf("deleted %v", got)
		}
		if left := mustRun(t, database, "company", "list")["companies"].([]any); len(left) != 1 {
			t.Errorf("left: %v", left)
		}
	})
}
