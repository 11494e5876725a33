package house

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var testName = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")

// The threat model, and the table of what can go wrong under contention, name the tests
// that prove them. A test that was renamed or removed would leave a promise that nothing
// keeps.
func TestDocumentsNameRealTests(t *testing.T) {
	t.Parallel()
	known := knownTests(t)
	for _, d := range []struct {
		file, section string
		least         int // tests that it names
	}{{"threat-model.md", "", 30}, {"architecture.md", "\n## Contention\n", 30}} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", d.file))
		if err != nil {
			t.Fatal(err)
		}
		_, section, found := strings.Cut(string(text), d.section)
		if !found {
			t.Fatalf("%s has no section %q", d.file, d.section)
		}
		section, _, _ = strings.Cut(section+"\n## ", "\n## ")
		if d.section == "" {
			section = string(text)
		}
		if named := checkTable(t, d.file, section, known); named < d.least {
			t.Errorf("%s names %d tests only", d.file, named)
		}
	}
}

// knownTests returns the names of all tests of the repository.
func knownTests(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	for _, s := range repository(t).sources {
		if !s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				known[fn.Name.Name] = true
			}
		}
	}
	return known
}

// checkTable reports rows without a test, and tests that do not exist. It returns how
// many tests the text names.
func checkTable(t *testing.T, file, text string, known map[string]bool) (named int) {
	t.Helper()
	for line := range strings.Lines(text) {
		names := testName.FindAllStringSubmatch(line, -1)
		for _, match := range names {
			named++
			if !known[match[1]] {
				t.Errorf("%s names %s, which does not exist", file, match[1])
			}
		}
		isHead := strings.HasPrefix(line, "| Tries") || strings.HasPrefix(line, "| Happens") || strings.HasPrefix(line, "| What")
		if strings.HasPrefix(line, "| ") && !isHead && len(names) == 0 {
			t.Errorf("%s has a row without a test: %s", file, line)
		}
	}
	return named
}
