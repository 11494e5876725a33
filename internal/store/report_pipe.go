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
	// batchRows is how many rows are handed on at once: enough to make the handing
	// cheap, few enough to stay in the processor's cache and to let others in soon.
	batchRows = 16
	// batches is one to fill, one to work on, and one between them.
	batches = 3
)

// reportBatch is a buffer that is filled again and again. None at all is empty too.
type reportBatch interface {
	empty() bool
	clear()
}

// pipeline runs read beside yield, so that both sides of a long report work at once.
// Read fills batches and swaps each for an empty one (the first for none); yield
// gets them in order, in the caller's goroutine. The first failure of either ends
// both, and nothing runs any more once pipeline has returned. After each batch both
// sides let others go first: a request that takes a fraction of a millisecond
// must not wait for its turn behind a report that takes seconds.
func pipeline[B reportBatch](ctx context.Context, fresh func() B, read func(ctx context.Context, swap func(B) (B, error)) error, yield func(B) error) error {
	work, cancel := context.WithCancel(ctx)
	full, free := make(chan B, batches), make(chan B, batches)
	for range batches {
		free <- fresh()
	}
	swap := func(b B) (B, error) {
		if !b.empty() {
			full <- b // there is room for all
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
		// The server answers for a panic in the caller's goroutine; here it would
		// end the program.
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

// forEachRow runs a query and calls fn for every row once it is scanned into dest.
func forEachRow(ctx context.Context, c db.Conn, sql string, args, dest []any, fn func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	defer cancel() // before Close, which would else read what is left
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
