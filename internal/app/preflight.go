package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/server"
)

// preflight finds what keeps a server from starting before a database is made
// for nothing: settings that can't be read, a port that is taken.
func preflight(ctx context.Context, sc ServeConfig) error {
	if _, err := sc.Webhooks.schedule(); err != nil {
		return err
	}
	if _, err := sc.proxies(); err != nil {
		return err
	}
	s, err := server.New(server.Options{Listen: sc.Listen, Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry()})
	if err != nil {
		return err
	}
	if err := s.Listen(); err != nil {
		return err
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	return s.Run(over) // gives the port back at once
}

func (wc WebhookConfig) schedule() (delivery.Schedule, error) {
	s, err := delivery.ParseSchedule(wc.RetryDelays)
	if err != nil {
		return nil, fmt.Errorf("read --webhook-retry-delays: %w", err)
	}
	return s, nil
}

func (sc ServeConfig) proxies() ([]netip.Prefix, error) {
	p, err := domain.ParsePrefixes(sc.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("read --trusted-proxy: %w", err)
	}
	return p, nil
}
