// Package house checks the sources against the rules of the architecture: which
// package may import which, how large files and parameter lists may be, how files
// are named and comments worded. Tests of behaviour belong elsewhere.
package house

import (
	"fmt"
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

// source is one Go file of this module. Its path and folder are relative to the
// module's root.
type source struct {
	path      string
	folder    string
	test      bool
	generated bool
	file      *ast.File
	files     *token.FileSet
	imports   []string
}

// position returns the path and line of a node.
func (s source) position(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", s.path, s.files.Position(pos).Line)
}

// file is a hand-written text file.
type file struct {
	path string
	text string
}

type tree struct {
	files   []file
	sources []source
}

var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// loadTree parses the repository once for all tests.
var loadTree = sync.OnceValues(func() (*tree, error) {
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
			return skipFolder(name)
		}
		if !checkedExtensions[path.Ext(name)] {
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

// checkedExtensions are the kinds of file whose size is checked and that are
// searched for unfinished work.
var checkedExtensions = map[string]bool{".go": true, ".templ": true, ".sql": true, ".sh": true}

// skipFolder returns fs.SkipDir for folders without hand-written sources.
func skipFolder(folder string) error {
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
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s := source{
		path:      name,
		folder:    path.Dir(name),
		test:      strings.HasSuffix(name, "_test.go"),
		generated: generated,
		file:      parsed,
		files:     files,
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

// repository returns the parsed repository.
func repository(tb testing.TB) *tree {
	tb.Helper()
	t, err := loadTree()
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// folderOf returns the folder of an imported package of this module.
func folderOf(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// isStandard reports whether an import path belongs to the standard library: its
// first part has no dot.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// within reports whether a folder is base or lies below it.
func within(folder, base string) bool {
	return folder == base || strings.HasPrefix(folder, base+"/")
}
