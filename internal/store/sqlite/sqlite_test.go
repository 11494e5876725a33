package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
)

func open(t *testing.T, path string, options ...db.Options) *sqlite.Engine {
	t.Helper()
	e, err := sqlite.Open(t.Context(), path, append(options, db.Options{})[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := e.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

func exec(t *testing.T, e *sqlite.Engine, sql string, args ...any) {
	t.Helper()
	err := e.Write(t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(t.Context(), sql, args...)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// holds reports whether any file of the database still has the text.
func holds(t *testing.T, e *sqlite.Engine, text string) bool {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(e.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(text)) {
			return true
		}
	}
	return false
}

// A report that is being read keeps the log from being emptied. Erasing someone
// meanwhile must not hold up the writers, and the log is emptied once the report
// is done.
func TestErasedWhileAReportIsRead(t *testing.T) {
	t.Parallel()
	e := open(t, filepath.Join(t.TempDir(), "test.db"))
	exec(t, e, `INSERT INTO settings (key, value) VALUES ('k', $1)`, []byte("Zaphod"))
	reading, finish, done := make(chan error), make(chan struct{}), make(chan error)
	go func() {
		done <- e.Snapshot(t.Context(), func(c db.Conn) error {
			_, err := c.Exec(t.Context(), `SELECT count(*) FROM settings`)
			reading <- err
			<-finish
			return nil
		})
	}()
	if err := <-reading; err != nil {
		t.Fatal(err)
	}
	exec(t, e, `DELETE FROM settings`)
	began := time.Now()
	e.ScrubDeleted(t.Context())
	if waited := time.Since(began); waited > 5*time.Second {
		t.Errorf("writers were held up for %v", waited)
	}
	close(finish)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if holds(t, e, "Zaphod") {
		t.Error("the text outlives the report")
	}
}

// A process that ended between an erasure and the emptying of the log leaves the
// rest to the next one.
func TestOpenFinishesAnErasure(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "test.db"), filepath.Join(t.TempDir(), "test.db")
	e := open(t, from)
	exec(t, e, `INSERT INTO settings (key, value) VALUES ('k', $1)`, []byte("Zaphod"))
	exec(t, e, `DELETE FROM settings`)
	for _, suffix := range []string{"", "-wal"} { // as a crash would leave them
		content, err := os.ReadFile(from + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if holds(t, open(t, to), "Zaphod") {
		t.Error("the log of the process before still holds the text")
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"sqlite:///var/lib/cb.db": "/var/lib/cb.db", "sqlite://coursebridge.db": "coursebridge.db", "sqlite://": "", "file.db": "",
	} {
		got, err := sqlite.ParseURL(address)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
}

func TestOpenWithoutAFolder(t *testing.T) {
	t.Parallel()
	if e, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "missing", "test.db"), db.Options{}); err == nil {
		t.Error("opened in a folder that does not exist", e.Close())
	}
}

// The name of a file is not a query string.
func TestOddFileNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c#d%20ё.db")
	exec(t, open(t, path), `INSERT INTO settings (key, value) VALUES ('k', $1)`, []byte{1})
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
