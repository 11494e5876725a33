package service

import (
	"context"
	"log/slog"
	"time"
)

const (
	sweepEvery = time.Second
	sweepBatch = 200
)

// sweepOverdue stamps what became overdue and tells of it, until ctx ends. Any
// number of replicas may run it.
func (l *Learning) sweepOverdue(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for {
			n, err := l.store.MarkOverdue(ctx, sweepBatch)
			if err != nil {
				if ctx.Err() == nil {
					log.Warn("overdue sweep", "error", err)
				}
				break
			}
			if n < sweepBatch {
				break
			}
		}
	}
}
