package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// maxStatements is how many prepared statements a connection keeps. One more than that
// drops them all.
const maxStatements = 400

// conn is one pinned connection with its prepared statements.
type conn struct {
	sql        *sql.Conn
	statements map[string]*sql.Stmt
	// sharing holds a channel for each writer that waits for the commit of the open
	// transaction.
	sharing []chan error
}

func (c *conn) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if st, ok := c.statements[text]; ok {
		return st, nil
	}
	if len(c.statements) >= maxStatements {
		for k, st := range c.statements {
			_ = st.Close()
			delete(c.statements, k)
		}
	}
	st, err := c.sql.PrepareContext(ctx, text)
	if err != nil {
		return nil, mapError(err)
	}
	c.statements[text] = st
	return st, nil
}

func (c *conn) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	st, err := c.prepare(ctx, text) //nolint:sqlclosecheck // It is cached for the next call.
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(ctx, bind(args)...)
	if err != nil {
		return 0, mapError(err)
	}
	n, err := res.RowsAffected()
	return n, mapError(err)
}

func (c *conn) Query(ctx context.Context, text string, args ...any) (db.Rows, error) {
	st, err := c.prepare(ctx, text) //nolint:sqlclosecheck // It is cached for the next call.
	if err != nil {
		return nil, err
	}
	rs, err := st.QueryContext(ctx, bind(args)...) //nolint:rowserrcheck // The caller checks the error and closes the rows.
	if err != nil {
		return nil, mapError(err)
	}
	return &rows{rows: rs}, nil
}

func (c *conn) Send(ctx context.Context, b *db.Batch) error {
	if b == nil {
		return nil
	}
	for _, it := range b.Items {
		if err := c.item(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) item(ctx context.Context, it db.Item) error {
	if it.Each == nil {
		n, err := c.Exec(ctx, it.SQL, it.Args...)
		if err != nil || it.Done == nil {
			return err
		}
		return it.Done(n)
	}
	rs, err := c.Query(ctx, it.SQL, it.Args...)
	if err != nil {
		return err
	}
	defer rs.Close()
	for rs.Next() {
		if err := it.Each(rs); err != nil {
			return err
		}
	}
	return rs.Err()
}

func (c *conn) close() {
	for _, st := range c.statements {
		_ = st.Close()
	}
	_ = c.sql.Close()
}

// uncancelled runs statements that ignore the context's end: see writeOnce.
type uncancelled struct{ c *conn }

func (q uncancelled) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	return q.c.Exec(context.WithoutCancel(ctx), text, args...)
}

func (q uncancelled) Query(ctx context.Context, text string, args ...any) (db.Rows, error) {
	return q.c.Query(context.WithoutCancel(ctx), text, args...)
}

func (q uncancelled) Send(ctx context.Context, b *db.Batch) error {
	return q.c.Send(context.WithoutCancel(ctx), b)
}

// tx is the transaction of one writer. It begins with its first statement, as a
// savepoint if the writer shares the transaction of others.
type tx struct {
	conn         *conn
	clock        *db.Clock
	shared       bool
	begun        bool
	awaitsCommit bool // of the transaction that it shares
	now          time.Time
	last         *db.Batch
}

func (t *tx) begin(ctx context.Context) error {
	if t.begun {
		return nil
	}
	begin := "BEGIN IMMEDIATE"
	if t.shared {
		begin = "SAVEPOINT writer"
	}
	if _, err := t.conn.Exec(ctx, begin); err != nil {
		return err
	}
	t.begun = true
	err := t.conn.item(ctx, db.Item{
		SQL:  "UPDATE change_clock SET at = max(at, $1) WHERE id = 1 RETURNING at",
		Args: []any{t.clock.Now()},
		Each: func(r db.Rows) error { return r.Scan(&t.now) },
	})
	t.clock.Observe(t.now)
	return err
}

func (t *tx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	ctx = context.WithoutCancel(ctx)
	if err := t.begin(ctx); err != nil {
		return 0, err
	}
	return t.conn.Exec(ctx, text, args...)
}

func (t *tx) Query(ctx context.Context, text string, args ...any) (db.Rows, error) {
	ctx = context.WithoutCancel(ctx)
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	return t.conn.Query(ctx, text, args...)
}

func (t *tx) Send(ctx context.Context, b *db.Batch) error {
	ctx = context.WithoutCancel(ctx)
	if err := t.begin(ctx); err != nil {
		return err
	}
	return t.conn.Send(ctx, b)
}

func (t *tx) Now() time.Time { return t.now }

// Restamp does nothing: the only writer has all locks from the start.
func (t *tx) Restamp(*db.Batch) {}

func (t *tx) IDs(b *db.Batch, sequence string, n int, into *[]int64) {
	*into = make([]int64, n)
	b.Query(func(r db.Rows) error {
		var last int64
		if err := r.Scan(&last); err != nil {
			return err
		}
		for i := range *into {
			(*into)[i] = last - int64(n) + int64(i) + 1
		}
		return nil
	}, "UPDATE sequences SET value = value + $1 WHERE name = $2 RETURNING value", n, sequence)
}

func (t *tx) SendAndCommit(b *db.Batch) {
	if t.last != nil {
		b = &db.Batch{Items: slices.Concat(t.last.Items, b.Items)}
	}
	t.last = b
}

// run runs fn and its last batch. The transaction stays open.
func (t *tx) run(ctx context.Context, fn func(db.Tx) error) error {
	err := fn(t)
	if err == nil && t.last != nil {
		err = t.Send(ctx, t.last)
	}
	if err == nil && t.begun && t.shared {
		_, err = t.conn.Exec(ctx, "RELEASE writer")
	}
	return err
}

// rollback undoes what the writer has done. It reports whether the transaction of the
// others is lost too: after some failures SQLite has rolled back all of it.
func (t *tx) rollback() (lost bool) {
	ctx := context.Background()
	switch {
	case !t.begun:
		return false
	case !t.shared:
		_, _ = t.conn.Exec(ctx, "ROLLBACK") // fails if SQLite has rolled back already
		return false
	}
	for _, sql := range []string{"ROLLBACK TO writer", "RELEASE writer"} {
		if _, err := t.conn.Exec(ctx, sql); err != nil {
			return true
		}
	}
	return false
}
