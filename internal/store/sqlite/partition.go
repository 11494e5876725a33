package sqlite

import (
	"context"
	"time"
)

// AddPartitionsAhead does nothing: SQLite has no partitions.
func (e *Engine) AddPartitionsAhead(context.Context, time.Duration) error { return nil }

// DropPartitions does nothing: SQLite has no partitions.
func (e *Engine) DropPartitions(context.Context, time.Time) error { return nil }

// RowRetention returns the retention: no partition has to be dropped first.
func (e *Engine) RowRetention(retention time.Duration) time.Duration { return retention }
