package faults

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// proxy forwards connections to PostgreSQL, so that a test can cut them without
// affecting other tests.
type proxy struct {
	target string
	addr   string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	frozen   bool
	cutEvery int           // of the committed transactions, every how many loses its answer; 0: none
	commits  int           // that were answered since cutEvery was set
	thawed   chan struct{} // closed unless frozen
	running  sync.WaitGroup
}

// behindProxy starts a proxy and returns the database's address through it.
func behindProxy(t *testing.T, database string) (string, *proxy) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{target: u.Host, addr: "127.0.0.1:0", conns: map[net.Conn]bool{}, thawed: make(chan struct{})}
	close(p.thawed)
	p.listen(t)
	t.Cleanup(func() {
		p.thaw()
		p.disconnect()
		p.running.Wait()
	})
	u.Host = p.addr
	return u.String(), p
}

// listen accepts connections, after disconnect at the same address as before.
func (p *proxy) listen(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		t.Fatal("listen for the database:", err)
	}
	p.mu.Lock()
	p.listener, p.addr = l, l.Addr().String()
	p.mu.Unlock()
	p.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.forward(conn) })
		}
	})
}

// disconnect closes all connections and refuses new ones, as if the database had
// been stopped.
func (p *proxy) disconnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listener.Close() // it may be closed already
	for conn := range p.conns {
		_ = conn.Close()
	}
}

// freeze stops forwarding without closing connections, as if the network were
// down.
func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen, p.thawed = true, make(chan struct{})
}

// thaw ends a freeze.
func (p *proxy) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen {
		p.frozen = false
		close(p.thawed)
	}
}

func (p *proxy) waitUntilThawed() {
	p.mu.Lock()
	thawed := p.thawed
	p.mu.Unlock()
	<-thawed
}

func (p *proxy) track(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[conn] = true
}

func (p *proxy) untrack(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
	_ = conn.Close()
}

func (p *proxy) forward(in net.Conn) {
	p.track(in)
	defer p.untrack(in)
	p.waitUntilThawed()
	out, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	p.track(out)
	defer p.untrack(out)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			p.copy(way[1], way[0], way[0] == out)
			_ = in.Close()
			_ = out.Close()
		})
	}
	both.Wait()
}

// cutCommits has every nth answer to a COMMIT lost together with its connection: the
// client can't know what became of the transaction.
func (p *proxy) cutCommits(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutEvery, p.commits = n, 0
}

// losesAnswer reports whether these bytes of the database are the answer to a COMMIT
// that must be lost.
func (p *proxy) losesAnswer(sent []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cutEvery == 0 || !bytes.Contains(sent, []byte("COMMIT\x00")) {
		return false
	}
	p.commits++
	return p.commits%p.cutEvery == 0
}

func (p *proxy) copy(to io.Writer, from io.Reader, fromDatabase bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.waitUntilThawed()
		if fromDatabase && p.losesAnswer(buf[:n]) {
			return
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
