package server

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// DatabaseStats is how the database's connections are used.
type DatabaseStats struct {
	Max, Open, InUse, Idle int
	Waits                  int64         // for a free connection, ever
	Waited                 time.Duration // in all
}

type databaseCollector struct {
	read  func() DatabaseStats
	gauge map[string]*prometheus.Desc
	waits *prometheus.Desc
	spent *prometheus.Desc
}

// RegisterDatabase adds the use of database connections to the metrics. read is
// called at each scrape.
func RegisterDatabase(reg prometheus.Registerer, read func() DatabaseStats) error {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("coursebridge_database_"+name, help, nil, nil)
	}
	c := &databaseCollector{
		read: read,
		gauge: map[string]*prometheus.Desc{
			"max":   desc("connections_max", "Connections that may be open."),
			"open":  desc("connections_open", "Connections that are open."),
			"inUse": desc("connections_in_use", "Connections that are in use."),
			"idle":  desc("connections_idle", "Connections that are open and not in use."),
		},
		waits: desc("connection_waits_total", "Times that a request had to wait for a connection."),
		spent: desc("connection_wait_seconds_total", "Time spent waiting for a connection."),
	}
	if err := reg.Register(c); err != nil {
		return fmt.Errorf("register database metrics: %w", err)
	}
	return nil
}

// Describe tells the registry what will be collected.
func (c *databaseCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.gauge {
		out <- d
	}
	out <- c.waits
	out <- c.spent
}

// Collect reads the state once for all of its metrics.
func (c *databaseCollector) Collect(out chan<- prometheus.Metric) {
	s := c.read()
	for name, v := range map[string]int{"max": s.Max, "open": s.Open, "inUse": s.InUse, "idle": s.Idle} {
		out <- prometheus.MustNewConstMetric(c.gauge[name], prometheus.GaugeValue, float64(v))
	}
	out <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(s.Waits))
	out <- prometheus.MustNewConstMetric(c.spent, prometheus.CounterValue, s.Waited.Seconds())
}
