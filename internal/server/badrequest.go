package server

import (
	"bytes"
	"fmt"
	"net"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// errorBodyListener accepts connections on which net/http's own error responses
// carry our error body.
type errorBodyListener struct{ net.Listener }

func (l errorBodyListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// conn replaces the answers that net/http writes without calling a handler: it
// answers a path such as /employees/100% in plain text, and offers no hook.
type conn struct{ net.Conn }

// protocolError is how net/http begins these answers, after the status line.
var protocolError = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// maxProtocolErrorBytes is longer than any of these answers. What a handler writes may look
// like one, but comes in longer pieces.
const maxProtocolErrorBytes = 256

const badRequestBody = `{"result":"error","message":"This is not a valid HTTP request. Check the path's percent-encoding, ` +
	`the Host header and the other headers, which may have 64 KiB together.","code":"invalid_request"}`

func (c *conn) Write(p []byte) (int, error) {
	line := bytes.IndexByte(p, '\r')
	if len(p) > maxProtocolErrorBytes || line < 0 || !bytes.HasPrefix(p[line:], protocolError) {
		return c.Conn.Write(p)
	}
	_, err := fmt.Fprintf(c.Conn, "%s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n"+
		"Content-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\n\r\n%s",
		p[:line], len(badRequestBody), httpapi.NewRequestID(), badRequestBody)
	return len(p), err
}

// CloseWrite lets net/http end its side of the connection before the client's.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
