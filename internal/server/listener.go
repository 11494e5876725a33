package server

import (
	"bytes"
	"net"
	"strconv"
)

// listener gives connections on which even those answers are in our error body
// that net/http writes by itself, to what it can not read as a request.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

type conn struct{ net.Conn }

var (
	refusal = []byte("HTTP/1.1 4")
	// What net/http says after the status line, and we say nowhere.
	refusalHead = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
)

const refusalBody = `{"result":"error","message":"This is not a request that HTTP allows. Check the path's percent-encoding and the headers.","code":"invalid_request"}`

func (c conn) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(p, refusal) {
		return c.Conn.Write(p)
	}
	head := bytes.Index(p, refusalHead)
	if head < 0 {
		return c.Conn.Write(p)
	}
	answer := append([]byte{}, p[:head]...)
	answer = append(answer, "\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\nContent-Length: "...)
	answer = strconv.AppendInt(answer, int64(len(refusalBody)), 10)
	answer = append(answer, "\r\n\r\n"+refusalBody...)
	if _, err := c.Conn.Write(answer); err != nil {
		return 0, err
	}
	return len(p), nil
}
