package demo

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Receiver is a webhook target that accepts most events and refuses some, so that
// the delivery log has failures to show.
type Receiver struct {
	URL      string
	received atomic.Int64
	server   *http.Server
	done     chan struct{}
}

// NewReceiver listens on a free local port. Every refuse-th event is answered
// with 503; 0 refuses none.
func NewReceiver(ctx context.Context, refuse int64) (*Receiver, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Receiver{URL: "http://" + l.Addr().String() + "/events", done: make(chan struct{})}
	r.server = &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		if n := r.received.Add(1); refuse > 0 && n%refuse == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "busy, please try again\n")
			return
		}
		_, _ = io.WriteString(w, "thank you\n")
	})}
	go func() {
		defer close(r.done)
		if err := r.server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			return
		}
	}()
	return r, nil
}

// Close stops listening.
func (r *Receiver) Close() {
	_ = r.server.Close()
	<-r.done
}
