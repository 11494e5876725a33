package contract_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// databaseProxy is a TCP proxy between the program and its database that can be closed.
type databaseProxy struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu    sync.Mutex
	shut  bool
	conns map[net.Conn]bool
}

func newDatabaseProxy(t *testing.T, target string) *databaseProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &databaseProxy{listener: l, target: target, conns: map[net.Conn]bool{}}
	g.wg.Go(g.accept)
	t.Cleanup(func() {
		_ = l.Close()
		g.setClosed(true)
		g.wg.Wait()
	})
	return g
}

func (g *databaseProxy) accept() {
	for {
		in, err := g.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", g.target)
		if err != nil || !g.track(in, out) {
			_ = in.Close()
			if err == nil {
				_ = out.Close()
			}
			continue
		}
		for from, to := range map[net.Conn]net.Conn{in: out, out: in} {
			g.wg.Go(func() {
				_, _ = io.Copy(to, from)
				_, _ = from.Close(), to.Close()
			})
		}
	}
}

func (g *databaseProxy) track(conns ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		g.conns[c] = !g.shut
	}
	return !g.shut
}

// setClosed closes the proxy, which breaks its connections, or opens it again.
func (g *databaseProxy) setClosed(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	for c := range g.conns {
		if shut {
			_ = c.Close()
			delete(g.conns, c)
		}
	}
}

// outage disconnects PostgreSQL from a running program and connects it again.
func outage(t *testing.T, s *suite) {
	if !strings.HasPrefix(s.Database, "postgres") {
		return // a file does not go away
	}
	address, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	g := newDatabaseProxy(t, address.Host)
	address.Host = g.listener.Addr().String()
	f := newSuite(t, apptest.Start(t, apptest.Options{Database: address.String()}), s.coverage).newCompany(t)
	f.mayBeUnavailable = true
	f.provision(t, "E1")
	platform := f.suite.platformCaller()
	platform.mayBeUnavailable = true
	if a := platform.send(t, "GET", "/companies", ""); a.status != 200 {
		t.Fatalf("before: %d %s", a.status, a.text)
	}
	g.setClosed(true)
	for _, c := range []caller{f.caller, platform, f.withToken("cb_" + strings.Repeat("1", 43))} {
		for _, op := range c.contract.Operations {
			a := c.sendExample(t, op)
			if a.status == 200 && op.ID == "getToken" || a.status == 200 && op.ID == "listCourses" {
				continue // what is in memory
			}
			a.wantFailure(t, op.ID+" in the outage", 503, "unavailable", "")
			if a.header.Get("Retry-After") == "" {
				t.Errorf("%s: no Retry-After", op.ID)
			}
		}
	}
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 503} {
		if got := f.getStatus(t, path); got != status {
			t.Errorf("%s in the outage: %d", path, got)
		}
	}
	g.setClosed(false)
	back := time.Now()
	for f.send(t, "GET", "/employees/E1", "").status != 200 {
		if time.Since(back) > 10*time.Second {
			t.Fatal("not back after ten seconds")
		}
	}
	if a := f.send(t, "POST", "/employees/provision", f.provisionBody("", "", "")); a.str("status") != "created" {
		t.Errorf("after it: %d %s", a.status, a.text)
	}
	for f.getStatus(t, "/readyz") != 200 {
		if time.Since(back) > 10*time.Second {
			t.Fatal("not ready after ten seconds")
		}
	}
}

// getStatus returns the status of a path outside the contracts.
func (c caller) getStatus(t *testing.T, path string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.origin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.client.Do(r)
	if err != nil {
		t.Fatal(errors.Join(errors.New(path), err))
	}
	readAll(t, response)
	return response.StatusCode
}
