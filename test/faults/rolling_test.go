package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// oldProgramEnv names a program of an earlier version to upgrade from. scripts/upgrade.sh builds one
// and sets it; without it today's program is upgraded to itself.
const oldProgramEnv = "COURSEBRIDGE_TEST_OLD_PROGRAM"

// balanced is replicas behind HAProxy, each on an address that it keeps.
type balanced struct {
	database  string
	program   string   // that start starts
	flags     []string // of every replica
	addresses []string
	replicas  []*process
	url       string
	client    *http.Client
	admin     string // HAProxy's socket
}

// newBalanced starts n replicas and HAProxy, with the configuration in deploy and a line
// for each replica.
func newBalanced(t *testing.T, database string, n int, flags ...string) *balanced {
	t.Helper()
	program, dir := pgtest.Program(t, "haproxy"), t.TempDir()
	p := &balanced{database: database, program: binary, flags: flags, replicas: make([]*process, n), admin: filepath.Join(dir, "admin.sock")}
	if old := os.Getenv(oldProgramEnv); old != "" {
		p.program = old
	}
	cert, _, client := certificate(t, dir)
	p.client = client
	lines := ""
	for i := range p.replicas {
		p.addresses = append(p.addresses, freeAddress(t))
		lines += "server " + p.name(i) + " " + p.addresses[i] + "\n    "
		p.start(t, i)
	}
	listen := freeAddress(t)
	p.url = "https://" + listen
	config := writeFile(t, filepath.Join(dir, "haproxy.cfg"), deployed(t, "haproxy.cfg", "maxconn 20000", "maxconn 200", "bind :443", "bind "+listen, "/run/haproxy/admin.sock", p.admin,
		"/etc/haproxy/courses.example.pem", cert, "server a 10.0.0.11:8080", lines, "server b 10.0.0.12:8080", ""))
	startProxy(t, client, p.url, exec.Command(program, "-db", "-f", config))
	return p
}

// name returns the name of a replica in HAProxy's configuration.
func (p *balanced) name(i int) string { return string(rune('a' + i)) }

// start starts a replica as the comment in deploy/haproxy.cfg describes.
func (p *balanced) start(t *testing.T, i int) {
	t.Helper()
	args := []string{"--listen", p.addresses[i], "--trusted-proxy", "127.0.0.1"}
	if p.canDelay(t) {
		args = append(args, "--shutdown-delay", "5s")
	}
	args = append(args, p.flags...)
	p.replicas[i] = launchCommand(t, nil, commandOf(p.program, append(serveArguments(p.database), args...)...))
	p.replicas[i].ready(t)
}

// canDelay reports whether the program can go on serving with readiness red. The first
// programs cannot.
func (p *balanced) canDelay(t *testing.T) bool {
	t.Helper()
	help, err := exec.Command(p.program, "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(help), "--shutdown-delay")
}

// upgrade replaces the replicas one after the other. The first programs cannot delay
// their end and call a newer schema unready: HAProxy is told to drain them, and not to
// check them meanwhile, as docs/operations/upgrades.md describes.
func (p *balanced) upgrade(t *testing.T, program string) {
	t.Helper()
	byHand := !p.canDelay(t)
	p.program = program
	for i := range p.replicas {
		if byHand {
			p.tellHAProxy(t, "disable health coursebridge/"+p.name(i))
		}
	}
	for i := range p.replicas {
		name := "coursebridge/" + p.name(i)
		if byHand {
			p.drain(t, name)
		}
		p.replicas[i].signal(t, syscall.SIGTERM)
		p.replicas[i].wantExit(t, timeout)
		p.start(t, i)
		if byHand {
			p.tellHAProxy(t, "enable health "+name)
			p.tellHAProxy(t, "set server "+name+" state ready")
		}
		eventually(t, timeout, "requests that HAProxy sends to "+name, func() error {
			if !strings.Contains(p.replicas[i].log.String(), `"/api/v1/`) {
				return errors.New("its log has none")
			}
			return nil
		})
	}
}

// drain has HAProxy send nothing more to a replica, and waits until it has no request.
func (p *balanced) drain(t *testing.T, name string) {
	t.Helper()
	p.tellHAProxy(t, "set server "+name+" state drain")
	eventually(t, timeout, "the last request of "+name, func() error {
		for line := range strings.Lines(p.tellHAProxy(t, "show stat")) {
			const sessions = 4 // the column scur
			if c := strings.Split(line, ","); strings.HasPrefix(line, strings.ReplaceAll(name, "/", ",")) && c[sessions] != "0" {
				return errors.New(c[sessions] + " requests are running")
			}
		}
		return nil
	})
}

// tellHAProxy sends a command to HAProxy and returns its answer.
func (p *balanced) tellHAProxy(t *testing.T, line string) string {
	t.Helper()
	conn, err := net.Dial("unix", p.admin)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// simulateNewerSchema does to the schema what the next release could do.
func (p *balanced) simulateNewerSchema(ctx context.Context, t *testing.T) {
	t.Helper()
	old := openOld(t, p.database)
	for _, sql := range []string{
		`ALTER TABLE employees ADD COLUMN of_the_next_release text`,
		`INSERT INTO goose_db_version (version_id, is_applied) SELECT max(version_id) + 1, true FROM goose_db_version`,
	} {
		if _, err := old.db.ExecContext(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
}

// load calls the API until ctx ends and counts the calls. Every call must succeed.
func (p *balanced) load(ctx context.Context, t *testing.T, acme company, worker int) (calls int) {
	acme.client = p.client
	for ; ctx.Err() == nil; calls++ {
		person := newPerson(fmt.Sprintf("w%d-%d", worker, calls/2))
		method, path, body := http.MethodPost, "/api/v1/employees/provision", any(person)
		if calls%2 == 1 {
			method, path, body = http.MethodGet, "/api/v1/employees?limit=5", nil
		}
		if got, err := acme.send(context.WithoutCancel(ctx), method, p.url+path, body); err != nil || got.status/100 != 2 {
			t.Errorf("call %d of worker %d, %s %s: %v, status %d: %s", calls, worker, method, path, err, got.status, got.body)
			return calls
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	return calls
}

// While replicas behind HAProxy are replaced one after the other, and the schema becomes
// a newer one under them, no request fails.
func TestRollingUpgradeBehindHAProxy(t *testing.T) {
	t.Parallel()
	database := postgresDatabase(t)
	p := newBalanced(t, database, 2)
	acme := newCompanyWith(t, p.program, database)
	checkProxy(t, p.client, p.url, p.replicas...)
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	var workers sync.WaitGroup
	for i := range 4 {
		workers.Go(func() { calls.Add(int64(p.load(ctx, t, acme, i))) })
	}
	if p.program == binary {
		p.simulateNewerSchema(ctx, t)
	}
	p.upgrade(t, binary)
	cancel()
	workers.Wait()
	if calls.Load() == 0 {
		t.Error("nothing was called")
	}
	t.Logf("%d calls while the replicas were replaced", calls.Load())
}
