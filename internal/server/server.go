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
	headerTimeout  = 10 * time.Second
	requestTimeout = 60 * time.Second // for the header and the body together
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10

	// DefaultDrainTimeout is how long a stopping server waits for running requests.
	DefaultDrainTimeout = 10 * time.Second
)

// Options configure a server.
type Options struct {
	Listen   string // host:port; port 0 picks a free one
	Mounts   []Mount
	Checks   []Check
	Notes    func() []string // lines that /readyz?verbose adds to its response; may be nil
	Log      *slog.Logger
	Registry *prometheus.Registry
	// TrustedProxies are the networks of the proxies whose X-Forwarded-For header is used.
	TrustedProxies []netip.Prefix
	// HTTPS means that clients reach the server over https. Responses then carry
	// Strict-Transport-Security.
	HTTPS bool
	// MetricsAllow are the networks, besides loopback, that may read /metrics.
	MetricsAllow []netip.Prefix
	// HideMetrics removes /metrics from this listener.
	HideMetrics bool
	// ShutdownDelay is how long a stopping server goes on serving while /readyz
	// answers 503, so that load balancers take it out of rotation first.
	ShutdownDelay time.Duration
	// DrainTimeout is how long a stopping server waits for running requests; 0 means
	// DefaultDrainTimeout.
	DrainTimeout time.Duration
}

// Server serves its mounts over HTTP.
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
		return fmt.Errorf("listen on %s: not permitted; ports below 1024 need extra privileges; choose another --listen", s.options.Listen)
	case err != nil:
		return fmt.Errorf("listen on %s: %w", s.options.Listen, err)
	}
	s.listener = errorBodyListener{l}
	return nil
}

// Addr returns the address that the server listens on, nil before Listen.
func (s *Server) Addr() net.Addr {
	if s.listener == nil {
		return nil
	}
	return s.listener.Addr()
}

// Run serves until ctx ends. From then on /readyz answers 503. After the shutdown
// delay the server stops accepting connections, waits up to the drain timeout for
// running requests, closes the remaining connections, and returns.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(); err != nil {
		return err
	}
	hs := s.httpServer()
	served := make(chan error, 1) // gets the error that ended Serve
	go func() { served <- hs.Serve(s.listener) }()
	if err := s.waitForStop(ctx, served); err != nil {
		return fmt.Errorf("serve on %s: %w", s.options.Listen, err)
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.DrainTimeout)
	defer cancel()
	err := hs.Shutdown(drain)
	if err != nil {
		s.options.Log.Warn("requests did not finish in time and were cut off", "drain_timeout_ms", s.options.DrainTimeout.Milliseconds())
		err = hs.Close()
	}
	<-served
	if err != nil {
		return fmt.Errorf("stop serving: %w", err)
	}
	return nil
}

// waitForStop waits until ctx ends, makes /readyz answer 503, and waits for the
// shutdown delay. It returns an error as soon as Serve has ended.
func (s *Server) waitForStop(ctx context.Context, served <-chan error) error {
	select {
	case err := <-served:
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
	case err := <-served:
		return err
	case <-delay.C:
		return nil
	}
}

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      writeTimeout, // extended while the client reads; see writer
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.options.Log.Handler(), slog.LevelWarn),
		// net/http would answer "OPTIONS *" itself, without our error body.
		DisableGeneralOptionsHandler: true,
	}
}
