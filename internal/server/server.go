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
	stopTimeout   = 10 * time.Second
	maxHeader     = 64 << 10
)

// Options say what to serve and where.
type Options struct {
	Listen   string // host:port; port 0 picks a free one
	Mounts   []Mount
	Checks   []Check
	Log      *slog.Logger
	Registry *prometheus.Registry
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
}

// Server serves its mounts until it is told to stop.
type Server struct {
	listen   string
	log      *slog.Logger
	handler  http.Handler
	listener *listener
	grace    time.Duration
}

// New puts the parts together. It opens nothing yet.
func New(o Options) (*Server, error) {
	h, err := newHandler(o)
	if err != nil {
		return nil, err
	}
	return &Server{listen: o.Listen, log: o.Log, handler: h, grace: stopTimeout}, nil
}

// Handler gives everything that the server serves, middleware included.
func (s *Server) Handler() http.Handler { return s.handler }

// Listen opens the port, so that Addr is known and a port in use is told before
// anything else starts. Run does it if nobody has.
func (s *Server) Listen() error {
	if s.listener != nil {
		return nil
	}
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", s.listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("listen on %s: the port is in use by another program; stop it or choose another --listen", s.listen)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen on %s: not permitted; ports below 1024 need a privilege, choose another --listen", s.listen)
	case err != nil:
		return fmt.Errorf("listen on %s: %w", s.listen, err)
	}
	s.listener = &listener{Listener: l, log: s.log}
	return nil
}

// Addr is where the server listens, nil before Listen.
func (s *Server) Addr() net.Addr {
	if s.listener == nil {
		return nil
	}
	return s.listener.Addr()
}

// Run serves until ctx ends. Then it accepts nothing more, lets the requests
// under way finish for at most ten seconds, closes what is left, and returns.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(); err != nil {
		return err
	}
	hs := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ConnContext:       withConn,
		ConnState:         settle,
		// "OPTIONS *" too is answered in our error body.
		DisableGeneralOptionsHandler: true,
	}
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(s.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve on %s: %w", s.listen, err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
	defer cancel()
	err := hs.Shutdown(grace)
	if err != nil {
		s.log.Warn("requests were still running and are cut off", "after", s.grace)
		s.listener.hurry.Store(true)
		err = hs.Close()
	}
	<-failed
	if err != nil {
		return fmt.Errorf("stop serving: %w", err)
	}
	return nil
}
