package faults

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// The configuration of PgBouncer in deploy works for servers and commands that are
// started as its comment describes.
func TestPgBouncerConfigurationWorks(t *testing.T) {
	t.Parallel()
	direct := postgresDatabase(t)
	pooled := startPgBouncer(t, direct)
	env := []string{"COURSEBRIDGE_DATABASE_POOLER=transaction", "COURSEBRIDGE_DATABASE_DIRECT=" + direct}
	server := launchWith(t, env, pooled)
	server.ready(t)
	acme := newCompany(t, direct)
	inbox := newReceiver(t, nil)
	acme.addWebhook(t, inbox.URL)
	acme.provision(t, server.url, "pooled")
	inbox.waitFor(t, timeout, "pooled", 1)
	list := command("company", "list", "--database", pooled)
	list.Env = append(list.Env, env...)
	if done := runCommand(t, list); done.code != 0 || !strings.Contains(done.stdout, "Acme") {
		t.Errorf("company list through PgBouncer: code %d: %s%s", done.code, done.stdout, done.stderr)
	}
}

// startPgBouncer starts PgBouncer with the file in deploy in front of a database, and
// returns the database's address through it. Servers wait until it listens.
func startPgBouncer(t *testing.T, database string) string {
	t.Helper()
	program := pgtest.Program(t, "pgbouncer")
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "coursebridge-pgbouncer-") //nolint:usetesting // Another user must be able to enter it.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	listen := freeAddress(t)
	host, port, _ := net.SplitHostPort(listen)
	password, _ := u.User.Password()
	users := filepath.Join(dir, "userlist.txt")
	config := deployed(t, "pgbouncer.ini", "host=10.0.0.7 port=5432 dbname=coursebridge",
		fmt.Sprintf("host=%s port=%s dbname=%s", u.Hostname(), u.Port(), strings.TrimPrefix(u.Path, "/")),
		"listen_addr = 0.0.0.0", "listen_addr = "+host+"\nunix_socket_dir =", "listen_port = 6432", "listen_port = "+port, "/etc/pgbouncer/userlist.txt", users)
	for path, text := range map[string]string{users: fmt.Sprintf("%q %q\n", u.User.Username(), password), filepath.Join(dir, "pgbouncer.ini"): config} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{filepath.Join(dir, "pgbouncer.ini")}
	if os.Getuid() == 0 {
		args = append([]string{"-u", "postgres"}, args...) // it refuses to run as root
	}
	cmd, log := exec.Command(program, args...), newLogBuffer()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("log of PgBouncer:\n%s", tail(log.String(), 20))
		}
	})
	u.Host, u.Path = listen, "/coursebridge"
	return u.String()
}
