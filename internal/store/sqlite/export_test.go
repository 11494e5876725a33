package sqlite

import (
	"context"
	"fmt"
	"testing"
)

// LimitPages keeps the file from growing, as a full disk does, or no longer.
func (e *Engine) LimitPages(t *testing.T, full bool) {
	t.Helper()
	limit := 1 << 30
	if full {
		limit = 1 // SQLite takes the present size
	}
	c := <-e.writer
	defer func() { e.writer <- c }()
	if _, err := c.Exec(context.Background(), fmt.Sprintf("PRAGMA max_page_count = %d", limit)); err != nil {
		t.Fatal(err)
	}
}

// WriteFailure returns why the latest change failed, if the disk was to blame.
func (e *Engine) WriteFailure() error {
	if failure := e.writeFailure.Load(); failure != nil {
		return *failure
	}
	return nil
}
