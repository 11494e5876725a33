package faults

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// proxy stands between the program and PostgreSQL, so that the database can go
// away for one test alone.
type proxy struct {
	target string
	addr   string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	silent   bool
	thawed   chan struct{} // closed unless silent
	running  sync.WaitGroup
}

// behindProxy gives the address of the database by way of a proxy.
func behindProxy(t *testing.T, database string) (string, *proxy) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{target: u.Host, addr: "127.0.0.1:0", conns: map[net.Conn]bool{}, thawed: make(chan struct{})}
	close(p.thawed)
	p.open(t)
	t.Cleanup(func() {
		p.thaw()
		p.cut()
		p.running.Wait()
	})
	u.Host = p.addr
	return u.String(), p
}

// open takes connections, again at the same address.
func (p *proxy) open(t *testing.T) {
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
			p.running.Go(func() { p.carry(conn) })
		}
	})
}

// cut breaks every connection and refuses new ones: the server was stopped.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listener.Close() // twice is as good as once
	for conn := range p.conns {
		_ = conn.Close()
	}
}

// freeze lets nothing through and breaks nothing: the cable was pulled.
func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent, p.thawed = true, make(chan struct{})
}

func (p *proxy) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent {
		p.silent = false
		close(p.thawed)
	}
}

func (p *proxy) wait() {
	p.mu.Lock()
	thawed := p.thawed
	p.mu.Unlock()
	<-thawed
}

func (p *proxy) keep(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[conn] = true
}

func (p *proxy) drop(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
	_ = conn.Close()
}

func (p *proxy) carry(in net.Conn) {
	p.keep(in)
	defer p.drop(in)
	p.wait()
	out, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	p.keep(out)
	defer p.drop(out)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			p.pass(way[1], way[0])
			_ = in.Close()
			_ = out.Close()
		})
	}
	both.Wait()
}

func (p *proxy) pass(to io.Writer, from io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.wait()
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
