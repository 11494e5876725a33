package delivery

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Whatever a receiver sends, the wait lies within its bounds.
func FuzzParseRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "120", "-1", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", " 5 "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if wait := ParseRetryAfter(value, time.Now()); wait < 0 || wait > MaxRetryAfter {
			t.Errorf("%q is a wait of %s", value, wait)
		}
	})
}

// A schedule that is accepted can be written and read again, and never waits for a
// negative time.
func FuzzParseSchedule(f *testing.F) {
	for _, seed := range []string{"1m,5m,15m,1h,6h", "", ",", "1h0m0s", "-1s", "1e9s", "9223372036854775807ns", "60m0s, 3600s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSchedule(text)
		if err != nil {
			return
		}
		again, err := ParseSchedule(s.String())
		if err != nil || again.String() != s.String() || len(again) != len(s) {
			t.Errorf("%q is read as %v, which is read as %v, %v", text, s, again, err)
		}
		for i, wait := range s {
			if wait < 0 || again[i] != wait {
				t.Errorf("%q: the wait %s is read again as %s", text, wait, again[i])
			}
		}
	})
}

// A target that the strict guard accepts is https to a name or to a public address,
// and the address that is shown is the one that is sent to.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{
		"https://hooks.example.com/path", "https://127.0.0.1/", "https://[::1]/", "https://0x7f000001/", "https://2130706433/", "https://0177.0.0.1/",
		"https://[::ffff:10.0.0.1]/", "https://localhost/", "https://user@host/", "https://host:0/", "https://host\\@evil/", "https://①.example/",
		"https://[fe80::1%25eth0]/", "http://x/", "https://169.254.169.254/", "https://a/#b",
	} {
		f.Add(seed)
	}
	strict := &Guard{}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := strict.parse(raw)
		if err != nil {
			return
		}
		if got.url.Scheme != "https" || got.url.User != nil || got.host == "" || got.host != got.url.Hostname() || got.port == 0 {
			t.Errorf("%q is accepted as %+v", raw, got)
		}
		if got.addr.IsValid() && strict.checkAddr(got.host, got.addr) != nil {
			t.Errorf("%q is accepted although %s is not public", raw, got.addr)
		}
		if _, err := strict.parse(got.url.String()); err != nil {
			t.Errorf("%q is accepted, but not as it is sent to, %q: %v", raw, got.url, err)
		}
	})
}

// Whatever bytes a receiver answers with, an attempt ends with an outcome that the log can keep.
func FuzzWebhookAnswer(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 503 Busy\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b", "", "\x00", "HTTP/9.9 999 \xff\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	s := newSender(f, Config{Guard: local})
	f.Fuzz(func(t *testing.T, answer []byte) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			buf := make([]byte, 64<<10)
			_, _ = conn.Read(buf)
			_, _ = conn.Write(answer)
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
		}()
		out := s.Send(t.Context(), newAttempt("http://"+listener.Addr().String()+"/"))
		kept := out.attempt("")
		if len(kept.ResponseBody) > keptBody || out.RetryAfter < 0 || out.RetryAfter > MaxRetryAfter {
			t.Errorf("%q: the log keeps %d bytes, and the next attempt waits %s", answer, len(kept.ResponseBody), out.RetryAfter)
		}
		if out.OK() && (out.StatusCode < 200 || out.StatusCode > 299) || !out.OK() && out.Detail == "" {
			t.Errorf("%q: status %d, success %v, %q", answer, out.StatusCode, out.OK(), out.Detail)
		}
		if !utf8.ValidString(kept.Error) || strings.Contains(kept.Error, "\x00") {
			t.Errorf("%q: the error %q can't be stored", answer, kept.Error)
		}
	})
}
