package postgres

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// runner runs statements on one connection.
type runner struct {
	conn  *pgx.Conn
	wrote bool // a statement has changed rows
}

func (r *runner) note(tag pgconn.CommandTag) {
	r.wrote = r.wrote || !tag.Select() && tag.RowsAffected() > 0
}

func (r *runner) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	tag, err := r.conn.Exec(ctx, sql, args...)
	r.note(tag)
	return tag.RowsAffected(), mapError(err)
}

func (r *runner) Query(ctx context.Context, sql string, args ...any) (db.Rows, error) {
	rs, err := r.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, mapError(err)
	}
	return rows{rs}, nil
}

func (r *runner) Send(ctx context.Context, b *db.Batch) error {
	if b.Empty() {
		return nil
	}
	batch := &pgx.Batch{}
	queue(batch, b.Items)
	return r.send(ctx, batch, b.Items, 0)
}

func queue(batch *pgx.Batch, items []db.Item) {
	for _, it := range items {
		batch.Queue(it.SQL, it.Args...)
	}
}

// send runs the batch, skips the results of the first skip statements and passes
// the others to the items.
func (r *runner) send(ctx context.Context, batch *pgx.Batch, items []db.Item, skip int) (err error) {
	res := r.conn.SendBatch(ctx, batch)
	defer func() {
		if closeErr := res.Close(); err == nil {
			err = mapError(closeErr)
		}
	}()
	for range skip {
		if _, err := res.Exec(); err != nil {
			return mapError(err)
		}
	}
	for _, it := range items {
		if err := r.result(res, it); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) result(res pgx.BatchResults, it db.Item) error {
	if it.Each == nil {
		tag, err := res.Exec()
		if err != nil {
			return mapError(err)
		}
		r.note(tag)
		if it.Done != nil {
			return it.Done(tag.RowsAffected())
		}
		return nil
	}
	rs, err := res.Query()
	if err != nil {
		return mapError(err)
	}
	defer rs.Close()
	for rs.Next() {
		if err := it.Each(rows{rs}); err != nil {
			return err
		}
	}
	r.note(rs.CommandTag())
	return mapError(rs.Err())
}

type rows struct{ pgx.Rows }

func (r rows) Err() error { return mapError(r.Rows.Err()) }

// tx is a writing transaction. It begins in the round trip of its first batch and
// reads its stamp at the end of it, after the row locks that the batch takes.
type tx struct {
	runner
	engine *Engine
	begun  bool
	now    time.Time
	last   *db.Batch
}

// beginSQL takes the writer lock, which comes before the stamp: see Watermark. How
// long the transaction may wait for a lock, run a statement and be idle is bounded
// by the connection's settings, so that a client that is gone neither keeps its locks
// nor holds up the watermark.
const beginSQL = `SELECT pg_advisory_xact_lock_shared($1)`

// beginPooledSQL also sets the bounds, for this transaction only, because the session
// belongs to a pooler.
const beginPooledSQL = `SELECT pg_advisory_xact_lock_shared($1), set_config('lock_timeout', $2, true),
	set_config('idle_in_transaction_session_timeout', $3, true), set_config('statement_timeout', $4, true)`

// begin queues the statements that begin the transaction and returns their number.
func (t *tx) begin(batch *pgx.Batch) int {
	t.begun = true
	batch.Queue("BEGIN")
	if o := t.engine.options; o.TransactionPooler {
		batch.Queue(beginPooledSQL, int64(writerLock), millis(o.LockWait), millis(o.IdleTransaction), millis(connectionTimeout))
	} else {
		batch.Queue(beginSQL, int64(writerLock))
	}
	return 2
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// stamp returns the item that reads the stamp.
func (t *tx) stamp() db.Item {
	return db.Item{SQL: stampSQL, Args: []any{t.engine.clock.Floor().UnixMilli()}, Each: func(r db.Rows) error {
		var at int64
		if err := r.Scan(&at); err != nil {
			return err
		}
		t.now = time.UnixMilli(at).UTC()
		return nil
	}}
}

func (t *tx) Send(ctx context.Context, b *db.Batch) error {
	if t.begun {
		return t.runner.Send(ctx, b)
	}
	batch := &pgx.Batch{}
	skip := t.begin(batch)
	var items []db.Item
	if b != nil {
		items = append(items, b.Items...)
	}
	items = append(items, t.stamp())
	queue(batch, items)
	return t.send(ctx, batch, items, skip)
}

func (t *tx) Restamp(b *db.Batch) { b.Items = append(b.Items, t.stamp()) }

func (t *tx) Exec(ctx context.Context, sql string, args ...any) (n int64, err error) {
	if t.begun {
		return t.runner.Exec(ctx, sql, args...)
	}
	b := &db.Batch{Items: []db.Item{{SQL: sql, Args: args, Done: func(touched int64) error {
		n = touched
		return nil
	}}}}
	err = t.Send(ctx, b)
	return n, err
}

func (t *tx) Query(ctx context.Context, sql string, args ...any) (db.Rows, error) {
	if !t.begun {
		if err := t.Send(ctx, nil); err != nil {
			return nil, err
		}
	}
	return t.runner.Query(ctx, sql, args...)
}

func (t *tx) Now() time.Time { return t.now }

// IDs reads the ids as one array: as a row each, those of a bulk of 500 assignments
// took a millisecond longer. The number stands in a subquery: as a parameter of the
// function it would make a plan for exactly that many rows look better than the cached
// one, and to plan it takes 29 µs each time.
func (t *tx) IDs(b *db.Batch, sequence string, n int, into *[]int64) {
	b.Query(func(r db.Rows) error { return r.Scan(into) },
		"SELECT coalesce(array_agg(nextval('"+sequence+"')), '{}') FROM generate_series(1, (SELECT $1::bigint))", n)
}

func (t *tx) SendAndCommit(b *db.Batch) {
	if t.last != nil {
		b = &db.Batch{Items: slices.Concat(t.last.Items, b.Items)}
	}
	t.last = b
}

func (t *tx) commit(ctx context.Context) error {
	if !t.begun && t.last.Empty() {
		return nil
	}
	batch, skip := &pgx.Batch{}, 0
	var items []db.Item
	if !t.begun {
		skip = t.begin(batch)
	}
	if t.last != nil {
		queue(batch, t.last.Items)
		items = append(items, t.last.Items...)
	}
	if (t.wrote || !t.last.Empty()) && !t.now.IsZero() {
		items = append(items, make([]db.Item, queueKeepStamp(batch, t.now))...)
		t.engine.clock.Observe(t.now)
	}
	batch.Queue("COMMIT")
	items = append(items, db.Item{})
	return t.send(ctx, batch, items, skip)
}

// rollback uses a context of its own: the request's may have ended, and the
// connection must return to the pool clean.
func (t *tx) rollback() {
	if !t.begun || t.conn.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if _, err := t.conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = t.conn.Close(ctx)
	}
}
