package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestCompletionSuggestsWhatMayFollow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ words, want string }{
		{"ver", "version"},
		{"company cr", "create"},
		{"--json company cr", "create"},
		{"--database sqlite://serve.db company cr", "create"},
		{"--database=sqlite://serve.db company cr", "create"},
		{"serve --log-f", "--log-format"},
		{"serve --log-format ", "json text"},
		{"serve --log-format j", "json"},
		{"serve --data", "--database --database-pooler --database-direct --database-read --database-connections --database-wait"},
		{"completion ", "bash zsh fish"},
		{"backup --config ", ""}, // the shell completes files
	} {
		var out bytes.Buffer
		if code := run(t.Context(), append([]string{completeCommand}, strings.Split(c.words, " ")...), &out, io.Discard); code != 0 {
			t.Fatalf("%q: exit code %d", c.words, code)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			got = append(got, word)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: got %q, want %q", c.words, got, c.want)
		}
	}
}

// The script runs in bash with a stand-in for the program, which is not on the PATH
// of a test.
func TestBashCompletion(t *testing.T) {
	t.Parallel()
	script := completionScripts["bash"] + `
coursebridge() { [ "$1/$2/$3" = __complete/company/cr ] && printf 'create\tCreate a company.\n'; }
COMP_WORDS=(coursebridge company cr) COMP_CWORD=2
_coursebridge
printf '%s' "${COMPREPLY[*]}"`
	out, err := exec.CommandContext(t.Context(), "bash", "-c", script).CombinedOutput()
	if err != nil || string(out) != "create" {
		t.Errorf("bash completes to %q, %v", out, err)
	}
}

func TestManPageHasEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	var cli commands
	parser, err := kong.New(&cli, kong.Name("coursebridge"))
	if err != nil {
		t.Fatal(err)
	}
	page := manPage(parser.Model, "1.2.3")
	_ = kong.Visit(parser.Model.Node, func(v kong.Visitable, next kong.Next) error {
		switch v := v.(type) {
		case *kong.Flag:
			if v.Name != "help" && !strings.Contains(page, `\fB`+escaper.Replace("--"+v.Name)) {
				t.Errorf("the page lacks --%s", v.Name)
			}
		case *kong.Node:
			if v.Type == kong.CommandNode && !strings.Contains(page, escaper.Replace(v.Name)) {
				t.Errorf("the page lacks %s", v.Name)
			}
		}
		return next(nil)
	})
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "'") || strings.ContainsAny(line, "…\t") {
			t.Errorf("roff would misread %q", line)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "the database is unavailable")
	}))
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	check := func() (int, string) {
		var out bytes.Buffer
		code := run(context.WithoutCancel(t.Context()), []string{"health", "--listen", "0.0.0.0:" + port}, &out, &out)
		return code, out.String()
	}
	if code, out := check(); code != 0 || out != "ok\n" {
		t.Errorf("a ready server: %d %q", code, out)
	}
	status = http.StatusServiceUnavailable
	if code, out := check(); code != 1 || !strings.Contains(out, "the database is unavailable") {
		t.Errorf("a server that is not ready: %d %q", code, out)
	}
	server.Close()
	if code, out := check(); code != 1 || !strings.Contains(out, "no server answers on 0.0.0.0:"+port) {
		t.Errorf("no server: %d %q", code, out)
	}
}
