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

// registerMetrics adds the metrics of the program and of its database.
func (a *App) registerMetrics(registry prometheus.Registerer) error {
	if err := server.RegisterDatabase(registry, a.databaseStats); err != nil {
		return err
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "coursebridge_build_info", Help: "1; the labels describe the running program.",
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

func (a *App) databaseStats() server.DatabaseStats {
	s := a.store.Engine().Stats()
	return server.DatabaseStats{Max: s.Max, Open: s.Open, InUse: s.InUse, Idle: s.Idle, Waits: s.WaitCount, Waited: s.WaitDuration}
}

func (a *App) databaseSize() float64 {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	n, err := a.store.Engine().Size(ctx)
	if err != nil {
		return math.NaN()
	}
	return float64(n)
}
