package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
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
	// Listen are the addresses: host:port (port 0 picks a free one), unix:/path, or
	// systemd for the sockets that systemd has opened.
	Listen []string
	// TLSCert and TLSKey name the files of a certificate; without them connections are
	// not encrypted. Those over a Unix socket never are.
	TLSCert, TLSKey string

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
	// LargeBodies is how many large request bodies are held in memory at once; 0 means
	// DefaultLargeBodies.
	LargeBodies int
	// Tracer makes a span of each request; nil makes none.
	Tracer trace.Tracer
}

// Server serves its mounts over HTTP.
type Server struct {
	options   Options
	handler   http.Handler
	ready     *readiness
	listeners []net.Listener
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

// Listen opens the addresses, so that Addr is known and a port in use is reported
// before anything else starts. Run calls it if it was not called before.
func (s *Server) Listen() error {
	if s.listeners != nil {
		return nil
	}
	secure, err := tlsConfig(s.options.TLSCert, s.options.TLSKey, s.options.Log)
	if err != nil {
		return err
	}
	s.listeners, err = listenAll(s.options.Listen, secure)
	return err
}

// Addr returns the first address that the server listens on, nil before Listen.
func (s *Server) Addr() net.Addr {
	if s.listeners == nil {
		return nil
	}
	return s.listeners[0].Addr()
}

// Run serves until ctx ends. From then on /readyz answers 503. After the shutdown
// delay the server stops accepting connections, waits up to the drain timeout for
// running requests, closes the remaining connections, and returns.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(); err != nil {
		return err
	}
	hs := s.httpServer()
	served := make(chan error, len(s.listeners)) // gets the errors that ended Serve
	for _, l := range s.listeners {
		go func() { served <- hs.Serve(l) }()
	}
	if err := s.waitForStop(ctx, served); err != nil {
		closeErr := hs.Close()
		for range len(s.listeners) - 1 {
			<-served
		}
		return errors.Join(fmt.Errorf("serve on %s: %w", strings.Join(s.options.Listen, ", "), err), closeErr)
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.DrainTimeout)
	defer cancel()
	err := hs.Shutdown(drain)
	if err != nil {
		s.options.Log.Warn("requests did not finish in time and were cut off", "drain_timeout_ms", s.options.DrainTimeout.Milliseconds())
		err = hs.Close()
	}
	for range s.listeners {
		<-served
	}
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
