package storetest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
)

// housekeeping lists tables that change with every transaction.
var housekeeping = map[string]bool{"goose_db_version": true, "sequences": true, "change_clock": true, "sqlite_sequence": true}

// tables returns the names of all tables except housekeeping.
func tables(t *testing.T, s *store.Store) []string {
	t.Helper()
	list := `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`
	if s.Engine().Name() == "postgres" {
		list = `SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`
	}
	var out []string
	for _, name := range texts(t, s, list) {
		if !housekeeping[name] {
			out = append(out, name)
		}
	}
	return out
}

// columns returns the names of a table's columns, and for each an SQL expression
// that shows it as text.
func columns(t *testing.T, s *store.Store, table string) (names, asText []string) {
	t.Helper()
	if s.Engine().Name() == "sqlite" {
		names = texts(t, s, `SELECT name FROM pragma_table_info($1) ORDER BY cid`, table)
		for _, n := range names {
			asText = append(asText, `coalesce(CAST(`+n+` AS TEXT), '')`)
		}
		return names, asText
	}
	for _, c := range texts(t, s, `SELECT column_name || ' ' || data_type FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name = $1 ORDER BY ordinal_position`, table) {
		name, kind, _ := strings.Cut(c, " ")
		names = append(names, name)
		shown := name + `::text`
		if kind == "bytea" {
			shown = `encode(` + name + `, 'escape')`
		}
		asText = append(asText, `coalesce(`+shown+`, '')`)
	}
	return names, asText
}

// dump returns every row of every table as a line of text.
func dump(t *testing.T, s *store.Store) []string {
	t.Helper()
	var out []string
	for _, table := range tables(t, s) {
		_, shown := columns(t, s, table)
		for _, row := range texts(t, s, `SELECT `+strings.Join(shown, ` || ' | ' || `)+` AS row FROM `+table+` ORDER BY 1`) {
			out = append(out, table+": "+row)
		}
	}
	return out
}

// mentions returns the lines that contain any of the words, ignoring case.
func mentions(lines []string, words ...string) []string {
	out := []string{}
	for _, line := range lines {
		for _, w := range words {
			if strings.Contains(strings.ToLower(line), strings.ToLower(w)) {
				out = append(out, line)
				break
			}
		}
	}
	return out
}

// wantNoTrace fails the test if a file of an SQLite database contains any of the
// words.
func wantNoTrace(t *testing.T, s *store.Store, words ...string) {
	t.Helper()
	e, ok := s.Engine().(*sqlite.Engine)
	if !ok {
		return
	}
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(e.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ToLower(string(content))
		for _, w := range words {
			if n := strings.Count(text, strings.ToLower(w)); n > 0 {
				t.Errorf("the file test.db%s still holds %q %d times", suffix, w, n)
			}
		}
	}
}
