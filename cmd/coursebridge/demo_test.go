package main

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/coursebridge/coursebridge"
)

var (
	documentedBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	documentedCall  = regexp.MustCompile(`(?m)(?:^|^\./|\$\(|\$\(\./|run \./cmd/)coursebridge ((?:[^#\n&|)]|\\\n)+)`)
	word            = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s\\]+`)
)

// Every call of the program in the README and in the documentation names a command
// and flags that exist, also where no test can run it.
func TestDocumentedFlags(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	calls := checkCalls(t, "README.md", string(readme))
	err = fs.WalkDir(coursebridge.Documents, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(coursebridge.Documents, name)
		calls += checkCalls(t, name, string(text))
		return err
	})
	if err != nil || calls < 20 {
		t.Errorf("%d calls were checked, want at least 20: %v", calls, err)
	}
}

// checkCalls parses the calls in the blocks of a Markdown file and returns their number.
func checkCalls(t *testing.T, name, text string) (calls int) {
	t.Helper()
	for _, block := range documentedBlock.FindAllStringSubmatch(text, -1) {
		for _, call := range documentedCall.FindAllStringSubmatch(block[1], -1) {
			var args []string
			for _, arg := range word.FindAllString(call[1], -1) {
				args = append(args, strings.Trim(arg, `"'`))
			}
			calls++
			var cli commands
			parser, err := kong.New(&cli, kong.Vars{"version": version}, kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(args); err != nil {
				t.Errorf("%s: coursebridge %s: %v", name, strings.Join(args, " "), err)
			}
		}
	}
	return calls
}

// Only a database on the command line is filled, not one that the environment names.
func TestDemoFillsOnlyAGivenDatabase(t *testing.T) {
	t.Setenv("COURSEBRIDGE_DATABASE", "sqlite://elsewhere.db")
	for given, args := range map[bool][]string{false: {"demo"}, true: {"demo", "--database", "sqlite://here.db"}} {
		var cli commands
		parser, err := kong.New(&cli, kong.Vars{"version": version}, kong.Resolvers(&fileResolver{}))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.Parse(args)
		if err != nil {
			t.Fatal(err)
		}
		if got := isGiven(parsed, "database"); got != given {
			t.Errorf("%v: given is %v", args, got)
		}
	}
}

func TestDemoOpensTheBrowser(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"xdg-open", "open"} {
		script := "#!/bin/sh\nprintf %s \"$1\" >" + filepath.Join(dir, "opened") + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := openBrowser(t.Context(), "http://127.0.0.1/demo/enter/x"); err != nil {
		t.Fatal(err)
	}
	if opened, err := os.ReadFile(filepath.Join(dir, "opened")); err != nil || string(opened) != "http://127.0.0.1/demo/enter/x" {
		t.Errorf("the browser got %q: %v", opened, err)
	}
}
