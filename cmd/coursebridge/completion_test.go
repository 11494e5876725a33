package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
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
	for name, start := range map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer, "https": httptest.NewTLSServer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var status atomic.Int64
			status.Store(http.StatusOK)
			server := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					t.Errorf("asked for %s", r.URL.Path)
				}
				w.WriteHeader(int(status.Load()))
				_, _ = io.WriteString(w, "the database is unavailable")
			}))
			_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
			args := []string{"health", "--listen", "0.0.0.0:" + port}
			if name == "https" {
				args = append(args, "--tls-cert", "chain.pem")
			}
			check := func(wantCode int, want string) {
				t.Helper()
				var out bytes.Buffer
				if code := run(context.WithoutCancel(t.Context()), args, &out, &out); code != wantCode || !strings.Contains(out.String(), want) {
					t.Errorf("exit code %d, printed %q, want %d and %q", code, out.String(), wantCode, want)
				}
			}
			check(0, "ok\n")
			status.Store(http.StatusServiceUnavailable)
			check(1, "the database is unavailable")
			server.Close()
			check(1, "no server answers on 0.0.0.0:"+port)
		})
	}
}
