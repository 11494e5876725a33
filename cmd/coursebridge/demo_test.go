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
	inlineCall      = regexp.MustCompile("`coursebridge ([^`]+)`")
	inlineTarget    = regexp.MustCompile("`(?:[A-Z_]+=\\S+ )*make ([a-z-]+(?: [a-z-]+)*)[^`]*`")
	word            = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s\\]+`)
)

// Every call of the program in the README and in the documentation names a command
// and flags that exist, also where no test can run it, and so does every make target.
func TestDocumentedFlags(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	calls := checkCalls(t, "README.md", string(readme))
	checkTargets(t, "README.md", string(readme), string(makefile))
	err = fs.WalkDir(coursebridge.Documents, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(coursebridge.Documents, name)
		calls += checkCalls(t, name, string(text))
		checkTargets(t, name, string(text), string(makefile))
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
			if err := parseCall(t, args); err != nil {
				t.Errorf("%s: coursebridge %s: %v", name, strings.Join(args, " "), err)
			}
		}
	}
	for _, call := range inlineCall.FindAllStringSubmatch(text, -1) {
		calls++ // a sentence may leave out flags, say ID for a number, and list alternatives
		first, _, _ := strings.Cut(call[1], "|")
		err := parseCall(t, strings.Fields(strings.ReplaceAll(first, " ID", " 1")))
		if err != nil && !strings.Contains(err.Error(), "missing") && !strings.Contains(err.Error(), "expected ") {
			t.Errorf("%s: coursebridge %s: %v", name, call[1], err)
		}
	}
	return calls
}

// parseCall parses the arguments of a call as the program would.
func parseCall(t *testing.T, args []string) error {
	t.Helper()
	var cli commands
	parser, err := kong.New(&cli, kong.Vars{"version": version}, kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(args)
	return err
}

// checkTargets checks that the Makefile has the targets that a Markdown file names.
func checkTargets(t *testing.T, name, text, makefile string) {
	t.Helper()
	for _, named := range inlineTarget.FindAllStringSubmatch(text, -1) {
		for target := range strings.FieldsSeq(named[1]) {
			if !strings.Contains(makefile, "\n"+target+":") {
				t.Errorf("%s: there is no target %s", name, target)
			}
		}
	}
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
