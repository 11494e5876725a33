package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// replicaLogging is how often the log may report that the read replica came or went.
const replicaLogging = time.Second

// replicaStats returns the state of the read replica; false if there is none.
func (a *App) replicaStats() (db.ReplicaStats, bool) {
	stats := a.store.Engine().Stats().Replica
	if stats == nil {
		return db.ReplicaStats{}, false
	}
	return *stats, true
}

// registerReplicaMetrics registers the metrics of the read replica, if there is one.
func (a *App) registerReplicaMetrics(registry prometheus.Registerer) error {
	if _, exists := a.replicaStats(); !exists {
		return nil
	}
	read := func(field func(db.ReplicaStats) float64) func() float64 {
		return func() float64 {
			stats, _ := a.replicaStats()
			return field(stats)
		}
	}
	for _, c := range []prometheus.Collector{
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "coursebridge_replica_reads_total", Help: "Reads that the read replica has served.",
		}, read(func(s db.ReplicaStats) float64 { return float64(s.Reads) })),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "coursebridge_replica_fallbacks_total", Help: "Reads that went to the primary because the read replica was away, behind or refused them.",
		}, read(func(s db.ReplicaStats) float64 { return float64(s.Fallbacks) })),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "coursebridge_replica_in_use", Help: "1 while the read replica serves reads, 0 while the primary serves all.",
		}, read(func(s db.ReplicaStats) float64 {
			if s.Problem != "" {
				return 0
			}
			return 1
		})),
	} {
		if err := registry.Register(c); err != nil {
			return fmt.Errorf("register replica metrics: %w", err)
		}
	}
	return nil
}

// replicaNotes returns what /readyz?verbose says about the read replica. Without it the
// server is ready all the same.
func (a *App) replicaNotes() []string {
	stats, exists := a.replicaStats()
	switch {
	case !exists:
		return nil
	case stats.Problem != "":
		return []string{"read replica: reads go to the primary: " + OneLine(errors.New(stats.Problem))}
	case !stats.TakesReports:
		return []string{"read replica: in use for lists and pages; reports go to the primary, because hot_standby_feedback is off"}
	}
	return []string{"read replica: in use"}
}

// logReplica returns a function that logs when the read replica goes and when it comes
// back.
func (a *App) logReplica() func(context.Context) error {
	away := false
	return func(context.Context) error {
		stats, _ := a.replicaStats()
		if isAway := stats.Problem != ""; isAway != away {
			away = isAway
			if away {
				a.log.Warn("the read replica is not used: reads go to the primary", "reason", OneLine(errors.New(stats.Problem)), "fallbacks", stats.Fallbacks)
			} else {
				a.log.Info("the read replica is used again", "fallbacks", stats.Fallbacks)
			}
		}
		return nil
	}
}

func (c *checker) checkReplica(a *App) {
	stats, exists := a.replicaStats()
	switch {
	case !exists:
	case stats.Problem != "":
		c.warn("read-replica", "start the standby, open the way to its port, or correct --database-read; until then the primary serves all reads",
			"%s", OneLine(errors.New(stats.Problem)))
	case !stats.TakesReports:
		c.warn("read-replica", "set hot_standby_feedback = on at the standby and reload it",
			"reports go to the primary, because the standby would cancel them: hot_standby_feedback is off")
	default:
		c.ok("read-replica", "it is a standby of the database and has all changes")
	}
}
