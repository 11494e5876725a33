package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wantFindings checks what doctor prints: lines that begin with a status and a check.
func wantFindings(t *testing.T, got outcome, code int, want ...string) {
	t.Helper()
	printed := strings.Join(strings.Fields(got.stdout), " ")
	if got.code != code {
		t.Errorf("exit code %d, want %d: %s", got.code, code, got.stderr)
	}
	for _, text := range want {
		if !strings.Contains(printed, text) {
			t.Errorf("%q is missing in:\n%s", text, got.stdout)
		}
	}
}

func TestDoctorFindsAHealthyInstallation(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		const key = "a long passphrase of mine"
		s := startServer(t, database, "--secret-key", key)
		got := runCommand(t, "doctor", "--database", database, "--secret-key", key, "--public-url", s.url)
		wantFindings(t, got, 0, "ok settings", "ok database", "schema version", "ok key", "ok clock", "ok dns", "ok public-url "+s.url+" answers", "ok permissions")
		if strings.Contains(got.stdout, "failure") {
			t.Error(got.stdout)
		}
		mustRun(t, database, "public-url", s.url, "--secret-key", key)
		got = runCommand(t, "doctor", "--database", database, "--secret-key", "another passphrase of mine", "--public-url", "https://other..invalid")
		wantFindings(t, got, 1, "failure key", "secret-key reset", "failure dns other..invalid cannot be resolved", "failure public-url",
			"warning public-url these settings say https://other..invalid, the installation has")
		if strings.HasPrefix(database, "postgres") { // the primary is no standby of itself
			wantFindings(t, runCommand(t, "doctor", "--database", database, "--database-read", database), 1, "warning read-replica it is not a standby", "correct --database-read")
		}
	})
}

func TestDoctorExplainsWhatToDo(t *testing.T) {
	dir := t.TempDir()
	database := "sqlite://" + filepath.Join(dir, "a.db")
	wantFindings(t, runCommand(t, "doctor", "--database", database), 1, "failure database there is no database at", "coursebridge migrate creates one")
	mustRun(t, database, "migrate")
	if err := os.Chmod(filepath.Join(dir, "a.db"), 0o644); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte("a long passphrase of mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COURSEBRIDGE_SECRET_KEY_FILE", key)
	got := runCommand(t, "doctor", "--database", database, "--rate-limit=-1")
	wantFindings(t, got, 1, "failure settings --rate-limit must be between", "coursebridge config check",
		"warning permissions other users may open "+filepath.Join(dir, "a.db")+": its mode is 0644", "chmod 600 "+key,
		"warning public-url no public address is set")
	wantFindings(t, runCommand(t, "doctor", "--database", "postgres://me@127.0.0.1:1/x"), 1, "failure database", "start the database, open the way to its port")
}
