package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
)

// Compact returns the space of deleted rows and leaves none of their bytes.
func TestCompact(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	e, err := sqlite.Open(t.Context(), path, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	const trace = "anna.secret@acme.example"
	write := func(statements ...string) {
		t.Helper()
		err := e.Write(t.Context(), func(tx db.Tx) error {
			for _, text := range statements {
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
	if err := e.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	write("CREATE TABLE junk (id INTEGER PRIMARY KEY, text TEXT)")
	write("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) " +
		"INSERT INTO junk (id, text) SELECT i, '" + strings.Repeat(trace+" ", 20) + "' FROM n")
	write("DELETE FROM junk")
	before, err := e.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := e.Size(t.Context())
	if err != nil || after > before/2 {
		t.Errorf("%d bytes before, %d after: %v", before, after, err)
	}
	for _, suffix := range []string{"", "-wal"} {
		bytes, err := os.ReadFile(path + suffix)
		if err != nil || strings.Contains(string(bytes), trace) {
			t.Errorf("file %q: a trace is left, or %v", suffix, err)
		}
	}
}
