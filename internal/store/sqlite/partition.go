package sqlite

import (
	"context"
	"time"
)

// AddPartitionsAhead does nothing: SQLite has no partitions.
func (e *Engine) AddPartitionsAhead(context.Context, time.Duration) error { return nil }

// DropPartitions does nothing: SQLite has no partitions.
func (e *Engine) DropPartitions(context.Context, time.Time) error { return nil }
