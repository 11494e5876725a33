package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The limits for hand-written files. A test may be longer, because its cases and its
// fixture are read together.
const (
	maxLines     = 330
	maxTestLines = 500
)

func TestFilesStaySmall(t *testing.T) {
	t.Parallel()
	for _, f := range repository(t).files {
		limit := maxLines
		switch {
		case strings.HasPrefix(f.path, "internal/store/migrations/"):
			continue // a migration is never changed
		case strings.HasSuffix(f.path, "_test.go"):
			limit = maxTestLines
		}
		if n := strings.Count(f.text, "\n"); n > limit {
			t.Errorf("%s has %d lines, more than %d: split it", f.path, n, limit)
		}
	}
}

// unfinished is written in pieces so that it does not match this file.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X\b|not imple` + `mented|[tbf]\.Skip(f|Now)?\()`)

func TestNothingIsUnfinished(t *testing.T) {
	t.Parallel()
	for _, f := range repository(t).files {
		for number, line := range strings.Split(f.text, "\n") {
			if found := unfinished.FindString(line); found != "" {
				t.Errorf("%s:%d: %q: finish it, or remove it", f.path, number+1, found)
			}
		}
	}
}

func TestPackageNamesAreSpecific(t *testing.T) {
	t.Parallel()
	vague := []string{"util", "utils", "common", "helper", "helpers", "manager", "misc", "base", "shared", "lib", "types"}
	for _, s := range repository(t).sources {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if slices.Contains(vague, name) || slices.Contains(vague, path.Base(s.folder)) {
			t.Errorf("%s: the package name %s could mean anything; name it after what it does", s.path, name)
		}
	}
}

func TestEveryPackageHasADocComment(t *testing.T) {
	t.Parallel()
	documented, seen := map[string]bool{}, map[string]string{}
	for _, s := range repository(t).sources {
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
			t.Errorf("%s: package %s has no doc comment that describes what belongs in it and what does not", folder, name)
		}
	}
}

// nouns maps the nouns of the domain to their plurals, which are not used as file
// names.
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
	for _, s := range repository(t).sources {
		if s.generated || !slices.Contains(layers, s.folder) {
			continue
		}
		stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(s.path), ".go"), "_test")
		first, _, _ := strings.Cut(stem, "_")
		for noun, plural := range nouns {
			if first == plural {
				t.Errorf("%s: files are named after the singular, in every layer: %s.go", s.path, strings.Replace(stem, plural, noun, 1))
			}
		}
	}
}
