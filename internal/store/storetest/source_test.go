package storetest_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// The statements in the source are compared with those that were explained: a test that
// explains what is run says nothing of what no test runs.

// unknownPart stands in a statement for what is put together when the program runs.
const unknownPart = "\x00"

// sourceStatement is a statement in the source, on one line, with unknown parts.
type sourceStatement struct{ file, text string }

// parts returns the known parts of a statement in their order.
func (s sourceStatement) parts() []string {
	var out []string
	for _, part := range strings.Split(strings.ReplaceAll(s.text, "$"+unknownPart, unknownPart), unknownPart) {
		if part = strings.TrimSpace(withoutNumbers(part)); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// matches reports whether a statement that was run has all known parts in their order.
func (s sourceStatement) matches(run string) bool {
	for _, part := range s.parts() {
		_, after, found := strings.Cut(run, part)
		if !found {
			return false
		}
		run = after
	}
	return true
}

// assembled are the statements of which the source has too little to find them by, and
// what was run if they were.
var assembled = map[string]*regexp.Regexp{
	"delivery_record.go: SELECT":   regexp.MustCompile(`^SELECT pg_advisory_xact_lock_shared\(1, CAST\(\?::bigint`),
	"employee_list.go: SELECT":     regexp.MustCompile(`^SELECT CAST\(.* kind = 'employee' .* AS bigint\)$`),
	"endpoint.go: SELECT":          regexp.MustCompile(`^SELECT pg_advisory_xact_lock\(1, CAST\(\?::bigint`),
	"filter.go: SELECT":            regexp.MustCompile(`^SELECT CAST\(.* kind = 'status' .* AS bigint\), CAST\(`),
	"home.go: SELECT … , … ,":      regexp.MustCompile(`^SELECT CAST\(.* kind = 'employee' .* AS bigint\), CAST\(.* kind = 'required'`),
	"outbox.go: SELECT … FROM … c": regexp.MustCompile(`^SELECT pg_advisory_xact_lock_shared\(1, CAST\(c\.company_id`),
	"search.go: SELECT":            regexp.MustCompile(`^SELECT \(*SELECT count\(\*\) FROM \(SELECT .*\) c\) = \d+ OR `),
	"total.go: SELECT":             regexp.MustCompile(`^SELECT CAST\(.* kind = 'status'.* AS bigint\)$`),
}

// isAssembled reports whether any statement that was run could be this one.
func (s sourceStatement) isAssembled() bool {
	return len(strings.Join(s.parts(), "")) < len("SELECT 1 FROM t")
}

var statementStart = regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)

// commandStart matches texts that look like a statement without a plan.
var commandStart = regexp.MustCompile(`^([A-Z]{3,} ["\w$\x00]|(BEGIN|COMMIT|ROLLBACK|VACUUM)$)`)

// statementsIn returns all statements with a plan in the Go files of a folder, without its
// tests.
func statementsIn(dir string) ([]sourceStatement, error) {
	return textsIn(dir, func(text string) bool { return statementStart.MatchString(text+" ") && strings.Contains(text, " ") })
}

// textsIn returns the texts in the Go files of a folder, without its tests, that are
// wanted.
func textsIn(dir string, isWanted func(text string) bool) (out []sourceStatement, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	files, source := make([]*ast.File, len(names)), folder{}
	for i, name := range names {
		if files[i], err = parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		source.add(files[i])
	}
	for i, file := range files {
		for _, decl := range file.Decls {
			for _, text := range source.texts(decl) {
				if isWanted(text) {
					out = append(out, sourceStatement{filepath.Base(names[i]), text})
				}
			}
		}
	}
	return out, nil
}

// texts returns the texts of a declaration, each on one line.
func (f folder) texts(decl ast.Decl) (out []string) {
	if function, ok := decl.(*ast.FuncDecl); ok {
		f = f.within(function)
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		expr, ok := n.(ast.Expr)
		if _, isName := n.(*ast.Ident); isName || !ok { // what a name stands for is found where it is declared
			return true
		}
		text, isText := f.text(expr)
		if isText {
			out = append(out, oneLine(text))
		}
		return !isText // what it is put together from is no text of its own
	})
	return out
}

// folder holds the expressions of what is declared by name.
type folder map[string]ast.Expr

func (f folder) add(file *ast.File) {
	for _, decl := range file.Decls {
		if general, ok := decl.(*ast.GenDecl); ok {
			f.addDecl(general)
		}
	}
}

func (f folder) addDecl(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		if values, ok := spec.(*ast.ValueSpec); ok && len(values.Values) == len(values.Names) {
			for i, name := range values.Names {
				f[name.Name] = values.Values[i]
			}
		}
	}
}

// text returns what an expression says, with unknownPart for what is known only when the
// program runs. It is no text if none of it is known.
func (f folder) text(expr ast.Expr) (text string, ok bool) {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return f.text(e.X)
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, isLeft := f.text(e.X)
		right, isRight := f.text(e.Y)
		return left + right, e.Op == token.ADD && (isLeft || isRight)
	case *ast.CallExpr:
		if name, ok := e.Fun.(*ast.SelectorExpr); ok && name.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			text, ok := f.text(e.Args[0])
			return formatVerb.ReplaceAllString(text, unknownPart), ok
		}
	case *ast.Ident:
		if declared, ok := f[e.Name]; ok {
			return f.text(declared)
		}
	}
	return unknownPart, false
}

var formatVerb = regexp.MustCompile(`%(\[\d+\])?[sdvq]`)

