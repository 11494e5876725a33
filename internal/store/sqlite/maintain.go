package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Backup writes a consistent copy of the database into an empty file.
func (e *Engine) Backup(ctx context.Context, path string) error {
	if _, err := e.db.ExecContext(ctx, "VACUUM INTO $1", path); err != nil {
		return fmt.Errorf("copy the database: %w", mapError(err))
	}
	return nil
}

// Compact rewrites the file without its free pages and empties the write-ahead
// log. Writers wait meanwhile; readers do not. If it fails, for want of disk say,
// the file stays as it was.
func (e *Engine) Compact(ctx context.Context) error {
	if err := e.compactFile(ctx); err != nil {
		return fmt.Errorf("compact the database: %w", err)
	}
	e.erasure.pending.Store(true)
	return e.truncateLog(ctx, checkpointBusyTimeout)
}

func (e *Engine) compactFile(ctx context.Context) error {
	c, err := e.take(ctx, e.writer, nil)
	if err != nil {
		return err
	}
	defer func() { e.writer <- c }()
	ctx = context.WithoutCancel(ctx)
	// The copy that VACUUM makes would else be in memory.
	if _, err := c.Exec(ctx, "PRAGMA temp_store = FILE"); err != nil {
		return err
	}
	_, err = c.Exec(ctx, "VACUUM")
	_, resetErr := c.Exec(ctx, "PRAGMA temp_store = MEMORY")
	return errors.Join(err, resetErr)
}

// Size returns the size of the file.
func (e *Engine) Size(ctx context.Context) (int64, error) {
	var pages, pageSize int64
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&pages) }, "PRAGMA page_count")
	b.Query(func(r db.Rows) error { return r.Scan(&pageSize) }, "PRAGMA page_size")
	err := e.Read(ctx, func(c db.Conn) error { return c.Send(ctx, b) })
	return pages * pageSize, err
}

// Verify returns an error if the file at path is not a sound database of ours.
func Verify(ctx context.Context, path string) error {
	e, err := Open(ctx, path, db.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	var result string
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&result) }, "PRAGMA quick_check(1)")
	if err := e.Read(ctx, func(c db.Conn) error { return c.Send(ctx, b) }); err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	if result != "ok" {
		return fmt.Errorf("%s is damaged, so restore another backup: %s", path, result)
	}
	if err := e.CheckSchema(ctx); errors.Is(err, db.ErrNoSchema) {
		return fmt.Errorf("%s is not a coursebridge database; name a file that coursebridge backup has written", path)
	}
	return nil
}
