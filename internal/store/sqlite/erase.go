package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// AnalyzeGrownTables finishes an erasure that a reader has held up. It analyzes
// nothing: SQLite plans by rules here, not by statistics.
func (e *Engine) AnalyzeGrownTables(ctx context.Context) error {
	return e.truncateLog(ctx, checkpointBusyTimeout)
}

// ScrubDeleted empties the write-ahead log, whose old pages still hold what was deleted.
// If it cannot be emptied now, because a reader uses it, this is done later: at the
// end of the last snapshot, so that writers do not wait for a slow report, or by
// AnalyzeGrownTables.
func (e *Engine) ScrubDeleted(ctx context.Context) {
	e.erasure.pending.Store(true)
	_ = e.truncateLog(ctx, checkpointBusyTimeout) // it stays pending
}

// finishErasure empties the log that a process which was killed has left. It waits
// for nobody and leaves a log that a running server uses alone.
func (e *Engine) finishErasure(ctx context.Context) {
	if info, err := os.Stat(e.path + "-wal"); err != nil || info.Size() == 0 || e.served() {
		return
	}
	e.erasure.pending.Store(true)
	_ = e.truncateLog(ctx, 0)
}

// truncateLog moves the log into the file and empties it, if an erasure is pending
// and no snapshot is open. It waits for readers of the log as long as busyTimeout.
func (e *Engine) truncateLog(ctx context.Context, busyTimeout time.Duration) error {
	if !e.erasure.pending.Load() || e.erasure.snapshots.Load() > 0 {
		return nil
	}
	c, err := e.take(ctx, e.writer, nil)
	if err != nil {
		return err
	}
	defer func() { e.writer <- c }()
	ctx = context.WithoutCancel(ctx)
	if err := c.setBusyTimeout(ctx, busyTimeout); err != nil {
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
