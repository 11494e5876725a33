package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// writerBusyTimeout is how long the writing connection waits for other processes
// on the same file; checkpointBusyTimeout is how long a checkpoint waits for
// readers that still use the log.
const (
	writerBusyTimeout     = 10 * time.Second
	checkpointBusyTimeout = time.Second
)

// erasure records whether the write-ahead log still holds deleted rows, and how
// many snapshots are open: while one is open, the log cannot be emptied.
type erasure struct {
	pending   atomic.Bool
	snapshots atomic.Int32
}

// AnalyzeGrownTables does nothing: SQLite plans by rules here, not by statistics.
func (e *Engine) AnalyzeGrownTables(context.Context) error { return nil }

// Erased checkpoints and empties the write-ahead log, whose old pages still hold
// what was deleted. While a snapshot reads the log, this is left to the end of
// the snapshot, so that writers do not wait for a slow report.
func (e *Engine) Erased(ctx context.Context) error {
	e.erasure.pending.Store(true)
	return e.truncateLog(ctx)
}

func (e *Engine) truncateLog(ctx context.Context) error {
	if !e.erasure.pending.Load() || e.erasure.snapshots.Load() > 0 {
		return nil
	}
	c, err := e.take(ctx, e.writer)
	if err != nil {
		return err
	}
	defer func() { e.writer <- c }()
	ctx = context.WithoutCancel(ctx)
	if err := c.setBusyTimeout(ctx, checkpointBusyTimeout); err != nil {
		return err
	}
	var busy, frames, moved int64
	err = c.item(ctx, db.Item{
		SQL:  "PRAGMA wal_checkpoint(TRUNCATE)",
		Each: func(r db.Rows) error { return r.Scan(&busy, &frames, &moved) },
	})
	if err == nil && busy == 0 {
		e.erasure.pending.Store(false)
	}
	return errors.Join(err, c.setBusyTimeout(ctx, writerBusyTimeout))
}

func (c *conn) setBusyTimeout(ctx context.Context, d time.Duration) error {
	_, err := c.Exec(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
	return err
}
