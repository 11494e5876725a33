package server

import (
	"bufio"
	"bytes"
	"errors"
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

// reads answers for what it finds in the body; denies answers without a look.
func reads(w http.ResponseWriter, r *http.Request) {
	_, err := httpapi.ReadObject(r.Context(), r.Body)
	httpapi.WriteError(w, r, err)
}

func denies(w http.ResponseWriter, r *http.Request) { httpapi.WriteError(w, r, domain.ErrUnauthorized) }

// pour sends a head and then so many megabytes, whatever comes back meanwhile.
func pour(c net.Conn, head string, megabytes int, chunked bool) error {
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

// A client that reads nothing until it has sent everything gets its answer.
func TestAnswerToLargeBodyArrives(t *testing.T) {
	t.Parallel()
	s, _ := start(t, io.Discard,
		Mount{Prefix: "/api", API: true, Handler: http.HandlerFunc(reads)},
		Mount{Prefix: "/deny", API: true, Handler: http.HandlerFunc(denies)},
		Mount{Prefix: "/page", Handler: says("page")},
	)
	for _, c := range []struct {
		name, head string
		megabytes  int
		chunked    bool
		status     int
	}{
		{"too large", "POST /api HTTP/1.1\r\nHost: x\r\n", 5, false, 413},
		{"far too large", "POST /api HTTP/1.1\r\nHost: x\r\n", 100, false, 413},
		{"too large in chunks", "POST /api HTTP/1.1\r\nHost: x\r\n", 20, true, 413},
		{"too large and the last", "POST /api HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", 20, false, 413},
		{"too large for HTTP/1.0", "POST /api HTTP/1.0\r\n", 20, false, 413},
		{"unauthorized", "POST /deny HTTP/1.1\r\nHost: x\r\n", 20, false, 401},
		{"unauthorized in chunks", "POST /deny HTTP/1.1\r\nHost: x\r\n", 20, true, 401},
		{"unauthorized and the last", "POST /deny HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", 1, false, 401},
		{"no such path", "PUT /lost HTTP/1.1\r\nHost: x\r\n", 20, false, 404},
		{"a body that nobody asked for", "GET /page HTTP/1.1\r\nHost: x\r\n", 20, false, 200},
		{"not HTTP", "POST /%zz HTTP/1.1\r\nHost: x\r\n", 20, false, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			length := fmt.Sprintf("Content-Length: %d\r\n\r\n", c.megabytes<<20)
			if c.chunked {
				length = "Transfer-Encoding: chunked\r\n\r\n"
			}
			conn := dial(t, s)
			if err := pour(conn, c.head+length, c.megabytes, c.chunked); err != nil {
				t.Fatal(err) // where most clients stop
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if text, err := io.ReadAll(resp.Body); err != nil || len(text) == 0 {
				t.Errorf("%q, %v", text, err)
			}
			if resp.StatusCode != c.status || !resp.Close || resp.ContentLength < 0 {
				t.Errorf("%d, close %t, length %d", resp.StatusCode, resp.Close, resp.ContentLength)
			}
		})
	}
}

// What is left of a body is owed only while the client sends it.
func TestBodyThatIsOwed(t *testing.T) {
	t.Parallel()
	read := func(n int64) func(*sent) { return func(s *sent) { _, _ = io.CopyN(io.Discard, s, n) } }
	for name, c := range map[string]struct {
		expect string
		read   func(*sent)
		want   bool
	}{
		"unread":                           {"", read(0), true},
		"read in part":                     {"", read(2), true},
		"read to the end":                  {"", read(9), false},
		"still waited for":                 {"100-continue", read(0), false},
		"asked for and read in part":       {"100-continue", read(2), true},
		"asked for and read to the end":    {"100-continue", read(9), false},
		"closed by the client in between":  {"", func(s *sent) { s.ReadCloser = http.NoBody; read(9)(s) }, false},
		"there is none and nobody read it": {"", func(s *sent) { s.ReadCloser = nil }, false},
	} {
		s := sent{ReadCloser: io.NopCloser(strings.NewReader("body"))}
		c.read(&s)
		r := &http.Request{Header: http.Header{}}
		if c.expect != "" {
			r.Header.Set("Expect", c.expect)
		}
		if got := s.owed(r); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A connection that is used again has nothing left of a body, and one that
// lingers ends at the latest when its limits do.
func TestLingeringEnds(t *testing.T) {
	t.Parallel()
	s, stop := start(t, io.Discard, Mount{Prefix: "/deny", API: true, Handler: http.HandlerFunc(denies)})
	c := dial(t, s)
	for range 2 {
		_, _ = io.WriteString(c, "POST /deny HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
		if status, _ := readAnswer(t, c); status != 401 {
			t.Errorf("%d", status)
		}
	}
	begun := time.Now()
	if err := stop(); err != nil || time.Since(begun) > lingerIdle {
		t.Errorf("an idle connection held the stop up for %s: %v", time.Since(begun), err)
	}

	here, there := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(there, forever{})
		ended <- err
	}()
	if n := drain(here, 1<<20, time.Now().Add(time.Hour), time.Hour); n < 1<<20 || n > 2<<20 {
		t.Errorf("%d bytes were taken", n)
	}
	if n := drain(here, 1<<60, time.Now().Add(time.Millisecond), time.Hour); n <= 0 {
		t.Errorf("%d bytes were taken", n)
	}
	_ = here.Close()
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the sender ended with %v", err)
	}
	silent, other := net.Pipe()
	if n := drain(silent, 1<<20, time.Now().Add(time.Hour), time.Millisecond); n != 0 {
		t.Errorf("%d bytes came from a silent client", n)
	}
	_, _, _ = silent.Close(), other.Close(), there.Close()
}

type forever struct{}

func (forever) Read(p []byte) (int, error) { return len(p), nil }

// HTTP/1.0 tells the end of an answer by closing, so what breaks off must not
// end in a plain close.
func TestBrokenAnswerResetsOldClients(t *testing.T) {
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
				t.Errorf("%s: the client sees %v", query, err)
			}
		}
	}
}
