package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestMuchShorterRetentionNeedsConfirmation(t *testing.T) {
	t.Parallel()
	eachEngineEmpty(t, func(t *testing.T, database string) {
		if code := startServer(t, database).stop(); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		got := runCommand(t, "serve", "--listen", "127.0.0.1:0", "--database", database, "--retention", "24h")
		if got.code == 0 || !strings.Contains(got.stderr, "--confirm") {
			t.Errorf("exit code %d: %s", got.code, got.stderr)
		}
		startServer(t, database, "--retention", "400h").stop()
		startServer(t, database, "--retention", "24h", "--confirm").stop()
		startServer(t, database, "--retention", "24h").stop()
		wantRefused(t, "--confirm", "serve", "--listen", "127.0.0.1:0", "--database", database, "--audit-retention", "24h")
		startServer(t, database, "--audit-retention", "0").stop()
		wantRefused(t, "--confirm", "serve", "--listen", "127.0.0.1:0", "--database", database, "--audit-retention", "8760h")
	})
}

func TestPublicAddressIsASetting(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		first := startServer(t, database, "--public-url", "https://one.example/")
		first.stop() // an SQLite file has one server at a time
		second := startServer(t, database, "--public-url", "https://two.example")
		if got := mustRun(t, database, "public-url")["url"]; got != "https://one.example" {
			t.Errorf("the public address is %v", got)
		}
		if !strings.Contains(second.log.String(), "differs from the installation's") || strings.Contains(first.log.String(), "differs") {
			t.Errorf("log of the second server:\n%s", second.log)
		}
		if _, body := second.get(t, "/readyz?verbose"); !strings.Contains(body, "https://one.example") {
			t.Errorf("/readyz?verbose: %s", body)
		}
		if _, body := second.get(t, "/readyz"); strings.Contains(body, "notes") {
			t.Errorf("/readyz: %s", body)
		}
		mustRun(t, database, "public-url", "https://two.example")
		if got := mustRun(t, database, "public-url")["url"]; got != "https://two.example" {
			t.Errorf("the changed address is %v", got)
		}
		wantRefused(t, "a scheme and a host", "public-url", "two.example", "--database", database)
	})
}

func TestNoWebhooksSendsNothing(t *testing.T) {
	t.Parallel()
	database := storetest.SQLite(t)
	newCompany(t, database)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a webhook was sent") }))
	t.Cleanup(receiver.Close)
	mustRun(t, database, "webhook", "add", "--company", "1", "--url", receiver.URL, "--event", "employee.joined",
		"--webhook-allow-private", "--webhook-allow-http")
	token := mustRun(t, database, "token", "create", "--company", "1", "--name", "x", "--scope", "b2b_provision")["token"].(string)
	s := startServer(t, database, "--no-webhooks")
	provision(t, s, token, "one")
	time.Sleep(1200 * time.Millisecond) // longer than a poll of the queue
	s.stop()
	if got := mustRun(t, database, "delivery", "list", "--company", "1")["deliveries"].([]any); len(got) != 1 {
		t.Errorf("deliveries that wait: %v", got)
	}
}

func TestMetricsDescribeTheProgram(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		s := startServer(t, database, "--database-connections", "7")
		_, text := s.get(t, "/metrics")
		engine, most := "sqlite", "coursebridge_database_connections_max 5"
		if strings.HasPrefix(database, "postgres") {
			engine, most = "postgres", "coursebridge_database_connections_max 7"
		}
		for _, want := range []string{
			`coursebridge_build_info{engine="` + engine + `"`, "coursebridge_ready 1", "coursebridge_background_errors_total 0",
			"coursebridge_database_size_bytes ", most,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in the metrics", want)
			}
		}
	})
}

