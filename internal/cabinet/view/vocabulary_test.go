package view_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// notOurWords are words of earlier versions that read as if they were translated.
var notOurWords = regexp.MustCompile(`>\s*Acts\s*<|Must name at least one|[Mm]ust have at least \d+ characters, got|deliveries fit|[Hh]ow they fare|` +
	`that wait are dropped|that still use it get 401|>\s*Count\s*<|operator operator|Keep these now|I have kept them|Second factor\b|` +
	`What holds for the whole company|"Failing", "Retrying"`)

func TestPagesUseOurWords(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"*.templ", "*.go", "../*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) < 20 {
			t.Fatalf("found %d files of %s, %v", len(found), pattern, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_templ.go") || strings.HasSuffix(file, "_test.go") {
			continue // generated from a template, or no page at all
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := notOurWords.FindAll(text, -1); found != nil {
			t.Errorf("%s says %q", file, found)
		}
	}
}
