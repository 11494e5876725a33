package service

import (
	"context"
	"time"
)

const (
	sweepInterval = time.Second
	sweepBatch    = 200
)

// sweepOverdue marks assignments that became overdue and emits their events, batch
// by batch until none is left. Any number of replicas may run it.
func (l *Learning) sweepOverdue(ctx context.Context) error {
	for {
		n, err := l.store.MarkOverdue(ctx, sweepBatch)
		if err != nil || n < sweepBatch {
			return err
		}
	}
}