func TestInspectionListeners(t *testing.T) {
	t.Parallel()
	metrics, debug := freeAddress(t), freeAddress(t)
	s := startServer(t, storetest.SQLite(t), "--metrics-listen", metrics, "--debug-listen", debug)
	if status, _ := s.get(t, "/metrics"); status != 404 {
		t.Errorf("/metrics on the main address: %d", status)
	}
	if status, text := (&server{url: "http://" + metrics}).get(t, "/metrics"); status != 200 || !strings.Contains(text, "coursebridge_ready") {
		t.Errorf("/metrics on its own address: %d", status)
	}
	if status, _ := (&server{url: "http://" + debug}).get(t, "/debug/pprof/goroutine?debug=1"); status != 200 {
		t.Errorf("pprof: %d", status)
	}
	if _, text := (&server{url: "http://" + debug}).get(t, "/debug/pprof/heap?debug=1"); !strings.Contains(text, "@ heap/1048576\n") { // twice the rate
		t.Errorf("the memory is not profiled: %.200s", text)
	}
	for _, c := range []struct{ send, want string }{{"debug", "debug\n"}, {"loud", "Send debug, info, warn or error.\n"}, {"error", "error\n"}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+debug+"/debug/log-level", strings.NewReader(c.send))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(text) != c.want {
			t.Errorf("the log level %s: %s", c.send, text)
		}
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestShutdownDelayKeepsServing(t *testing.T) {
	t.Parallel()
	s := startServer(t, storetest.SQLite(t), "--shutdown-delay", "1s")
	ended := make(chan int, 1)
	go func() { ended <- s.stop() }()
	for {
		status, _ := s.get(t, "/readyz")
		if status == 503 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if status, _ := s.get(t, "/healthz"); status != 200 {
		t.Errorf("/healthz while stopping: %d", status)
	}
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// serve waits for a database that starts later.
func TestServeWaitsForItsDatabase(t *testing.T) {
	t.Parallel()
	database, err := url.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	target := database.Host
	database.Host = freeAddress(t)
	go func() {
		time.Sleep(time.Second)
		forward(t.Context(), database.Host, target)
	}()
	s := startServer(t, database.String())
	if !strings.Contains(s.log.String(), "waiting for the database") {
		t.Errorf("the log does not mention the wait:\n%s", s.log)
	}
}

// forward copies connections to the target until ctx ends.
func forward(ctx context.Context, listen, target string) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return
	}
	context.AfterFunc(ctx, func() { _ = l.Close() })
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", target)
		if err != nil {
			_ = in.Close()
			continue
		}
		go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
		go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
	}
}

func TestNewDatabaseFileIsPrivate(t *testing.T) {
	t.Parallel()
	database := newSQLite(t)
	startServer(t, database)
	for _, suffix := range []string{"", "-wal", "-shm", ".key"} {
		info, err := os.Stat(strings.TrimPrefix(database, "sqlite://") + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v, want mode 0600", suffix, info.Mode(), err)
		}
	}
}

// The limit of a token holds on each replica, as the documentation says.
func TestRateLimitHoldsOnEachReplica(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	newCompany(t, database)
	token := mustRun(t, database, "token", "create", "--company", "1", "--name", "x", "--scope", "b2b_read")["token"].(string)
	const burst = 5
	for range 3 {
		s := startServer(t, database, "--rate-limit", "0.001", "--rate-burst", "5", "--no-webhooks")
		for i := range 2 * burst {
			want := http.StatusOK
			if i >= burst {
				want = http.StatusTooManyRequests
			}
			if got := s.call(t, http.MethodGet, "/api/v1/courses", token, ""); got != want {
				t.Errorf("request %d: status %d, want %d", i+1, got, want)
			}
		}
	}
}

// A server on a machine without CA certificates starts and warns.
func TestMissingCertificatesAreWarnedOf(t *testing.T) {
	t.Parallel()
	if os.Getenv("COURSEBRIDGE_TEST_NO_CERTIFICATES") == "1" {
		s := startServer(t, newSQLite(t)) // a process of its own, because the pool is read once
		if !strings.Contains(s.log.String(), "this machine has no CA certificates") {
			t.Errorf("the log does not warn:\n%s", s.log)
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMissingCertificatesAreWarnedOf$")
	nowhere := t.TempDir()
	cmd.Env = append(os.Environ(), "COURSEBRIDGE_TEST_NO_CERTIFICATES=1", "SSL_CERT_FILE="+nowhere+"/none", "SSL_CERT_DIR="+nowhere)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestLogsForPeople(t *testing.T) {
	t.Parallel()
	s := startServer(t, "sqlite://"+filepath.Join(t.TempDir(), "a.db"), "--log-format", "text")
	s.get(t, "/cabinet/sign-in")
	s.stop()
	if log := s.log.String(); !strings.Contains(log, "level=INFO msg=serving address=") || !strings.Contains(log, "msg=request method=GET") || strings.Contains(log, "{") {
		t.Errorf("the log is not text:\n%s", log)
	}
}
