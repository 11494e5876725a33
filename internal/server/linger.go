package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// How much, how long in all and how long in silence a client is listened to
// after its answer.
const (
	lingerBytes = 128 << 20
	lingerTime  = 10 * time.Second
	lingerIdle  = 2 * time.Second
)

// sent is a body as the client sends it, and how far it was read.
type sent struct {
	io.ReadCloser
	begun, ended bool
}

func (s *sent) Read(p []byte) (int, error) {
	s.begun = true
	n, err := s.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		s.ended = true
	}
	return n, err
}

// owed says whether the client is going to send more of the body. One that waits
// for "100 Continue" will not once it has its answer.
func (s *sent) owed(r *http.Request) bool {
	return s.ReadCloser != nil && !s.ended && (s.begun || r.Header.Get("Expect") == "")
}

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connFrom gives the connection of a request, nil where there is no listener of ours.
func connFrom(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// settle notes that net/http has read the rest of a body itself: it will use the
// connection again.
func settle(c net.Conn, state http.ConnState) {
	if state != http.StateIdle {
		return
	}
	if c, ok := c.(*conn); ok {
		c.owed.Store(false)
	}
}

// linger closes the sending side and takes what a client still sends of a body
// that nobody reads. To close with it unread would reset the connection, and a
// client that reads only once it has sent everything would lose its answer.
func (c *conn) linger() error {
	var err error
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		err = half.CloseWrite()
	}
	if c.owed.Swap(false) {
		drain(c.Conn, lingerBytes, time.Now().Add(lingerTime), lingerIdle)
	}
	return err
}

// CloseWrite is called by net/http before it waits for a client to take its answer.
func (c *conn) CloseWrite() error { return c.linger() }

func (c *conn) Close() error {
	if c.owed.Load() && !c.from.hurry.Load() {
		_ = c.linger() // what fails here fails in Close too
	}
	return c.Conn.Close()
}

// reset makes the coming close one that the client can't take for a plain end.
func (c *conn) reset() {
	c.owed.Store(false)
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails only on a connection that is broken already
	}
}

// drain reads until the client closes or a limit is reached, and gives how much.
func drain(c net.Conn, most int64, until time.Time, idle time.Duration) (n int64) {
	buf := make([]byte, 64<<10)
	for n < most {
		limit := time.Now().Add(idle)
		if until.Before(limit) {
			limit = until
		}
		if c.SetReadDeadline(limit) != nil {
			break
		}
		k, err := c.Read(buf)
		n += int64(k)
		if err != nil {
			break
		}
	}
	return n
}
