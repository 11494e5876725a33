package store

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

const (
	// batchRows is the number of rows in a batch: enough to make passing it on cheap,
	// few enough to stay in the processor's cache and to let other requests run soon.
	batchRows = 16
	// batches is the number of buffers: one is filled, one is used, one waits.
	batches = 3
)

// reportBatch is a buffer that is filled repeatedly. A nil batch counts as empty.
type reportBatch interface {
	empty() bool
	clear()
}

// pipeline runs read and yield in parallel. Read fills batches: it swaps a full one
// for an empty one, and gets the first by swapping nil. Yield gets the batches in
// order, in the caller's goroutine. The first error of either ends both, and both
// have ended when pipeline returns. After each batch both yield the processor, so
// that a request of a fraction of a millisecond does not wait behind a report of
// seconds.
func pipeline[B reportBatch](ctx context.Context, fresh func() B, read func(ctx context.Context, swap func(B) (B, error)) error, yield func(B) error) error {
	work, cancel := context.WithCancel(ctx)
	full, free := make(chan B, batches), make(chan B, batches)
	for range batches {
		free <- fresh()
	}
	swap := func(b B) (B, error) {
		if !b.empty() {
			full <- b // never blocks: the channel holds all batches
			runtime.Gosched()
		}
		select {
		case next := <-free:
			next.clear()
			return next, work.Err()
		case <-work.Done():
			return b, work.Err()
		}
	}
	var readErr error
	var panicked any
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(full)
		// A panic in this goroutine would end the program. It is raised again in the
		// caller's, where the server recovers.
		defer func() {
			if p := recover(); p != nil {
				panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
		}()
		readErr = read(work, swap)
	})
	defer reading.Wait()
	defer cancel()
	for b := range full {
		if err := yield(b); err != nil {
			return err
		}
		free <- b
		runtime.Gosched()
	}
	if panicked != nil {
		panic(panicked)
	}
	if readErr != nil && ctx.Err() != nil {
		return fmt.Errorf("read a report: %w", ctx.Err())
	}
	return readErr
}

// query is a statement with its arguments.
type query struct {
	sql  string
	args []any
}

// forEachRow runs a query and calls fn for every row once it is scanned into dest.
func forEachRow(ctx context.Context, c db.Conn, q query, dest []any, fn func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, err := c.Query(ctx, q.sql, q.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	defer cancel() // before Close, which would otherwise read the remaining rows
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return fmt.Errorf("scan a row: %w", err)
		}
		if err := fn(); err != nil {
			return err
		}
	}
	return rows.Err()
}
