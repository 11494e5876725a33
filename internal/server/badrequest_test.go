package server

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Answers that net/http writes itself look like every other error.
func TestProtocolErrors(t *testing.T) {
	t.Parallel()
	s, _ := start(t, io.Discard, Mount{Prefix: "/", Handler: echoPath("root")})
	for _, c := range []struct {
		name, request string
		status        int
	}{
		{"bad percent-encoding", "GET /employees/100% HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 400},
		{"bad header", "GET / HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", 400},
		{"garbage", "nonsense\r\n\r\n", 400},
		{"long URL", "GET /?q=" + strings.Repeat("x", 100_000) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431},
		{"unknown transfer coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
		{"unknown version", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	} {
		conn := dial(t, s)
		_, _ = io.WriteString(conn, c.request)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		_ = resp.Body.Close()
		var body struct{ Result, Message, Code string }
		if err := json.Unmarshal(text, &body); err != nil || body.Result != "error" || body.Code == "" || body.Message == "" {
			t.Errorf("%s: %v in %s", c.name, err, text)
		}
		if resp.StatusCode != c.status || !resp.Close || resp.Header.Get("X-Request-Id") == "" ||
			resp.Header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s: %s %v, want status %d", c.name, resp.Status, resp.Header, c.status)
		}
	}
	for _, plain := range []string{"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"} {
		conn := dial(t, s)
		_, _ = io.WriteString(conn, plain)
		if status, body := readAnswer(t, conn); status != 200 || body != "root /" {
			t.Errorf("a valid request: status %d, body %s", status, body)
		}
	}
}
