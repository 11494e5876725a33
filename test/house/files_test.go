package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const maxLines = 500

func TestFilesStaySmall(t *testing.T) {
	t.Parallel()
	for _, f := range house(t).files {
		if n := strings.Count(f.text, "\n"); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: it has become two things", f.path, n, maxLines)
		}
	}
}

// leftOpen is written in pieces, or this file would be its first finding.
var leftOpen = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X\b|not imple` + `mented|[tbf]\.Skip(f|Now)?\()`)

func TestNothingIsLeftOpen(t *testing.T) {
	t.Parallel()
	for _, f := range house(t).files {
		for number, line := range strings.Split(f.text, "\n") {
			if found := leftOpen.FindString(line); found != "" {
				t.Errorf("%s:%d: %q: finish it, or take it out", f.path, number+1, found)
			}
		}
	}
}

func TestPackageNamesSayWhatIsInside(t *testing.T) {
	t.Parallel()
	empty := []string{"util", "utils", "common", "helper", "helpers", "manager", "misc", "base", "shared", "lib", "types"}
	for _, s := range house(t).sources {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if slices.Contains(empty, name) || slices.Contains(empty, path.Base(s.folder)) {
			t.Errorf("%s: a package called %s can hold anything; name it after what it does", s.path, name)
		}
	}
}

func TestEveryPackageHasItsSentence(t *testing.T) {
	t.Parallel()
	documented, seen := map[string]bool{}, map[string]string{}
	for _, s := range house(t).sources {
		if s.generated {
			continue
		}
		seen[s.folder] = s.file.Name.Name
		if s.file.Doc != nil && strings.TrimSpace(s.file.Doc.Text()) != "" {
			documented[s.folder] = true
		}
	}
	for folder, name := range seen {
		if !documented[folder] {
			t.Errorf("%s: package %s has no doc comment that says what belongs in it and what does not", folder, name)
		}
	}
}

// nouns of the domain, with the plural that a file must not be called by.
var nouns = map[string]string{
	"account":    "accounts",
	"activity":   "activities",
	"assignment": "assignments",
	"company":    "companies",
	"course":     "courses",
	"delivery":   "deliveries",
	"employee":   "employees",
	"endpoint":   "endpoints",
	"event":      "events",
	"report":     "reports",
	"session":    "sessions",
	"token":      "tokens",
}

func TestANounHasOneFileName(t *testing.T) {
	t.Parallel()
	layers := []string{
		"internal/domain", "internal/service", "internal/store", "internal/store/storetest",
		"internal/publicapi", "internal/platformapi", "internal/cabinet",
	}
	for _, s := range house(t).sources {
		if s.generated || !slices.Contains(layers, s.folder) {
			continue
		}
		stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(s.path), ".go"), "_test")
		first, _, _ := strings.Cut(stem, "_")
		for noun, plural := range nouns {
			if first == plural {
				t.Errorf("%s: the file of a noun has the same name in every layer: %s.go", s.path, strings.Replace(stem, plural, noun, 1))
			}
		}
	}
}
