package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10

	// DefaultDrainTimeout is how long requests may finish when the server stops.
	DefaultDrainTimeout = 10 * time.Second
)

// Options configure a server.
type Options struct {
	Listen   string // host:port; port 0 picks a free one
	Mounts   []Mount
	Checks   []Check
	Notes    func() []string // shown by /readyz?verbose; may be nil
	Log      *slog.Logger
	Registry *prometheus.Registry
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// HTTPS says that clients reach the server over https, so that browsers can be
	// told to use nothing else.
	HTTPS bool
	// MetricsAllow are the networks, besides loopback, that may read /metrics.
	MetricsAllow []netip.Prefix
	// HideMetrics removes /metrics from this listener.
	HideMetrics bool
	// ShutdownDelay is how long the server goes on serving with /readyz red before
	// it stops, so that load balancers notice first.
	ShutdownDelay time.Duration
	// DrainTimeout is how long requests may finish; 0 means DefaultDrainTimeout.
	DrainTimeout time.Duration
}

// Server serves its mounts until it is told to stop.
type Server struct {
	options  Options
	handler  http.Handler
	ready    *readiness
	listener net.Listener
}

// New returns a server that does not listen yet.
func New(o Options) (*Server, error) {
	if o.DrainTimeout == 0 {
		o.DrainTimeout = DefaultDrainTimeout
	}
	ready := &readiness{checks: o.Checks, notes: o.Notes, log: o.Log}
	h, err := newHandler(o, ready)
	if err != nil {
		return nil, err
	}
	return &Server{options: o, handler: h, ready: ready}, nil
}

// Handler returns the handler that serves all mounts, without a listener.
func (s *Server) Handler() http.Handler { return s.handler }

// Listen opens the port, so that Addr is known and a port in use is reported
// before anything else starts. Run calls it if it was not called before.
func (s *Server) Listen() error {
	if s.listener != nil {
		return nil
	}
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", s.options.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("listen on %s: the port is in use by another program; stop it or choose another --listen", s.options.Listen)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen on %s: not permitted; ports below 1024 need a privilege, choose another --listen", s.options.Listen)
	case err != nil:
		return fmt.Errorf("listen on %s: %w", s.options.Listen, err)
	}
	s.listener = listener{l}
	return nil
}

// Addr returns the address that the server listens on, nil before Listen.
func (s *Server) Addr() net.Addr {
	if s.listener == nil {
		return nil
	}
	return s.listener.Addr()
}

// Run serves until ctx ends. Then readiness turns red; after the shutdown delay
// the server accepts nothing more, lets requests finish within the drain
// timeout, closes the connections that are left, and returns.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(); err != nil {
		return err
	}
	hs := s.httpServer()
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(s.listener) }()
	if err := s.serveUntil(ctx, failed); err != nil {
		return fmt.Errorf("serve on %s: %w", s.options.Listen, err)
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.DrainTimeout)
	defer cancel()
	err := hs.Shutdown(drain)
	if err != nil {
		s.options.Log.Warn("requests did not finish in time and were cut off", "drain_timeout_ms", s.options.DrainTimeout.Milliseconds())
		err = hs.Close()
	}
	<-failed
	if err != nil {
		return fmt.Errorf("stop serving: %w", err)
	}
	return nil
}

// serveUntil waits for the end of ctx and then for the shutdown delay. It
// returns early if the server fails.
func (s *Server) serveUntil(ctx context.Context, failed <-chan error) error {
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.ready.stopping.Store(true)
	if s.options.ShutdownDelay <= 0 {
		return nil
	}
	delay := time.NewTimer(s.options.ShutdownDelay)
	defer delay.Stop()
	select {
	case err := <-failed:
		return err
	case <-delay.C:
		return nil
	}
}

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.options.Log.Handler(), slog.LevelWarn),
		// Our own mux answers "OPTIONS *" with the error body.
		DisableGeneralOptionsHandler: true,
	}
}
