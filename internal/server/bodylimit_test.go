package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/transfer"
)

// startBody sends the begin of a request with a large body and returns the connection.
func startBody(t *testing.T, address string, declared, sent int) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := fmt.Fprintf(conn, "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", declared, strings.Repeat("a", sent)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func statusOf(conn net.Conn) int {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// Clients that begin large bodies and do not finish them hold a bounded number of them in
// memory, and keep neither large nor small requests of others out.
func TestUnfinishedBodiesAreBounded(t *testing.T) {
	t.Parallel()
	const slots = 4
	h := newTestHandler(t, io.Discard, Mount{Prefix: "/read", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			httpapi.WriteError(w, r, err)
		}
	})}).(*handler)
	h.bodies = transfer.NewQueue(slots, 10*time.Millisecond)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close) // after the connections were closed
	address := server.Listener.Addr().String()
	stalled := make(chan int, 30)
	for range cap(stalled) {
		conn := startBody(t, address, 1<<20, 100<<10)
		go func() { stalled <- statusOf(conn) }()
	}
	most := 0
	observe := func() {
		bodies, _ := h.bodies.Len()
		most = max(most, bodies)
	}
	for range 5 {
		observe()
		if got := statusOf(startBody(t, address, 100, 100)); got != http.StatusOK {
			t.Errorf("a small request of another client: status %d", got)
		}
		if got := statusOf(startBody(t, address, 200<<10, 200<<10)); got != http.StatusOK {
			t.Errorf("a large request of another client: status %d", got)
		}
		observe()
	}
	if got := <-stalled; got != http.StatusServiceUnavailable {
		t.Errorf("the body that was cut off: status %d", got)
	}
	if observe(); most > slots {
		t.Errorf("%d large bodies are in memory, want at most %d", most, slots)
	}
}

// A body whose slot nobody needs may arrive slowly.
func TestSlowBodyWithoutContentionArrives(t *testing.T) {
	t.Parallel()
	q := transfer.NewQueue(2, 0)
	newBody := func(text string) *requestBody {
		b := &requestBody{ReadCloser: io.NopCloser(strings.NewReader(text)), queue: q, request: &httpapi.Context{}, writer: httptest.NewRecorder()}
		b.request.Begin(t.Context(), b.writer, httptest.NewRequest(http.MethodPost, "/", nil))
		return b
	}
	for range 2 {
		b := newBody(strings.Repeat("a", 3*smallBody))
		if n, err := io.Copy(io.Discard, b); err != nil || n != 3*smallBody {
			t.Errorf("read %d bytes, %v", n, err)
		}
		if b.slot == nil {
			t.Error("a large body has no slot")
		}
	}
	small := newBody("small")
	if _, err := io.Copy(io.Discard, small); err != nil || small.slot != nil {
		t.Errorf("a small body needs a slot, or %v", err)
	}
}

func TestWhomABodyCountsFor(t *testing.T) {
	t.Parallel()
	for want, info := range map[string]httpapi.Info{
		"7":              {CompanyID: 7, Address: netip.MustParseAddr("10.0.0.1")},
		"10.0.0.1/32":    {Address: netip.MustParseAddr("10.0.0.1")},
		"2001:db8::/64":  {Address: netip.MustParseAddr("2001:db8::42")},
		"invalid Prefix": {},
	} {
		if got := clientOf(&info); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
