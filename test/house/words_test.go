package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wording is a construction that makes a comment hard to read, and its remedy.
type wording struct{ pattern, remedy string }

// wordings are the constructions that STYLE calls signs of a sentence that wants
// rewriting. Each pattern matches the construction but not the ordinary uses of
// its words, such as "gives up".
var wordings = []wording{
	{`(?i)\bgives? (the|a|an|its|their|how|what|when|whether|nil|false|true|no|all|every|each|back|one|those|that|which|where|out|who|zero|it)\b`,
		`write "returns", "passes" or "grants"`},
	{`(?i)\b(says|say|tells|tell) (whether|how|when|what|which|who|why|where|so|of|apart|if)\b|\btold of\b|\btells? (that|about)\b`,
		`write "reports whether", "describes" or "explains"`},
	{`^Err\w+ (says|tells)\b`, `write "is returned when" or "is returned for"`},
	{`(?i)\b(is|are) of\b`, `write "belongs to", "holds" or "comes from"`},
	{`(?i)\bbeside\b`, `write "in parallel with", "next to" or "in addition to"`},
	{`(^|[.:] )Who(ever)? |\b(by|of|for|to|than|lets?) who(ever)? \w+s\b|\b(how long|while|until|before) who\b`,
		"start with the noun: the caller, the request, the client"},
	{`(?i)\bthat (is|are) none\b|\banew\b|\bby turns\b`, `write "is missing", "again" or "alternately"`},
}

// awkwardWordings returns the wordings that occur in a text.
func awkwardWordings(text string) (found []string) {
	flat := strings.Join(strings.Fields(text), " ")
	for _, w := range wordings {
		if match := regexp.MustCompile(w.pattern).FindString(flat); match != "" {
			found = append(found, fmt.Sprintf("%q: %s", match, w.remedy))
		}
	}
	return found
}

// handWritten returns the sources that are not generated.
func handWritten(t *testing.T) (out []source) {
	t.Helper()
	for _, s := range repository(t).sources {
		if !s.generated {
			out = append(out, s)
		}
	}
	return out
}

func TestCommentsArePlainEnglish(t *testing.T) {
	t.Parallel()
	for _, s := range handWritten(t) {
		if s.path == "test/house/words_test.go" { // it quotes the constructions
			continue
		}
		for _, group := range s.file.Comments {
			for _, found := range awkwardWordings(group.Text()) {
				t.Errorf("%s: %s", s.position(group.Pos()), found)
			}
		}
	}
}

// commentMarks start a comment line in the files that are not Go. Migrations are left
// out: they do not change any more.
var commentMarks = map[string]string{".templ": "//", ".sh": "#"}

func TestCommentsOfOtherFilesArePlainEnglish(t *testing.T) {
	t.Parallel()
	for _, f := range repository(t).files {
		mark := commentMarks[path.Ext(f.path)]
		if mark == "" {
			continue
		}
		for _, comment := range lineComments(f.text, mark) {
			for _, found := range awkwardWordings(comment) {
				t.Errorf("%s: %s", f.path, found)
			}
		}
	}
}

// lineComments returns the comments that consist of whole lines, each without its marks.
func lineComments(text, mark string) (out []string) {
	var comment []string
	for line := range strings.Lines(text + "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
			comment = append(comment, rest)
			continue
		}
		if len(comment) > 0 {
			out, comment = append(out, strings.Join(comment, "\n")), nil
		}
	}
	return out
}

func TestDocCommentsStartWithTheName(t *testing.T) {
	t.Parallel()
	for _, s := range handWritten(t) {
		for _, d := range documented(s.file) {
			if s.test && (strings.HasPrefix(d.name, "Test") || strings.HasPrefix(d.name, "Benchmark") || strings.HasPrefix(d.name, "Fuzz")) {
				continue // describes what the test proves
			}
			if !startsWithName(d.doc, d.name) {
				t.Errorf("%s: the comment of %s must start with its name: %.60q", s.position(d.pos), d.name, d.doc)
			}
		}
	}
}

// declaration is a documented top-level name.
type declaration struct {
	name, doc string
	pos       token.Pos
}

