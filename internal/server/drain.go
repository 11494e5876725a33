package server

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"
)

// The limits of drainUnread.
const (
	maxDrainBytes = 32 << 20
	maxDrainTime  = 5 * time.Second
)

// bodyPending reports whether the client is still sending the request body. A
// client that waits for "100 Continue" sends nothing once it has its answer.
func (b *requestBody) bodyPending(r *http.Request) bool {
	return b.ReadCloser != nil && !b.finished && (b.started || r.Header.Get("Expect") == "")
}

// drainUnread sends the answer and then discards the rest of the body. Closing
// the connection with unread data would reset it, and a client that reads only
// after it has sent everything would never see its 413 or 401.
func drainUnread(w http.ResponseWriter, body *requestBody) {
	body.isDrained = true
	c := http.NewResponseController(w)
	if c.Flush() != nil || c.SetReadDeadline(time.Now().Add(maxDrainTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, body, maxDrainBytes) // an error means that the client has left
}

// resetConnection closes a connection so that the client sees an error: HTTP/1.0
// clients take a plain close for the end of the answer.
func resetConnection(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if wrapped, ok := c.(*conn); ok {
		c = wrapped.Conn
	}
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn() // closing the tls.Conn would end the stream as if it were complete
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails only if the connection is broken already
	}
	_ = c.Close()
}
