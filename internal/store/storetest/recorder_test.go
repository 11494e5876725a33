package storetest_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// recorder is an engine that records every statement.
type recorder struct {
	db.Engine
	mu    sync.Mutex
	items []db.Item
	sends int // round trips of transactions, without those of Exec and Query and the commit
	// keep decides which statements are recorded; all are if it is nil. A generic one is
	// run with one plan for all arguments: see db.Dialect.KeepPlan.
	keep func(it db.Item, generic bool) bool
}

// unwrap returns the engine inside of recorders.
func unwrap(engine db.Engine) db.Engine {
	for {
		r, ok := engine.(*recorder)
		if !ok {
			return engine
		}
		engine = r.Engine
	}
}

// recordStatements returns a second store on the engine of s, and its recorder.
func recordStatements(s *store.Store) (*store.Store, *recorder) {
	r := &recorder{Engine: s.Engine()}
	return store.New(r), r
}

// during returns the statements that fn runs.
func (r *recorder) during(t *testing.T, fn func() error) []db.Item {
	t.Helper()
	r.mu.Lock()
	r.items = nil
	r.mu.Unlock()
	if err := fn(); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.items
}

func (r *recorder) note(items ...db.Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	generic := false
	for _, it := range items {
		generic = generic || it.SQL == r.KeepPlan()
		if r.keep != nil && !r.keep(it, generic) {
			continue
		}
		it.Args = slices.Clone(it.Args) // an engine may replace them by its own values
		r.items = append(r.items, it)
	}
}

func (r *recorder) Write(ctx context.Context, fn func(db.Tx) error) error {
	return r.Engine.Write(ctx, func(tx db.Tx) error { return fn(&recordedTx{Tx: tx, to: r}) })
}

func (r *recorder) Read(ctx context.Context, fn func(db.Conn) error) error {
	return r.Engine.Read(ctx, func(c db.Conn) error { return fn(&recordedConn{Conn: c, to: r}) })
}

func (r *recorder) Snapshot(ctx context.Context, fn func(db.Conn) error) error {
	return r.Engine.Snapshot(ctx, func(c db.Conn) error { return fn(&recordedConn{Conn: c, to: r}) })
}

type recordedConn struct {
	db.Conn
	to *recorder
}

func (c *recordedConn) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	c.to.note(db.Item{SQL: sql, Args: args})
	return c.Conn.Exec(ctx, sql, args...)
}

func (c *recordedConn) Query(ctx context.Context, sql string, args ...any) (db.Rows, error) {
	c.to.note(db.Item{SQL: sql, Args: args})
	return c.Conn.Query(ctx, sql, args...)
}

func (c *recordedConn) Send(ctx context.Context, b *db.Batch) error {
	if b != nil {
		c.to.note(b.Items...)
	}
	return c.Conn.Send(ctx, b)
}

type recordedTx struct {
	db.Tx
	to *recorder
}

func (t *recordedTx) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	return (&recordedConn{t.Tx, t.to}).Exec(ctx, sql, args...)
}

func (t *recordedTx) Query(ctx context.Context, sql string, args ...any) (db.Rows, error) {
	return (&recordedConn{t.Tx, t.to}).Query(ctx, sql, args...)
}

func (t *recordedTx) Send(ctx context.Context, b *db.Batch) error {
	t.to.mu.Lock()
	t.to.sends++
	t.to.mu.Unlock()
	return (&recordedConn{t.Tx, t.to}).Send(ctx, b)
}

func (t *recordedTx) SendAndCommit(b *db.Batch) {
	if b != nil {
		t.to.note(b.Items...)
	}
	t.Tx.SendAndCommit(b)
}
