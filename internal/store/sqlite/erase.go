package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// The patience of the writing connection: for other processes on the same file,
// and for readers that keep the log from being emptied.
const (
	writerPatience = 10 * time.Second
	readerPatience = time.Second
)

// erasure notes that the write-ahead log still holds what was deleted, and how
// many snapshots are open: while one is, the log can't be emptied.
type erasure struct {
	pending   atomic.Bool
	snapshots atomic.Int32
}

// AnalyzeGrownTables has nothing to do: SQLite plans by its rules, not by statistics.
func (e *Engine) AnalyzeGrownTables(context.Context) error { return nil }

// Erased moves the write-ahead log into the file and empties it: its old pages
// still hold what was deleted. While a snapshot reads the log, its end does so;
// writers do not wait for a slow report.
func (e *Engine) Erased(ctx context.Context) error {
	e.erasure.pending.Store(true)
	return e.emptyLog(ctx)
}

func (e *Engine) emptyLog(ctx context.Context) error {
	if !e.erasure.pending.Load() || e.erasure.snapshots.Load() > 0 {
		return nil
	}
	c, err := e.take(ctx, e.writer)
	if err != nil {
		return err
	}
	defer func() { e.writer <- c }()
	ctx = context.WithoutCancel(ctx)
	if err := c.setPatience(ctx, readerPatience); err != nil {
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
	return errors.Join(err, c.setPatience(ctx, writerPatience))
}

func (c *conn) setPatience(ctx context.Context, d time.Duration) error {
	_, err := c.Exec(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
	return err
}
