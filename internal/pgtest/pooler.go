package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// poolerConfig is PgBouncer's configuration. It has few sessions of the server, so that
// consecutive transactions of one client get different ones.
const poolerConfig = `[databases]
* = host=%s port=%s user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 8
max_client_conn = 500
server_round_robin = 1
logfile = %s
`

// UsePooler reports whether suites that work without a pooler should run behind one: see
// make test-pooler.
func UsePooler() bool { return os.Getenv("COURSEBRIDGE_TEST_POOLER") == "1" }

// Pooler starts PgBouncer in transaction mode in front of the test server. It returns the
// address of the same database through it. PgBouncer ends with the test.
func Pooler(tb testing.TB, address string) string {
	tb.Helper()
	program := Program(tb, "pgbouncer")
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "coursebridge-pooler-") //nolint:usetesting // Another user must be able to enter it.
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	const tries = 10
	for try := range tries {
		if u.Host, err = startPooler(tb, program, filepath.Join(dir, fmt.Sprint(try)), u); err == nil {
			return u.String()
		}
	}
	tb.Fatal("start PgBouncer:", err)
	return ""
}

// startPooler starts PgBouncer on a port that was free a moment ago and returns where it
// listens.
func startPooler(tb testing.TB, program, dir string, server *url.URL) (string, error) {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	host := l.Addr().String()
	_, port, _ := net.SplitHostPort(host)
	password, _ := server.User.Password()
	if err := errors.Join(l.Close(), os.Mkdir(dir, 0o777), os.Chmod(dir, 0o777), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		return "", err
	}
	log, config := filepath.Join(dir, "log"), filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(poolerConfig, server.Hostname(), server.Port(), server.User.Username(), password, port, log)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return "", err
	}
	args := []string{"-q", config}
	if os.Getuid() == 0 {
		args = []string{"-q", "-u", "postgres", config} // it refuses to run as root
	}
	cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), program, args...) // the databases are dropped through it at the end
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	tb.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for range 500 {
		if conn, err := (&net.Dialer{}).DialContext(tb.Context(), "tcp", host); err == nil {
			return host, conn.Close()
		}
		select {
		case <-ended:
			reason, _ := os.ReadFile(log)
			return "", fmt.Errorf("PgBouncer ended: %s", strings.TrimSpace(string(reason)))
		case <-time.After(10 * time.Millisecond):
		}
	}
	return "", errors.New("PgBouncer does not listen after 5 s")
}
