package load

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// receiver counts the webhooks it gets. For employees whose identifier is "l-" and
// a number, it keeps the time of the first arrival.
type receiver struct {
	url   string
	count atomic.Int64
	when  []atomic.Int64 // nanoseconds since 1970, by number
	held  chan struct{}  // if it is not nil, nothing is answered until it is closed
}

func newReceiver(b *testing.B, numbers int) *receiver {
	b.Helper()
	r := &receiver{when: make([]atomic.Int64, numbers)}
	r.url = listenHTTP(b, r.take)
	return r
}

// newHangingReceiver returns the address of a receiver that never answers.
func newHangingReceiver(b *testing.B) string {
	b.Helper()
	return listenHTTP(b, func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body) // from here on, net/http notices a closed connection
		<-req.Context().Done()
	})
}

func listenHTTP(b *testing.B, handler http.HandlerFunc) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }()
	b.Cleanup(func() { _ = s.Close() })
	return "http://" + l.Addr().String()
}

var mark = []byte(`"externalId":"l-`)

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	now := time.Now().UnixNano()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	if _, rest, ok := bytes.Cut(body, mark); ok {
		digits, _, _ := bytes.Cut(rest, []byte{'"'})
		if n, err := strconv.Atoi(string(digits)); err == nil && n < len(r.when) {
			r.when[n].CompareAndSwap(0, now)
		}
	}
	r.count.Add(1)
	if r.held != nil {
		<-r.held
	}
	w.WriteHeader(http.StatusNoContent)
}

// waitFor waits for n arrivals.
func (r *receiver) waitFor(b *testing.B, n int64, within time.Duration) {
	b.Helper()
	for end := time.Now().Add(within); r.count.Load() < n; {
		if time.Now().After(end) {
			b.Fatalf("%d of %d deliveries arrived within %s", r.count.Load(), n, within)
		}
		<-time.After(2 * time.Millisecond)
	}
}
