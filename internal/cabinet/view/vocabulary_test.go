package view_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// notOurWords are words of earlier versions that read as if they were translated.
var notOurWords = regexp.MustCompile(`>\s*Acts\s*<|Must name at least one|[Mm]ust have at least \d+ characters, got|deliveries fit|[Hh]ow they fare|` +
	`that wait are dropped|that still use it get 401|>\s*Count\s*<|operator operator|Keep these now|I have kept them|Second factor\b|` +
	`What holds for the whole company|"Failing", "Retrying"`)

func TestPagesUseOurWords(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.templ")
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d templates, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := notOurWords.FindAll(text, -1); found != nil {
			t.Errorf("%s says %q", file, found)
		}
	}
}
