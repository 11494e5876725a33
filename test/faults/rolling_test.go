package faults

import (
	"context"
	"fmt"
	"net/http"
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

// pair is two replicas behind HAProxy, each on an address that it keeps.
type pair struct {
	database  string
	addresses [2]string
	replicas  [2]*process
	url       string
	client    *http.Client
}

func newPair(t *testing.T, database string) *pair {
	t.Helper()
	program, dir := pgtest.Program(t, "haproxy"), t.TempDir()
	p := &pair{database: database, addresses: [2]string{freeAddress(t), freeAddress(t)}}
	cert, _, client := certificate(t, dir)
	p.client = client
	for i := range p.replicas {
		p.start(t, i)
	}
	listen := freeAddress(t)
	p.url = "https://" + listen
	config := writeFile(t, filepath.Join(dir, "haproxy.cfg"), deployed(t, "haproxy.cfg", "maxconn 20000", "maxconn 200", "bind :443", "bind "+listen,
		"/etc/haproxy/courses.example.pem", cert, "10.0.0.11:8080", p.addresses[0], "10.0.0.12:8080", p.addresses[1]))
	startProxy(t, client, p.url, exec.Command(program, "-db", "-f", config))
	return p
}

// start starts a replica as the comment in deploy/haproxy.cfg describes.
func (p *pair) start(t *testing.T, i int) {
	t.Helper()
	p.replicas[i] = serve(t, p.database, "--listen", p.addresses[i], "--trusted-proxy", "127.0.0.1", "--shutdown-delay", "5s")
}

// replace stops a replica, starts another program in its place, and waits until HAProxy
// sends requests to it.
func (p *pair) replace(t *testing.T, i int) {
	t.Helper()
	p.replicas[i].signal(t, syscall.SIGTERM)
	p.replicas[i].wantExit(t, timeout)
	p.start(t, i)
	deadline := time.After(timeout)
	for !strings.Contains(p.replicas[i].log.String(), `"/api/v1/`) {
		changed := p.replicas[i].log.changed()
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("HAProxy sends nothing to replica %d", i)
		}
	}
}

// load calls the API until ctx ends and counts the calls. Every call must succeed.
func (p *pair) load(ctx context.Context, t *testing.T, acme company, worker int) (calls int) {
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
	acme := newCompany(t, database)
	p := newPair(t, database)
	checkProxy(t, p.client, p.url, p.replicas[:]...)
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	var workers sync.WaitGroup
	for i := range 4 {
		workers.Go(func() { calls.Add(int64(p.load(ctx, t, acme, i))) })
	}
	old := openOld(t, database)
	for _, sql := range []string{
		`ALTER TABLE employees ADD COLUMN of_the_next_release text`,
		`INSERT INTO goose_db_version (version_id, is_applied) SELECT max(version_id) + 1, true FROM goose_db_version`,
	} {
		if _, err := old.db.ExecContext(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	p.replace(t, 0)
	p.replace(t, 1)
	cancel()
	workers.Wait()
	if calls.Load() < 100 {
		t.Errorf("only %d calls succeeded", calls.Load())
	}
	t.Logf("%d calls, none failed", calls.Load())
}
