package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// operatorsFiles returns what operators read and install, by path.
func operatorsFiles(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../deploy/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in deploy: %v", err)
	}
	out := map[string]string{}
	pages, err := filepath.Glob("../../docs/operations/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no files in docs/operations: %v", err)
	}
	for _, path := range append(append(paths, pages...), "../../docs/operations.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(text)
	}
	return out
}

// foreignFlags are flags of other programs that the files mention.
var foreignFlags = map[string]bool{"--now": true, "--format": true}

// Papers that name a flag, a variable or a setting that does not exist send an operator
// the wrong way at night.
func TestOperatorsFilesNameRealFlags(t *testing.T) {
	t.Parallel()
	var cli commands
	parser, err := kong.New(&cli)
	if err != nil {
		t.Fatal(err)
	}
	flags, variables := map[string]bool{"--help": true}, map[string]bool{}
	_ = kong.Visit(parser.Model.Node, func(v kong.Visitable, next kong.Next) error {
		if f, ok := v.(*kong.Flag); ok {
			flags["--"+f.Name] = true
			for _, env := range f.Envs {
				variables[env], variables[env+fileSuffix] = true, true
			}
		}
		return next(nil)
	})
	for path, text := range operatorsFiles(t) {
		for _, flag := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(text, -1) {
			if !flags[flag] && !foreignFlags[flag] {
				t.Errorf("%s: there is no flag %s", path, flag)
			}
		}
		for _, variable := range regexp.MustCompile(`COURSEBRIDGE_[A-Z_]*[A-Z]`).FindAllString(text, -1) {
			if !variables[variable] {
				t.Errorf("%s: there is no variable %s", path, variable)
			}
		}
	}
	file, err := os.Open("../../deploy/coursebridge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := parseConfig(file, settingNames(parser.Model)); err != nil {
		t.Errorf("deploy/coursebridge.yaml: %v", err)
	}
}

func TestOperatorsFilesNameRealMetrics(t *testing.T) {
	t.Parallel()
	s := startServer(t, newSQLite(t))
	s.get(t, "/healthz")
	_, exposed := s.get(t, "/metrics")
	sources, err := filepath.Glob("../../internal/delivery/*.go") // metrics with labels appear with their first value
	if err != nil {
		t.Fatal(err)
	}
	var source []byte
	for _, path := range append(sources, "../../internal/app/replica.go") { // whose metrics appear with a read replica
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	for path, text := range operatorsFiles(t) {
		for _, name := range regexp.MustCompile(`\bcoursebridge_[a-z_]*[a-z]`).FindAllString(text, -1) {
			family := strings.TrimSuffix(name, "_bucket")
			if !strings.Contains(exposed, "# TYPE "+family+" ") && !strings.Contains(string(source), `"`+family+`"`) {
				t.Errorf("%s: there is no metric %s", path, name)
			}
		}
	}
}
