package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// nextStep matches a message that goes on after it has named the problem: with another
// sentence or half of one. A message about a field names what would be right instead.
var nextStep = regexp.MustCompile(`[.;:,] \S|\bmust\b|^(Choose|Sign in) |^%s$`)

// message is the text of a domain.Errorf call.
type message struct {
	text string
	pos  token.Pos
}

// findMessages returns the texts of the errors that a file makes for people: calls of
// Errorf whose first argument is a code.
func findMessages(file *ast.File) (found []message) {
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 || !strings.HasSuffix(nameOf(call.Fun), "Errorf") || !strings.HasPrefix(nameOf(call.Args[0]), "Code") {
			return true
		}
		if literal, ok := call.Args[1].(*ast.BasicLit); ok {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				found = append(found, message{text, literal.Pos()})
			}
		}
		return true
	})
	return found
}

// nameOf returns the last part of a name such as domain.CodeInvalid.
func nameOf(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// An error that a person meets names the problem and what to do next. The check cannot
// tell good advice from bad, but it finds a message that stops after the problem.
func TestErrorsSayWhatToDoNext(t *testing.T) {
	t.Parallel()
	count := 0
	for _, s := range repository(t).sources {
		if s.test || s.generated {
			continue
		}
		for _, m := range findMessages(s.file) {
			count++
			if !nextStep.MatchString(m.text) {
				t.Errorf("%s: %q names a problem; say also what to do next", s.position(m.pos), m.text)
			}
		}
	}
	if count < 60 {
		t.Errorf("found only %d messages: does the check still recognise them?", count)
	}
}
