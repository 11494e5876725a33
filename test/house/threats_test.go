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

// The threat model names the tests that prove it. A test that was renamed or removed
// would leave a promise that nothing keeps.
func TestThreatModelNamesRealTests(t *testing.T) {
	t.Parallel()
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
	named := 0
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(string(text), "\n") {
		names := testName.FindAllStringSubmatch(line, -1)
		for _, match := range names {
			named++
			if !known[match[1]] {
				t.Errorf("line %d names %s, which does not exist", n+1, match[1])
			}
		}
		isHead := strings.HasPrefix(line, "| Tries") || strings.HasPrefix(line, "| Happens")
		if strings.HasPrefix(line, "| ") && !isHead && len(names) == 0 {
			t.Errorf("line %d describes a defence without a test", n+1)
		}
	}
	if named < 30 {
		t.Errorf("the threat model names %d tests only", named)
	}
}
