package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// eachEngine runs a test with the address of a migrated database of each engine. All migrations
// take a quarter of a second of processor time under the race detector, a copy almost none.
func eachEngine(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, storetest.SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, storetest.Postgres(t)) })
}

// eachEngineEmpty is eachEngine with databases that have not been created yet.
func eachEngineEmpty(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, newSQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, pgtest.URL(t)) })
}

// newSQLite returns the address of a database that does not exist yet.
func newSQLite(t *testing.T) string {
	t.Helper()
	return "sqlite://" + filepath.Join(t.TempDir(), "test.db")
}

// outcome is the result of one command.
type outcome struct {
	code           int
	stdout, stderr string
}

// runCommand runs a command in this process.
func runCommand(t *testing.T, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// An interrupted command has not done its work, so it fails; a server that is stopped
// has.
func TestInterruptedCommandsFail(t *testing.T) {
	t.Parallel()
	database := "sqlite://" + filepath.Join(t.TempDir(), "test.db")
	mustRun(t, database, "migrate")
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for command, want := range map[string]int{"backup": 130, "migrate": 130, "serve": 0} {
		args := []string{command, "--database", database}
		switch command {
		case "backup":
			args = append(args, filepath.Join(t.TempDir(), "copy.db"))
		case "serve":
			args = append(args, "--listen", "127.0.0.1:0")
		}
		var stdout, stderr bytes.Buffer
		if code := run(interrupted, args, &stdout, &stderr); code != want || strings.Contains(stderr.String(), "interrupted") != (want != 0) {
			t.Errorf("%s: exit code %d, want %d:\n%s", command, code, want, stderr.String())
		}
	}
}

// mustRun runs a command on a database with --json and decodes its result.
func mustRun(t *testing.T, database string, args ...string) map[string]any {
	t.Helper()
	got := runCommand(t, append(args, "--database", database, "--json")...)
	if got.code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, got.code, got.stderr)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(got.stdout), &out); err != nil {
		t.Fatalf("%v printed %q: %v", args, got.stdout, err)
	}
	return out
}

// wantRefused runs a command that must fail with one line that contains the text.
func wantRefused(t *testing.T, text string, args ...string) {
	t.Helper()
	got := runCommand(t, args...)
	if got.code == 0 || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, text) {
		t.Errorf("%v: exit code %d, printed %q, want one line with %q, got:\n%s", args, got.code, got.stdout, text, got.stderr)
	}
}

// server is a server that runs in this process.
type server struct {
	url  string
	log  *lockedBuffer
	stop func() int // ends the server and returns its exit code
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startServer starts serve on a free port and waits until it serves.
func startServer(t *testing.T, database string, flags ...string) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	s := &server{log: &lockedBuffer{}}
	ended := make(chan int, 1)
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--json", "--database", database, "--webhook-allow-private", "--webhook-allow-http"}, flags...)
	go func() {
		code := run(ctx, args, writer, s.log)
		_ = writer.Close()
		ended <- code
	}()
	s.stop = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { s.stop() })
	var serving struct{ Address string }
	if err := json.NewDecoder(reader).Decode(&serving); err != nil {
		t.Fatalf("the server did not start: %v\n%s", err, s.log)
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	s.url = "http://" + serving.Address
	return s
}

// get returns the status and the body of a path.
func (s *server) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	client := http.Client{Timeout: time.Minute} // the memory profile as text took over 10 s on a busy machine, under the race detector
	resp, err := client.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
