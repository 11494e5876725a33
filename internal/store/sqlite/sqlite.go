// Package sqlite opens an SQLite file for the store: pragmas, one writer and a
// few readers with their prepared statements, the change clock, and driver
// errors mapped to those of package db. The SQL of the nouns is not here.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // registers the driver

	"github.com/coursebridge/coursebridge/internal/store/db"
)

const readers = 4

// Engine is an SQLite database in one file.
type Engine struct {
	dialect
	options db.Options
	path    string
	db      *sql.DB
	writer  chan *conn // holds the one writing connection when it is free
	share   chan *conn // passes it on within a transaction, to a writer that waits
	reader  chan *conn
	all     []*conn
	clock   *db.Clock

	erasure erasure
	// writeFailure is why the latest change failed, if the disk was to blame.
	writeFailure atomic.Pointer[error]
	serverLock   *fileLock

	mu       sync.Mutex
	topics   map[string]map[int]func([]string)
	lastID   int
	waits    int64
	waitTime time.Duration
}

// Open opens the file at path, or creates it, readable by its owner only.
func Open(ctx context.Context, path string, options db.Options) (*Engine, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the folder %s does not exist; create it, or name another file with --database", filepath.Dir(path))
	}
	options = options.WithDefaults()
	e := &Engine{
		path: path, options: options, writer: make(chan *conn, 1), share: make(chan *conn), reader: make(chan *conn, readers),
		topics: map[string]map[int]func([]string){}, clock: db.NewClock(options.Clock),
	}
	// Processes that open a new file at the same time would get in each other's way.
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		err = setUp(path, func() error { return e.connect(ctx) })
		if err != nil {
			return nil, errors.Join(err, e.Close())
		}
	} else if err := e.connect(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.finishErasure(ctx)
	// The clock goes on where it stopped. A file without a schema has no stamps.
	_, _ = e.Watermark(ctx)
	return e, nil
}

// connect opens the connections.
func (e *Engine) connect(ctx context.Context) error {
	if file, err := os.OpenFile(e.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = file.Close()
	}
	var err error
	if e.db, err = sql.Open("sqlite", dsn(e.path)); err != nil {
		return fmt.Errorf("open %s: %w", e.path, err)
	}
	for i := range readers + 1 {
		c, err := e.db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("open %s: %w; check that it is a database of coursebridge and that this user may read and write it and its folder",
				e.path, mapError(err))
		}
		pinned := &conn{sql: c, statements: map[string]*sql.Stmt{}}
		e.all = append(e.all, pinned)
		if i == 0 {
			e.writer <- pinned
		} else {
			e.reader <- pinned
		}
	}
	return nil
}

// dsn returns the data source name with the pragmas of every connection. A deleted
// row is overwritten with zeros, so that erased people are gone from the file; a
// commit reaches the disk before it is acknowledged. The log is moved into the file when
// it has 16 MB: with SQLite's 4 MB every bulk of 500 assignments filled it, and most of
// its pages are those of the bulk before.
func dsn(path string) string {
	q := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", writerBusyTimeout.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"secure_delete(1)", "cache_size(-8000)", "temp_store(MEMORY)", "wal_autocheckpoint(4000)",
	}}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}).String()
}

// Path returns the file's absolute path.
func (e *Engine) Path() string { return e.path }

// Now returns the machine's clock, but never a time before the latest change.
func (e *Engine) Now() time.Time { return e.clock.Now() }

// Write runs fn in a transaction. Writers run one at a time; those that wait for
// another share its commit: see share.go.
func (e *Engine) Write(ctx context.Context, fn func(db.Tx) error) error {
	for try := 0; ; try++ {
		err := e.writeOnce(ctx, fn)
		if err == nil || try >= 4 || !retryable(err) {
			return err
		}
	}
}

// retryable reports whether another run may succeed: it sees the row that the
// first one conflicted with.
func retryable(err error) bool {
	return errors.Is(err, db.ErrRetry) || errors.Is(err, db.ErrUnique) || errors.Is(err, db.ErrReference)
}

// noteWrite remembers that the disk takes no changes, until one succeeds.
func (e *Engine) noteWrite(err error) {
	switch {
	case isDiskFailure(err):
		e.writeFailure.Store(&err)
	case err == nil && e.writeFailure.Load() != nil:
		e.writeFailure.Store(nil)
	}
}

