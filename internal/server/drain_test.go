package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// readBody parses the request body; refuse answers without reading it.
func readBody(w http.ResponseWriter, r *http.Request) {
	_, err := httpapi.ReadObject(httpapi.InfoFrom(r.Context()), r.Body)
	httpapi.WriteError(w, r, err)
}

func refuse(w http.ResponseWriter, r *http.Request) { httpapi.WriteError(w, r, domain.ErrUnauthorized) }

// sendAll sends the head and then the megabytes without reading anything.
func sendAll(c net.Conn, head string, megabytes int, chunked bool) error {
	out := bufio.NewWriterSize(c, 2<<20) // its first error stays and comes back from Flush
	_, _ = out.WriteString(head)
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range megabytes {
		if chunked {
			_, _ = fmt.Fprintf(out, "%x\r\n", len(block))
		}
		_, _ = out.Write(block)
		if chunked {
			_, _ = out.WriteString("\r\n")
		}
	}
	if chunked {
		_, _ = out.WriteString("0\r\n\r\n")
	}
	return out.Flush()
}

// A client that reads only after it has sent everything gets its answer.
func TestAnswerToLargeBodyArrives(t *testing.T) {
	t.Parallel()
	s, _ := start(t, io.Discard,
		Mount{Prefix: "/api", API: true, Handler: http.HandlerFunc(readBody)},
		Mount{Prefix: "/refuse", API: true, Handler: http.HandlerFunc(refuse)},
		Mount{Prefix: "/page", Handler: echoPath("page")},
	)
	for _, c := range []struct {
		name, head string
		megabytes  int
		chunked    bool
		status     int
	}{
		{"too large", "POST /api HTTP/1.1\r\nHost: x\r\n", 5, false, 413},
		{"too large in chunks", "POST /api HTTP/1.1\r\nHost: x\r\n", 20, true, 413},
		{"too large, then close", "POST /api HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", 20, false, 413},
		{"too large for HTTP/1.0", "POST /api HTTP/1.0\r\n", 20, false, 413},
		{"unauthorized", "POST /refuse HTTP/1.1\r\nHost: x\r\n", 20, false, 401},
		{"unauthorized in chunks", "POST /refuse HTTP/1.1\r\nHost: x\r\n", 20, true, 401},
		{"unauthorized, then close", "POST /refuse HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", 1, false, 401},
		{"unknown path", "PUT /lost HTTP/1.1\r\nHost: x\r\n", 20, false, 404},
		{"an unexpected body", "GET /page HTTP/1.1\r\nHost: x\r\n", 20, false, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			length := fmt.Sprintf("Content-Length: %d\r\n\r\n", c.megabytes<<20)
			if c.chunked {
				length = "Transfer-Encoding: chunked\r\n\r\n"
			}
			conn := dial(t, s)
			if err := sendAll(conn, c.head+length, c.megabytes, c.chunked); err != nil {
				t.Fatal(err) // most clients give up here
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if text, err := io.ReadAll(resp.Body); err != nil || len(text) == 0 {
				t.Errorf("body %q, %v; want a body", text, err)
			}
			if resp.StatusCode != c.status || !resp.Close {
				t.Errorf("status %d, close %t; want status %d and close", resp.StatusCode, resp.Close, c.status)
			}
		})
	}
}

func TestBodyPending(t *testing.T) {
	t.Parallel()
	read := func(n int64) func(*requestBody) {
		return func(b *requestBody) { _, _ = io.CopyN(io.Discard, b, n) }
	}
	for name, c := range map[string]struct {
		expect string
		read   func(*requestBody)
		want   bool
	}{
		"unread":                            {"", read(0), true},
		"read in part":                      {"", read(2), true},
		"read to the end":                   {"", read(9), false},
		"not requested by 100 Continue":     {"100-continue", read(0), false},
		"requested and read in part":        {"100-continue", read(2), true},
		"requested and read to the end":     {"100-continue", read(9), false},
		"closed by the client":              {"", func(b *requestBody) { b.ReadCloser = http.NoBody; read(9)(b) }, false},
		"a request that never had any body": {"", func(b *requestBody) { b.ReadCloser = nil }, false},
	} {
		b := requestBody{ReadCloser: io.NopCloser(strings.NewReader("body"))}
		c.read(&b)
		r := &http.Request{Header: http.Header{}}
		if c.expect != "" {
			r.Header.Set("Expect", c.expect)
		}
		if got := b.bodyPending(r); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

// A short unread body is discarded, and the connection can be used again.
func TestConnectionIsReusedAfterDrain(t *testing.T) {
	t.Parallel()
	s, stop := start(t, io.Discard, Mount{Prefix: "/refuse", API: true, Handler: http.HandlerFunc(refuse)})
	c := dial(t, s)
	for range 2 {
		_, _ = io.WriteString(c, "POST /refuse HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
		if status, _ := readAnswer(t, c); status != 401 {
			t.Errorf("status %d, want 401", status)
		}
	}
	begun := time.Now()
	if err := stop(); err != nil || time.Since(begun) > 2*time.Second {
		t.Errorf("stop took %s with an idle connection: %v", time.Since(begun), err)
	}
}

// A client that never stops sending is cut off at the limit.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	s, _ := start(t, io.Discard, Mount{Prefix: "/refuse", API: true, Handler: http.HandlerFunc(refuse)})
	c := dial(t, s)
	sent := make(chan error, 1)
	go func() {
		sent <- sendAll(c, "POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n", 8*maxDrainBytes>>20, false)
	}()
	if err := <-sent; err == nil {
		t.Error("the server read more than its limit")
	}
}

// In HTTP/1.0 a plain close marks the end of an answer, so an incomplete answer
// must end with a reset.
func TestIncompleteAnswerResetsHTTP10Connection(t *testing.T) {
	t.Parallel()
	s, _ := start(t, io.Discard, Mount{Prefix: "/report", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("row\r\n", 10_000))
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		if r.URL.RawQuery == "broken" {
			panic(http.ErrAbortHandler)
		}
	})})
	for query, broken := range map[string]bool{"whole": false, "broken": true} {
		for _, keep := range []string{"", "Connection: keep-alive\r\n"} {
			c := dial(t, s)
			_, _ = io.WriteString(c, "GET /report?"+query+" HTTP/1.0\r\n"+keep+"\r\n")
			if _, err := io.Copy(io.Discard, c); (err != nil) != broken {
				t.Errorf("%s: the client got error %v", query, err)
			}
		}
	}
}
