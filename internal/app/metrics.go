package app

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/server"
)

// registerMetrics registers the metrics of the program's build, of the database's
// connections and of the database's size.
func (a *App) registerMetrics(registry prometheus.Registerer) error {
	if err := server.RegisterDatabase(registry, a.databaseStats); err != nil {
		return err
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "coursebridge_build_info", Help: "Always 1; the labels describe the running program.",
		ConstLabels: prometheus.Labels{"version": a.config.Version, "go_version": runtime.Version(), "engine": a.store.Engine().Name()},
	})
	build.Set(1)
	size := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "coursebridge_database_size_bytes", Help: "Size of the database; NaN if it cannot be read.",
	}, a.databaseSize)
	for _, c := range []prometheus.Collector{build, size} {
		if err := registry.Register(c); err != nil {
			return fmt.Errorf("register program metrics: %w", err)
		}
	}
	return nil
}

// databaseStats returns the state of the connection pool.
func (a *App) databaseStats() server.DatabaseStats {
	s := a.store.Engine().Stats()
	return server.DatabaseStats{Max: s.Max, Open: s.Open, InUse: s.InUse, Idle: s.Idle, WaitCount: s.WaitCount, WaitDuration: s.WaitDuration}
}

// databaseSize returns the size of the database in bytes, or NaN if it cannot be read
// within a second. It is called at every scrape.
func (a *App) databaseSize() float64 {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	n, err := a.store.Engine().Size(ctx)
	if err != nil {
		return math.NaN()
	}
	return float64(n)
}
