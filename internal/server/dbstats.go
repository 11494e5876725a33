package server

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// DatabaseStats describes the use of the database's connections.
type DatabaseStats struct {
	Max, Open, InUse, Idle int
	WaitCount              int64         // how often a request waited for a free connection
	WaitDuration           time.Duration // the sum of these waits
}

type databaseCollector struct {
	read  func() DatabaseStats
	gauge map[string]*prometheus.Desc
	waits *prometheus.Desc
	spent *prometheus.Desc
}

// RegisterDatabase adds the use of database connections to the metrics. It calls
// read at each scrape.
func RegisterDatabase(reg prometheus.Registerer, read func() DatabaseStats) error {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("coursebridge_database_"+name, help, nil, nil)
	}
	c := &databaseCollector{
		read: read,
		gauge: map[string]*prometheus.Desc{
			"max":   desc("connections_max", "Most connections that the pool opens."),
			"open":  desc("connections_open", "Connections that are open."),
			"inUse": desc("connections_in_use", "Connections that are in use."),
			"idle":  desc("connections_idle", "Connections that are open and not in use."),
		},
		waits: desc("connection_waits_total", "How often a request waited for a connection."),
		spent: desc("connection_wait_seconds_total", "Time spent waiting for a connection."),
	}
	if err := reg.Register(c); err != nil {
		return fmt.Errorf("register database metrics: %w", err)
	}
	return nil
}

// Describe implements prometheus.Collector.
func (c *databaseCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.gauge {
		out <- d
	}
	out <- c.waits
	out <- c.spent
}

// Collect implements prometheus.Collector. It reads the state once for all metrics.
func (c *databaseCollector) Collect(out chan<- prometheus.Metric) {
	s := c.read()
	for name, v := range map[string]int{"max": s.Max, "open": s.Open, "inUse": s.InUse, "idle": s.Idle} {
		out <- prometheus.MustNewConstMetric(c.gauge[name], prometheus.GaugeValue, float64(v))
	}
	out <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(s.WaitCount))
	out <- prometheus.MustNewConstMetric(c.spent, prometheus.CounterValue, s.WaitDuration.Seconds())
}