// Read runs fn on one reading connection.
func (e *Engine) Read(ctx context.Context, fn func(db.Conn) error) error {
	c, err := e.take(ctx, e.reader, nil)
	if err != nil {
		return err
	}
	defer func() { e.reader <- c }()
	return fn(uncancelled{c})
}

// Snapshot runs fn in a read transaction on a connection of its own, so that
// long reports do not occupy the readers that requests need.
func (e *Engine) Snapshot(ctx context.Context, fn func(db.Conn) error) error {
	own, err := e.db.Conn(ctx)
	if err != nil {
		return mapError(err)
	}
	c := &conn{sql: own, statements: map[string]*sql.Stmt{}}
	e.erasure.snapshots.Add(1)
	defer func() {
		c.close()
		e.erasure.snapshots.Add(-1)
		_ = e.truncateLog(context.WithoutCancel(ctx), checkpointBusyTimeout)
	}()
	if _, err := c.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	defer func() { _, _ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK") }()
	return fn(c)
}

// take waits for a connection from one of two channels, of which the second may be nil.
func (e *Engine) take(ctx context.Context, from, orFrom chan *conn) (*conn, error) {
	select {
	case c := <-from:
		return c, nil
	default:
	}
	began := time.Now()
	e.noteWait(1, 0)
	defer func() { e.noteWait(0, time.Since(began)) }()
	timer := time.NewTimer(e.options.ConnectionWait)
	defer timer.Stop()
	select {
	case c := <-from:
		return c, nil
	case c := <-orFrom:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, fmt.Errorf("%w: no connection within %s", db.ErrUnavailable, e.options.ConnectionWait)
	}
}

func (e *Engine) noteWait(begun int64, waited time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waits += begun
	e.waitTime += waited
}

// Watermark returns the time of the latest committed change: later changes are
// never stamped before it.
func (e *Engine) Watermark(ctx context.Context) (time.Time, error) {
	var at time.Time
	err := e.Read(ctx, func(c db.Conn) error {
		rows, err := c.Query(ctx, "SELECT at FROM change_clock WHERE id = 1")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(&at); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err == nil {
		e.clock.Observe(at)
	}
	return at, err
}

// Ping returns an error if the file cannot be read, or if the latest change failed
// because of the disk and another one that needs space fails too.
func (e *Engine) Ping(ctx context.Context) error {
	if e.writeFailure.Load() != nil {
		return e.probeSpace(ctx)
	}
	return e.Read(ctx, func(c db.Conn) error {
		_, err := c.Exec(ctx, "SELECT 1")
		return err
	})
}

// probeSpace stores a value of 64 KiB and deletes it again. A smaller change could
// succeed on a full disk, within pages that the file has already.
func (e *Engine) probeSpace(ctx context.Context) error {
	for _, sql := range []string{
		`INSERT INTO settings (key, value) VALUES ('space_probe', zeroblob(65536)) ON CONFLICT (key) DO NOTHING`,
		`DELETE FROM settings WHERE key = 'space_probe'`,
	} {
		if err := e.Write(ctx, func(tx db.Tx) error {
			_, err := tx.Exec(ctx, sql)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Stats returns the state of the connections.
func (e *Engine) Stats() db.Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	idle := len(e.writer) + len(e.reader)
	return db.Stats{Max: readers + 1, Open: readers + 1, InUse: readers + 1 - idle, Idle: idle, WaitCount: e.waits, WaitDuration: e.waitTime}
}

// Close closes the file. All calls must have returned before.
func (e *Engine) Close() error {
	for _, c := range e.all {
		c.close()
	}
	e.all = nil
	if e.serverLock != nil {
		defer e.serverLock.unlock()
	}
	if e.db == nil {
		return nil
	}
	return e.db.Close()
}

// ParseURL returns the path of an sqlite:// address: sqlite:///abs/file.db
// or sqlite://relative.db.
func ParseURL(address string) (string, error) {
	path := strings.TrimPrefix(address, "sqlite://")
	if path == "" || path == address {
		return "", errors.New("an SQLite address looks like sqlite:///path/file.db")
	}
	return path, nil
}
