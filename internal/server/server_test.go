package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a server on a free port; stop ends it and returns the result of Run.
func start(t *testing.T, log io.Writer, mounts ...Mount) (s *Server, stop func() error) {
	t.Helper()
	s = listening(t, log, mounts...)
	return s, run(t, s)
}

func listening(t *testing.T, log io.Writer, mounts ...Mount) *Server {
	t.Helper()
	s, err := New(Options{Listen: []string{"127.0.0.1:0"}, Mounts: mounts, Log: newTestLogger(log), Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t *testing.T, s *Server) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() { _ = stop() })
	return stop
}

func dial(t *testing.T, s *Server) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

func readAnswer(t *testing.T, c net.Conn) (status int, body string) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	s, _ := start(t, io.Discard)
	other, err := New(Options{Listen: []string{s.Addr().String()}, Log: newTestLogger(io.Discard), Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	if other.Addr() != nil {
		t.Error("Addr is set before Listen")
	}
	err = other.Run(t.Context())
	want := fmt.Sprintf("listen on %s: the port is in use by another program; stop it or choose another --listen", s.Addr())
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	nowhere, _ := New(Options{Listen: []string{"256.0.0.1:1"}, Log: newTestLogger(io.Discard), Registry: prometheus.NewRegistry()})
	if err := nowhere.Listen(); err == nil || !strings.HasPrefix(err.Error(), "listen on 256.0.0.1:1: ") {
		t.Errorf("got %v", err)
	}
}

// Running requests finish, and no new connection is accepted.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	s, stop := start(t, io.Discard, Mount{Prefix: "/slow", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		_, _ = io.WriteString(w, "whole")
	})})
	c := dial(t, s)
	_, _ = io.WriteString(c, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	for { // until the port is closed
		probe, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			break
		}
		_ = probe.Close()
	}
	select {
	case err := <-ended:
		t.Fatalf("Run returned before the request finished: %v", err)
	default:
	}
	close(release)
	if status, body := readAnswer(t, c); status != 200 || body != "whole" {
		t.Errorf("%d %s", status, body)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v", err)
	}
}

func TestStopCutsOffStuckRequests(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	var log logBuffer
	s := listening(t, &log, Mount{Prefix: "/stuck", API: true, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-release
	})})
	s.options.DrainTimeout = time.Millisecond
	stop := run(t, s)
	c := dial(t, s)
	_, _ = io.WriteString(c, "GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered
	if err := stop(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
	if !strings.Contains(log.String(), "cut off") {
		t.Error(log.String())
	}
	close(release)
}

// A client may close its sending side and wait for the answer. net/http takes
// that for a client that has left; an API answers anyway.
func TestHalfClosedConnection(t *testing.T) {
	t.Parallel()
	noticed := make(chan struct{})
	s := listening(t, io.Discard, Mount{Prefix: "/api", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-noticed
		if err := r.Context().Err(); err != nil {
			httpapi.WriteError(w, r, err)
			return
		}
		_, _ = io.WriteString(w, "still here")
	})})
	inner := s.handler
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { close(noticed) })
		inner.ServeHTTP(w, r)
	})
	run(t, s)
	c := dial(t, s)
	_, _ = io.WriteString(c, "GET /api HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if status, body := readAnswer(t, c); status != 200 || body != "still here" {
		t.Errorf("%d %s", status, body)
	}
}

// A body that ends before its announced length is a bad request.
func TestBodyCutShort(t *testing.T) {
	t.Parallel()
	s, _ := start(t, io.Discard, Mount{Prefix: "/api", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := httpapi.ReadObject(httpapi.InfoFrom(r.Context()), r.Body); err != nil {
			httpapi.WriteError(w, r, err)
		}
	})})
	for name, request := range map[string]string{
		"length":  "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"a\":",
		"chunked": "POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n",
		"garbled": "POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	} {
		c := dial(t, s)
		_, _ = io.WriteString(c, request)
		_ = c.CloseWrite()
		if status, body := readAnswer(t, c); status != 400 || !strings.Contains(body, "was cut off on its way") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// A client that announces too much and waits is refused before it sends.
func TestTooLargeIsRefusedBeforeReading(t *testing.T) {
	t.Parallel()
	s, _ := start(t, io.Discard, Mount{Prefix: "/api", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := httpapi.ReadObject(httpapi.InfoFrom(r.Context()), r.Body)
		httpapi.WriteError(w, r, err)
	})})
	c := dial(t, s)
	_, _ = io.WriteString(c, "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n")
	if status, _ := readAnswer(t, c); status != 413 {
		t.Errorf("%d", status)
	}
	c = dial(t, s)
	_, _ = io.WriteString(c, "POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n100010\r\n"+strings.Repeat("x", 0x100010)+"\r\n0\r\n\r\n")
	if status, _ := readAnswer(t, c); status != 413 {
		t.Errorf("chunked: %d", status)
	}
}

// An incomplete answer must not look complete.
func TestIncompleteAnswerBreaksTheConnection(t *testing.T) {
	t.Parallel()
	s, _ := start(t, io.Discard, Mount{Prefix: "/report", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("row\r\n", 10_000))
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		panic(http.ErrAbortHandler)
	})})
	resp, err := http.Get("http://" + s.Addr().String() + "/report")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the client got error %v, want unexpected EOF", err)
	}
}

// While the shutdown delay lasts, readiness is red and requests are served.
func TestShutdownDelay(t *testing.T) {
	t.Parallel()
	s := listening(t, io.Discard, Mount{Prefix: "/api", API: true, Handler: echoPath("api")})
	s.options.ShutdownDelay = 300 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	status := func(path string) int {
		c := dial(t, s)
		_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		code, _ := readAnswer(t, c)
		return code
	}
	if got := status("/readyz"); got != 200 {
		t.Errorf("/readyz before the end: %d", got)
	}
	begun := time.Now()
	cancel()
	for !s.ready.stopping.Load() {
		time.Sleep(time.Millisecond)
	}
	if got := status("/readyz"); got != 503 {
		t.Errorf("/readyz while stopping: %d, want 503", got)
	}
	if got := status("/api"); got != 200 {
		t.Errorf("/api while stopping: %d, want 200", got)
	}
	if err := <-ended; err != nil || time.Since(begun) < s.options.ShutdownDelay {
		t.Errorf("Run ended after %s: %v", time.Since(begun), err)
	}
}
