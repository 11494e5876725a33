package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// listener gives connections on which even those answers are in our error body
// that net/http writes by itself, to what it can not read as a request.
type listener struct {
	net.Listener
	log   *slog.Logger
	hurry atomic.Bool // connections close at once, whatever their clients still send
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, from: l}, nil
}

type conn struct {
	net.Conn
	from *listener
	owed atomic.Bool // see linger
}

// refusalHead is what net/http says after the status line, and we say nowhere.
var refusalHead = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// refusals are the answers that net/http gives by itself, in our words.
var refusals = map[int]string{
	http.StatusBadRequest:                  "This is not a request that HTTP allows. Check the path's percent-encoding, the Host header and the other headers.",
	http.StatusExpectationFailed:           "The Expect header asks for something unknown. Leave it out, or send 100-continue.",
	http.StatusRequestHeaderFieldsTooLarge: "The request's headers or URL are too long. Together they may have 64 KiB.",
	http.StatusNotImplemented:              "The Transfer-Encoding is not supported. Send the body with a Content-Length, or chunked.",
	http.StatusHTTPVersionNotSupported:     "This version of HTTP is not supported. Use HTTP/1.1.",
}

func (c *conn) Write(p []byte) (int, error) {
	status := refused(p)
	if status == 0 {
		return c.Conn.Write(p)
	}
	c.owed.Store(true) // what could not be read as a request has not been read to its end
	id := httpapi.NewRequestID()
	remote, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	c.from.log.Info("not a request", "status", status, "request_id", id, "remote", remote)
	if _, err := c.Conn.Write(refusal(status, id)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// refused gives the status of an answer that net/http writes by itself, 0 for
// every other.
func refused(p []byte) int {
	const status = len("HTTP/1.1 ")
	if len(p) < status+3 || p[status] < '4' || !bytes.HasPrefix(p, []byte("HTTP/1.")) {
		return 0
	}
	code, err := strconv.Atoi(string(p[status : status+3]))
	if err != nil {
		return 0
	}
	line := max(0, bytes.IndexByte(p, '\r'))
	if code != http.StatusExpectationFailed && !bytes.HasPrefix(p[line:], refusalHead) {
		return 0
	}
	return code
}

func refusal(status int, id string) []byte {
	message, known := refusals[status]
	if !known {
		message = refusals[http.StatusBadRequest]
	}
	body := `{"result":"error","message":"` + message + `","code":"invalid_request"}`
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n"+
		"Content-Type: application/json; charset=utf-8\r\nDate: %s\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\n\r\n%s",
		status, http.StatusText(status), len(body), time.Now().UTC().Format(http.TimeFormat), id, body)
}