// documented returns the top-level functions, methods and types with a doc
// comment, and the constants and variables that are declared alone.
func documented(file *ast.File) (out []declaration) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil {
				out = append(out, declaration{d.Name.Name, d.Doc.Text(), d.Pos()})
			}
		case *ast.GenDecl:
			if d.Lparen.IsValid() || d.Doc == nil || len(d.Specs) != 1 {
				continue
			}
			switch spec := d.Specs[0].(type) {
			case *ast.TypeSpec:
				out = append(out, declaration{spec.Name.Name, d.Doc.Text(), d.Pos()})
			case *ast.ValueSpec:
				if len(spec.Names) == 1 {
					out = append(out, declaration{spec.Names[0].Name, d.Doc.Text(), d.Pos()})
				}
			}
		}
	}
	return out
}

// startsWithName reports whether a doc comment starts with the name, after an
// article at most. Directives such as //go:embed have no text.
func startsWithName(doc, name string) bool {
	words := strings.FieldsFunc(doc, func(r rune) bool { return strings.ContainsRune(" \n\t.,:;('", r) })
	if len(words) == 0 || name == "_" {
		return true
	}
	return words[0] == name || len(words) > 1 && slices.Contains([]string{"A", "An", "The", "Deprecated"}, words[0]) && words[1] == name
}

// maxParameters is the limit of STYLE. More than that take a struct.
const maxParameters = 4

func TestParameterListsAreShort(t *testing.T) {
	t.Parallel()
	for _, s := range repository(t).sources {
		if s.generated && !strings.HasSuffix(s.path, "_templ.go") { // a template's parameters are written by hand
			continue
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			name := "a function literal"
			var signature *ast.FuncType
			switch f := node.(type) {
			case *ast.FuncDecl:
				name, signature = f.Name.Name, f.Type
			case *ast.FuncLit:
				signature = f.Type
			default:
				return true
			}
			if n := parameters(signature); n > maxParameters {
				t.Errorf("%s: %s has %d parameters, more than %d: take a struct", s.position(node.Pos()), name, n, maxParameters)
			}
			return true
		})
	}
}

// parameters counts the parameters of a function. A context and the handle of a
// test do not count.
func parameters(f *ast.FuncType) (n int) {
	for _, field := range f.Params.List {
		switch typeName(field.Type) {
		case "context.Context", "testing.T", "testing.B", "testing.TB", "testing.F", "testing.M":
			continue
		}
		n += max(1, len(field.Names))
	}
	return n
}

// typeName returns the name of a type from another package, also behind a
// pointer, and "" for every other type.
func typeName(expr ast.Expr) string {
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return pkg.Name + "." + selector.Sel.Name
}

func TestWordingsMatch(t *testing.T) {
	t.Parallel()
	for text, bad := range map[string]bool{
		"known gives a token in memory.":                     true,
		"owed says whether the client sends more.":           true,
		"lately is of for an endpoint.":                      true,
		"the next group goes beside the one under way.":      true,
		"slow is how long who waits does so.":                true,
		"Its owner is told of a change.":                     true,
		"lookup returns the cached token.":                   false,
		"After six attempts the dispatcher gives up.":        false,
		"Who comes first goes at once.":                      true,
		"An administrator who is signed in is told why.":     false,
		"Besides, the company has an owner who pays.":        false,
		"bodyPending reports whether the client is sending.": false,
		"ErrDeliveryTest says that it was a test event.":     true,
		"ErrSecret is returned for another form.":            false,
		"a secret of the form that NewSecret gives it.":      true,
		"isBroken tells that the connection went away.":      true,
	} {
		if got := len(awkwardWordings(text)) > 0; got != bad {
			t.Errorf("%q: found %v", text, awkwardWordings(text))
		}
	}
}

func TestParametersAreCounted(t *testing.T) {
	t.Parallel()
	tr := &tree{}
	if err := tr.add("x.go", "package x\nfunc f(ctx context.Context, t *testing.T, a, b int, c string, d ...any) {}\n"); err != nil {
		t.Fatal(err)
	}
	f, ok := tr.sources[0].file.Decls[0].(*ast.FuncDecl)
	if got := parameters(f.Type); !ok || got != 4 {
		t.Errorf("parameters = %d, want 4", got)
	}
}
