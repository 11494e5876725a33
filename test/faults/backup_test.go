package faults

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// A copy that is made while writers write is a database of its own: it has all
// that was acknowledged before, and the program serves it.
func TestBackupWhileWritingRestores(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		f, inbox := newFirm(t, database), newReceiver(t, nil)
		hook := f.listen(t, inbox.URL)
		server := serve(t, database)
		l := newLedger(t, f, &fleet{urls: []string{server.url}})
		file := filepath.Join(t.TempDir(), "copy")
		underLoad(t, l, 2, func() {
			l.grow(t, 40)
			f.join(t, l.caller, server.url, "before")
			if got := ask[struct{ File string }](t, database, "backup", file); got.File != file {
				t.Errorf("the backup says it is in %q", got.File)
			}
			l.grow(t, 20)
		})
		f.join(t, l.caller, server.url, "after")
		server.kill()

		f.database = restore(t, database, file)
		copied := serve(t, f.database)
		if !f.has(t, l.caller, copied.url, "before") || f.has(t, l.caller, copied.url, "after") {
			t.Error("the copy is not the database as it was")
		}
		f.join(t, l.caller, copied.url, "anew")
		told := inbox.about(t, patience, "anew", 1)
		if !told[0].signed(hook.Secret) {
			t.Error("the copy signs with another secret")
		}
	})
}

// restore makes a database of a backup.
func restore(t *testing.T, database, file string) string {
	t.Helper()
	if database[0] == 's' {
		return "sqlite://" + file // its key is beside it
	}
	empty := pgtest.URL(t)
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
	each(t, func(t *testing.T, database string) {
		newFirm(t, database)
		dir := t.TempDir()
		file := filepath.Join(dir, "mine")
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := finish(t, command("backup", file, "--database", database))
		if kept, err := os.ReadFile(file); got.code == 0 || err != nil || string(kept) != "mine" {
			t.Errorf("code %d, file %q, %v: %s", got.code, kept, err, got.stderr)
		}
		if database[0] == 's' {
			key := filepath.Join(dir, "other.key")
			if err := os.WriteFile(key, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			got = finish(t, command("backup", filepath.Join(dir, "other"), "--database", database))
			if kept, err := os.ReadFile(key); got.code == 0 || err != nil || string(kept) != "mine" {
				t.Errorf("code %d, key file %q, %v: %s", got.code, kept, err, got.stderr)
			}
			if err := os.Remove(key); err != nil {
				t.Fatal(err)
			}
		}
		got = finish(t, command("backup", filepath.Join(dir, "no", "such", "file"), "--database", database))
		if got.code == 0 || got.stdout != "" {
			t.Errorf("a backup into a folder that is missing: code %d, %q", got.code, got.stdout)
		}
		if left := names(t, dir); len(left) != 1 {
			t.Errorf("a failed backup left %v", left)
		}
	})
}
