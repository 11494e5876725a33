package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/server"
)

const (
	// requestGrace is how long deliveries wait for the last requests when the
	// program stops. Requests that take longer share the rest of the time.
	requestGrace = 5 * time.Second
	// closeTimeout is how long closing the database may take: one that hangs must
	// not keep the process alive.
	closeTimeout = time.Second / 2
)

// Serve opens the database and serves until ctx ends.
func Serve(ctx context.Context, c Config, sc ServeConfig) error {
	if err := preflight(ctx, c, sc); err != nil {
		return err
	}
	a, err := Open(ctx, c)
	if err != nil {
		return err
	}
	defer a.closeInTime()
	return a.Serve(ctx, sc)
}

// preflight reports what keeps a server from starting before it creates a
// database: values out of range, and a port that is taken.
func preflight(ctx context.Context, c Config, sc ServeConfig) error {
	if err := errors.Join(c.validate(), sc.validate()); err != nil {
		return err
	}
	s, err := server.New(server.Options{Listen: sc.Listen, TLSCert: sc.TLSCert, TLSKey: sc.TLSKey, Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry()})
	if err != nil {
		return err
	}
	if err := s.Listen(); err != nil {
		return err
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	return s.Run(over) // closes the port again
}

// closeInTime closes the database, or leaves it to the end of the process.
func (a *App) closeInTime() {
	closed := make(chan error, 1)
	go func() { closed <- a.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			a.log.Warn("the database was not closed cleanly", "error", err)
		}
	case <-time.After(closeTimeout):
		a.log.Warn("the database did not close in time", "timeout_ms", closeTimeout.Milliseconds())
	}
}

// Serve serves on an open database until ctx ends. It stops in the order that
// loses nothing: no new requests, then deliveries, then background work.
func (a *App) Serve(ctx context.Context, sc ServeConfig) error {
	if err := sc.validate(); err != nil {
		return err
	}
	if err := a.store.Engine().Claim(); err != nil {
		return err
	}
	a.tls = sc.TLSCert != ""
	tuneCollector(sc.MemoryLimit) // before build, which sizes parts by the limit
	if err := a.checkRetention(ctx, sc); err != nil {
		return err
	}
	if err := a.checkRestored(ctx, &sc.Webhooks); err != nil {
		return err
	}
	a.warnAtStart()
	tracer, stopTracing, err := a.startTracing(ctx)
	if err != nil {
		return err
	}
	if stopTracing != nil {
		defer stopTracing()
	}
	p, err := a.build(sc, tracer)
	if err != nil {
		return err
	}
	if err := p.server.Listen(); err != nil {
		return err
	}
	return a.run(ctx, sc, p)
}

// warnAtStart logs what an operator should change.
func (a *App) warnAtStart() {
	if a.keyFile == "" && a.config.SecretKey == "" {
		a.log.Warn("no secret key is set: whoever reads the database can read the webhook secrets",
			"hint", "set "+secret.Env+" to 32 random bytes, the same on every replica")
	}
	if err := checkCertificates(); err != nil {
		a.log.Warn("webhooks to https targets will fail: this machine has no CA certificates", "error", err,
			"hint", "install ca-certificates, or name a file in SSL_CERT_FILE")
	}
}

// run serves with the port open until ctx ends.
func (a *App) run(ctx context.Context, sc ServeConfig, p *parts) error {
	address := p.server.Addr().String()
	if err := a.announcePublicURL(ctx, p, address); err != nil {
		return fmt.Errorf("store the public address: %w", err)
	}
	inspect, err := a.startInspection(ctx, sc.Inspect, p)
	if err != nil {
		return err
	}
	defer inspect.stop()
	stopWork, err := a.start(ctx, p)
	if err != nil {
		return err
	}
	a.log.Info("serving", "address", address, "public", a.address(address), "engine", a.store.Engine().Name(), "version", a.config.Version)
	if sc.Ready != nil {
		if err := sc.Ready(Serving{Address: address, URL: a.address(address)}); err != nil {
			stopWork()
			return err
		}
	}
	notifySystemd("READY=1")
	defer context.AfterFunc(ctx, func() { notifySystemd("STOPPING=1") })()
	p.background.wg.Go(func() { feedWatchdog(ctx) })
	served, late := make(chan error, 1), make(chan struct{})
	go func() { served <- p.server.Run(ctx) }()
	grace := sc.Stop.Delay + min(requestGrace, cmp.Or(sc.Stop.Drain, server.DefaultDrainTimeout)/2)
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { close(late) }) })()
	select {
	case err = <-served:
		stopWork()
		return err
	case <-late:
		stopWork()
		return <-served
	}
}

// announcePublicURL stores the public address. A server that was started with
// another one than the installation has continues with its own and warns.
func (a *App) announcePublicURL(ctx context.Context, p *parts, listening string) error {
	stored, err := a.storePublicURL(ctx, listening)
	if err != nil {
		return err
	}
	if own := a.address(listening); a.config.PublicURL != "" && stored != own {
		a.log.Warn("this server's public address differs from the installation's", "own", own, "installation", stored,
			"hint", "start it with the same --public-url, or change the installation's with coursebridge public-url")
		p.notes = append(p.notes, fmt.Sprintf("public address: this server uses %s, the installation has %s", own, stored))
	}
	return nil
}

// address returns where people reach a server that listens there.
func (a *App) address(listening string) string {
	if a.config.PublicURL != "" {
		return strings.TrimRight(a.config.PublicURL, "/")
	}
	switch {
	case strings.HasPrefix(listening, "/"), strings.HasPrefix(listening, "@"): // a Unix socket
		return defaultPublicURL
	case a.tls:
		return "https://" + listening
	}
	return "http://" + listening
}