// within returns what names stand for within a function: its own constants, and what is
// declared outside of functions unless the function has a variable of that name.
func (f folder) within(function *ast.FuncDecl) folder {
	local := maps.Clone(f)
	forget := func(names ...ast.Expr) {
		for _, name := range names {
			if id, ok := name.(*ast.Ident); ok {
				delete(local, id.Name)
			}
		}
	}
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				forget(name)
			}
		case *ast.RangeStmt:
			forget(n.Key, n.Value)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				forget(n.Lhs...)
			}
		case *ast.GenDecl:
			if n.Tok == token.CONST {
				local.addDecl(n)
			}
		}
		return true
	})
	return local
}

// checkSource returns an error for each statement of the store that no test of this
// package has run.
func checkSource() error {
	statements, err := statementsIn("..")
	if err != nil {
		return err
	}
	if len(statements) < 300 {
		return fmt.Errorf("only %d statements were found in the source", len(statements))
	}
	run, unused := allRun(), maps.Clone(assembled)
	var errs []error
	for _, s := range statements {
		isRun, name := s.matches, s.file+": "+strings.Join(s.parts(), " … ")
		if s.isAssembled() {
			expected := assembled[name]
			delete(unused, name)
			isRun = func(run string) bool { return expected != nil && expected.MatchString(run) }
		}
		if !slices.ContainsFunc(run, isRun) {
			errs = append(errs, fmt.Errorf("no test of this package runs this statement, so its plan is not checked: %s", name))
		}
	}
	for name := range unused {
		errs = append(errs, fmt.Errorf("assembled has a statement that the source has not: %s", name))
	}
	return errors.Join(errs...)
}

// allRun returns the texts of all statements that the store has run, each on one line.
func allRun() []string {
	explained.Lock()
	defer explained.Unlock()
	var out []string
	for key := range explained.run {
		out = append(out, withoutNumbers(oneLine(key.sql)))
	}
	return out
}

var placeholder = regexp.MustCompile(`\$\d+`)

// withoutNumbers replaces placeholders by question marks, which some of them are in the
// source: conditions are numbered when they are put together.
func withoutNumbers(sql string) string { return placeholder.ReplaceAllString(sql, "?") }

// assembledByEngines are statements of the engines that the source does not have as a
// whole, and why their plans need no look.
var assembledByEngines = map[string]string{
	"SELECT coalesce(array_agg(nextval('\x00')), '{}') FROM generate_series(1, (SELECT $1::bigint))": "reads a sequence and no table",
}

// The engines' own statements do not go by the recorder. They are explained as the source
// has them, as generic plans, because nobody knows arguments for them.
func TestStatementsOfTheEnginesAreExplained(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		name := s.Engine().Name()
		statements, err := statementsIn(filepath.Join("..", name))
		if err != nil || len(statements) < 7 {
			t.Fatalf("found %d statements, %v", len(statements), err)
		}
		for _, st := range statements {
			if assembledByEngines[st.text] != "" {
				continue
			}
			run := runStatement{db.Item{SQL: st.text, Args: make([]any, arguments(st.text))}, name == "postgres"}
			plan, err := planOf(t.Context(), s.Engine(), run, reluctant)
			if err != nil {
				t.Errorf("%s: %v\n%q", st.file, err, st.text)
				continue
			}
			for _, problem := range problemsOf(name, st.text, plan) {
				t.Errorf("%s: %sof the statement\n%s", st.file, problem, st.text)
			}
			explained.Lock()
			if name == "postgres" {
				explained.postgres = append(explained.postgres, run)
			}
			explained.Unlock()
		}
	})
}

// clause matches texts of the engines that are parts of statements.
var clause = regexp.MustCompile(`^(CROSS|LEFT|FOR|SKIP) `)

// Every kind of statement of the engines has a plan or is named as one that has none. What
// the store itself runs is looked at when it is run: see isNoted.
func TestStatementsWithoutAPlanAreNamed(t *testing.T) {
	t.Parallel()
	unused := maps.Clone(unplanned)
	for _, dir := range []string{"../postgres", "../sqlite"} {
		commands, err := textsIn(dir, func(text string) bool {
			return commandStart.MatchString(text) && !planned.MatchString(text) && !clause.MatchString(text)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commands {
			delete(unused, firstWord(c.text))
			if unplanned[firstWord(c.text)] == "" {
				t.Errorf("%s: is this a statement with a plan (planned) or without one (unplanned)? %q", c.file, c.text)
			}
		}
	}
	for word := range unused {
		t.Errorf("unplanned has %s, which no statement begins with", word)
	}
}

func TestStatementsAreFoundInTheSource(t *testing.T) {
	t.Parallel()
	source := folder{}
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
		const columns = "a, b"
		func f(more string) []string {
			const from = " FROM t"
			rest := " WHERE x"
			return []string{"SELECT " + columns + from + rest, fmt.Sprintf("DELETE FROM %s WHERE a = $%d", more, 1), "selects nothing", more + "x"}
		}
		func g(columns string) string { return "SELECT " + columns + " FROM t" }`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	source.add(file)
	var got []string
	for _, decl := range file.Decls {
		got = append(got, source.texts(decl)...)
	}
	equal(t, "texts", got, []string{
		"a, b", "FROM t", "WHERE x", "SELECT a, b FROM t\x00", "DELETE FROM \x00 WHERE a = $\x00", "selects nothing", "\x00x", "SELECT \x00 FROM t",
	})
	s := sourceStatement{text: "DELETE FROM \x00 WHERE a = $\x00"}
	equal(t, "parts", s.parts(), []string{"DELETE FROM", "WHERE a ="})
	for run, want := range map[string]bool{
		"DELETE FROM t WHERE a = ? AND b": true, "DELETE FROM t WHERE b = ?": false, "SELECT 1 WHERE a = (DELETE FROM t)": false,
	} {
		equal(t, run, s.matches(run), want)
	}
	equal(t, "too little to find it by", sourceStatement{text: "SELECT \x00"}.isAssembled(), true)
}
