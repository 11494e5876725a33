package storetest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func tables(t *testing.T, s *store.Store) []string { t.Helper(); return storetest.Tables(t, s) }

func columns(t *testing.T, s *store.Store, table string) (names, asText []string) {
	t.Helper()
	return storetest.Columns(t, s, table)
}

func dump(t *testing.T, s *store.Store) []string { t.Helper(); return storetest.Dump(t, s) }

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
	if s.Engine().Name() != "sqlite" {
		return
	}
	e := unwrap(s.Engine()).(*sqlite.Engine)
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
