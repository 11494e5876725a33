package faults

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A backup taken during writes is a complete database: it contains every change
// that was acknowledged before, and the program can serve it.
func TestBackupWhileWritingRestores(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		acme, inbox := newCompany(t, database), newReceiver(t, nil)
		webhook := acme.addWebhook(t, inbox.URL)
		server := serve(t, database)
		l := newLedger(t, acme, &fleet{urls: []string{server.url}})
		file := filepath.Join(t.TempDir(), "copy")
		whileWriting(t, l, 2, func() {
			l.waitForAcks(t, 40)
			acme.provision(t, server.url, "before")
			if got := runJSON[struct{ File string }](t, database, "backup", file); got.File != file {
				t.Errorf("backup reports the file %q, want %q", got.File, file)
			}
			l.waitForAcks(t, 20)
		})
		acme.provision(t, server.url, "after")
		server.kill()

		acme.database = restore(t, database, file)
		copied := serve(t, acme.database)
		if !acme.hasEmployee(t, copied.url, "before") || acme.hasEmployee(t, copied.url, "after") {
			t.Error("the restored database does not match the state at the time of the backup")
		}
		acme.provision(t, copied.url, "anew")
		told := inbox.waitFor(t, timeout, "anew", 1)
		if !told[0].hasSignature(webhook.Secret) {
			t.Error("the restored database signs with another secret")
		}
	})
}

// restore turns a backup into a database and returns its address.
func restore(t *testing.T, database, file string) string {
	t.Helper()
	if database[0] == 's' {
		return "sqlite://" + file // the key file is in the same directory
	}
	empty := postgresDatabase(t)
	u, err := url.Parse(empty)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("pg_restore", "--no-owner", "--dbname", u.String(), file).CombinedOutput()
	if err != nil {
		t.Fatalf("pg_restore: %v: %s", err, out)
	}
	return empty
}

func TestBackupOverwritesNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		newCompany(t, database)
		dir := t.TempDir()
		file := filepath.Join(dir, "mine")
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := runCommand(t, command("backup", file, "--database", database))
		if kept, err := os.ReadFile(file); got.code == 0 || err != nil || string(kept) != "mine" {
			t.Errorf("code %d, file %q, %v: %s", got.code, kept, err, got.stderr)
		}
		if database[0] == 's' {
			key := filepath.Join(dir, "other.key")
			if err := os.WriteFile(key, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			got = runCommand(t, command("backup", filepath.Join(dir, "other"), "--database", database))
			if kept, err := os.ReadFile(key); got.code == 0 || err != nil || string(kept) != "mine" {
				t.Errorf("code %d, key file %q, %v: %s", got.code, kept, err, got.stderr)
			}
			if err := os.Remove(key); err != nil {
				t.Fatal(err)
			}
		}
		got = runCommand(t, command("backup", filepath.Join(dir, "no", "such", "file"), "--database", database))
		if got.code == 0 || got.stdout != "" {
			t.Errorf("backup into a missing directory: code %d, %q", got.code, got.stdout)
		}
		if left := fileNames(t, dir); len(left) != 1 {
			t.Errorf("a failed backup left %v", left)
		}
	})
}
