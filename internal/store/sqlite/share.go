package sqlite

import (
	"cmp"
	"context"
	"errors"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// A commit waits for the disk, which takes longer than what most writers do. So a
// writer that is done passes the connection, with its open transaction, on to one that
// waits for it, and waits for the commit. The last one commits for all. Each writer has a
// savepoint of its own, so that its failure undoes nothing of the others.

// maxSharing is how many writers share a commit at most: the first waits for all.
const maxSharing = 32

var errPanicked = errors.New("the function of a transaction panicked")

func (e *Engine) writeOnce(ctx context.Context, fn func(db.Tx) error) error {
	c, err := e.take(ctx, e.writer, e.share)
	if err != nil {
		return err
	}
	// Statements are short, and a context that can interrupt them costs more than
	// it saves.
	ctx = context.WithoutCancel(ctx)
	t := &tx{conn: c, clock: e.clock, shared: len(c.sharing) > 0}
	committed := make(chan error, 1)
	err = errPanicked
	func() {
		defer func() { e.endTurn(ctx, t, committed, err) }() // after a panic too
		err = t.run(ctx, fn)
	}()
	if t.awaitsCommit {
		err = cmp.Or(<-committed, err)
	}
	if t.begun || err != nil {
		e.noteWrite(err)
	}
	return err
}

// endTurn ends the turn of a writer who got err. It passes the connection on to a
// writer that waits, or else commits.
func (e *Engine) endTurn(ctx context.Context, t *tx, committed chan error, err error) {
	c := t.conn
	// A writer that failed because of what the others have done, such as one that finds
	// nobody any more, must not return before their changes are visible.
	switch {
	case err != nil && t.rollback():
		c.finish(db.ErrRetry) // it is not the failure of the others: they run again
	case t.begun && (err == nil || t.shared):
		t.awaitsCommit = true
		c.sharing = append(c.sharing, committed)
	}
	if n := len(c.sharing); n > 0 {
		if n < maxSharing {
			select {
			case e.share <- c:
				return
			default: // nobody waits
			}
		}
		_, err := c.Exec(ctx, "COMMIT")
		c.finish(err)
	}
	e.writer <- c
}

// finish tells the writers that share the transaction how it ended. After a failure the
// next writer gets a clean connection.
func (c *conn) finish(err error) {
	if err != nil {
		_, _ = c.Exec(context.Background(), "ROLLBACK") // fails if SQLite has rolled back already
	}
	for _, committed := range c.sharing {
		committed <- err
	}
	c.sharing = nil
}
