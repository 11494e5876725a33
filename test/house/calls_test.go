package house

import (
	"go/ast"
	"slices"
	"testing"
)

// findCalls returns the uses of some names of a standard package.
func findCalls(file *ast.File, pkg string, names ...string) (found []string) {
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && x.Name == pkg && slices.Contains(names, selector.Sel.Name) {
			found = append(found, pkg+"."+selector.Sel.Name)
		}
		return true
	})
	return found
}

func TestCalls(t *testing.T) {
	t.Parallel()
	tr := &tree{}
	err := tr.add("x.go", "package x\nimport \"os\"\nfunc f() { if true { os.Exit(1) }; os.Getpid() }\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := findCalls(tr.sources[0].file, "os", "Exit"); !slices.Equal(got, []string{"os.Exit"}) {
		t.Errorf("calls = %v", got)
	}
}
