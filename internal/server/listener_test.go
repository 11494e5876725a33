package server

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// What net/http answers by itself looks like every other error.
func TestRefusalsOfTheProtocol(t *testing.T) {
	t.Parallel()
	var log lines
	s, _ := start(t, &log, Mount{Prefix: "/", Handler: says("root")})
	seen := map[string]bool{}
	for _, c := range []struct {
		name, request string
		status        int
		tells         string
	}{
		{"bad encoding", "GET /employees/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "percent-encoding"},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 400, "Host"},
		{"bad host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "Host"},
		{"bad header", "GET / HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", 400, "headers"},
		{"garbage", "nonsense\r\n\r\n", 400, "HTTP"},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "HTTP"},
		{"two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, "headers"},
		{"a long header", "GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 100_000) + "\r\n\r\n", 431, "64 KiB"},
		{"a long URL", "GET /?q=" + strings.Repeat("x", 100_000) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431, "URL"},
		{"a very long URL", "GET /?q=" + strings.Repeat("x", 10<<20) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431, "URL"},
		{"an unknown coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "Transfer-Encoding"},
		{"another version", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505, "HTTP/1.1"},
		{"an expectation", "POST / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\na", 417, "Expect"},
		{"everything", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404, "no such path"},
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
		if err := json.Unmarshal(text, &body); err != nil || body.Result != "error" || body.Code == "" || !strings.Contains(body.Message, c.tells) {
			t.Errorf("%s: %v in %s", c.name, err, text)
		}
		id := resp.Header.Get("X-Request-Id")
		if resp.StatusCode != c.status || resp.ContentLength != int64(len(text)) || !resp.Close || id == "" || seen[id] ||
			resp.Status != resp.Status[:4]+http.StatusText(c.status) || resp.Header.Get("Content-Type") != "application/json; charset=utf-8" ||
			resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Date") == "" {
			t.Errorf("%s: %s %v", c.name, resp.Status, resp.Header)
		}
		seen[id] = true
		if !strings.Contains(log.String(), id) {
			t.Errorf("%s: request %s is not in the log", c.name, id)
		}
	}
	for _, plain := range []string{"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"} {
		conn := dial(t, s)
		_, _ = io.WriteString(conn, plain)
		if status, body := readAnswer(t, conn); status != 200 || body != "root /" {
			t.Errorf("%d %s", status, body)
		}
	}
}
