// Package house holds the repository against the rules of its own architecture:
// who may import whom, how large a file may grow, what files are called. It
// reads sources and runs none; what the program does is tested elsewhere.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/coursebridge/coursebridge"

// source is one Go file of ours. Its folder is relative to the module: "." for
// the top, "internal/domain".
type source struct {
	path      string
	folder    string
	test      bool
	generated bool
	file      *ast.File
	imports   []string
}

// file is any text that is written by hand here.
type file struct {
	path string
	text string
}

type tree struct {
	files   []file
	sources []source
}

var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// load reads the tree once for all tests.
var load = sync.OnceValues(func() (*tree, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	t := &tree{}
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(name)
		}
		if !written[path.Ext(name)] {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		return t.add(name, string(text))
	})
	return t, err
})

// written are the kinds of file that people write here and that follow the
// rules of size and wording.
var written = map[string]bool{".go": true, ".templ": true, ".sql": true, ".sh": true}

func enter(folder string) error {
	switch base := path.Base(folder); {
	case folder == ".":
		return nil
	case strings.HasPrefix(base, "."), base == "node_modules", base == "testdata", folder == "bin":
		return fs.SkipDir
	}
	return nil
}

func (t *tree) add(name, text string) error {
	generated := generatedMark.MatchString(text)
	if !generated {
		t.files = append(t.files, file{path: name, text: text})
	}
	if path.Ext(name) != ".go" {
		return nil
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s := source{
		path:      name,
		folder:    path.Dir(name),
		test:      strings.HasSuffix(name, "_test.go"),
		generated: generated,
		file:      parsed,
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		s.imports = append(s.imports, imported)
	}
	t.sources = append(t.sources, s)
	return nil
}

func house(tb testing.TB) *tree {
	tb.Helper()
	t, err := load()
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// ours gives the folder of an import of this module.
func ours(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// standard tells an import of the standard library: its first part has no dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// within tells whether a folder is base or lies below it.
func within(folder, base string) bool {
	return folder == base || strings.HasPrefix(folder, base+"/")
}
