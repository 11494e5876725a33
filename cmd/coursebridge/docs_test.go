package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/coursebridge/coursebridge/internal/store/storetest"
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
	for path, text := range operatorsFiles(t) {
		files := []string{text}
		if filepath.Base(path) != "coursebridge.yaml" {
			files = configurationBlock.FindAllString(text, -1)
		}
		for _, file := range files {
			file = strings.TrimSuffix(strings.TrimPrefix(file, "```yaml\n"), "```")
			if got, err := parseConfig(strings.NewReader(file), settingNames(parser.Model)); err != nil || len(got.values) == 0 {
				t.Errorf("%s: a configuration file has %d settings: %v", path, len(got.values), err)
			}
		}
	}
}

// configurationBlock is a configuration file in a Markdown file.
var configurationBlock = regexp.MustCompile("(?ms)^```yaml\n.*?^```$")

// The page about installing has every setting of serve.
func TestInstallPageHasEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations/install.md")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range parser.Model.Children {
		if node.Name != "serve" {
			continue
		}
		for _, group := range node.AllFlags(true) {
			for _, flag := range group {
				if len(flag.Envs) > 0 && !strings.Contains(string(page), "`--"+flag.Name+"`") {
					t.Errorf("the page lacks --%s", flag.Name)
				}
			}
		}
	}
}

func TestOperatorsFilesNameRealMetrics(t *testing.T) {
	t.Parallel()
	s := startServer(t, storetest.SQLite(t))
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
