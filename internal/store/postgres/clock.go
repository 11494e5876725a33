package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

const (
	sampleInterval = time.Second
	sampleWindow   = 10
)

// serverClock estimates the server's clock from samples of it. A sample is late by
// the time its answer took, so it is never too high: the estimate is the greatest
// of the latest samples. Samples come from a query of their own that waits for no
// lock; a local clock that is set does not matter, because only its monotonic
// reading is used.
type serverClock struct {
	base   time.Time
	offset atomic.Int64 // the server's clock minus base, when base was read

	mu      sync.Mutex
	samples []time.Duration
}

func newServerClock() *serverClock { return &serverClock{base: time.Now()} }

// Now returns the estimate.
func (c *serverClock) Now() time.Time {
	return c.base.Round(0).Add(time.Since(c.base) + time.Duration(c.offset.Load()))
}

// observe adds a sample that has just arrived.
func (c *serverClock) observe(server time.Time) {
	offset := server.Sub(c.base.Round(0)) - time.Since(c.base)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples = append(c.samples, offset)
	if len(c.samples) > sampleWindow {
		c.samples = c.samples[1:]
	}
	best := offset
	for _, sample := range c.samples {
		best = max(best, sample)
	}
	c.offset.Store(int64(best))
}

// sampleSQL reads the clock and the latest stamp.
const sampleSQL = `SELECT database_clock(), last_value FROM change_clock`

// sampleClock takes one sample. A database without a schema has only its own clock.
func (e *Engine) sampleClock(ctx context.Context) error {
	var now time.Time
	var latest int64
	err := e.pool.QueryRow(ctx, sampleSQL).Scan(&now, &latest)
	var missing *pgconn.PgError
	if errors.As(err, &missing) && missing.Code[:2] == "42" {
		err = e.pool.QueryRow(ctx, `SELECT clock_timestamp(), 0`).Scan(&now, &latest)
	}
	if err != nil {
		return mapError(err)
	}
	e.server.observe(now)
	e.clock.Observe(time.UnixMilli(latest))
	return nil
}

// watchClock samples the clock until ctx ends. A failed sample does not matter: the
// estimate goes on from the ones before.
func (e *Engine) watchClock(ctx context.Context) {
	tick := time.NewTicker(sampleInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			limited, cancel := context.WithTimeout(ctx, 5*sampleInterval)
			_ = e.sampleClock(limited)
			cancel()
		}
	}
}

// Now returns the database's clock without a round trip.
func (e *Engine) Now() time.Time { return e.clock.Now() }

// stampSQL returns the stamp of a change: the greatest of the clock, the
// transaction's start, the latest stamp of all and the time that this process knows
// ($1).
const stampSQL = `
	SELECT greatest(s.last_value, ` + clockMillis + `, $1::bigint) FROM change_clock s`

// keepStampSQL keeps the greatest stamp in the sequence change_clock. It runs right
// before the commit, and only if the transaction has changed something: the value
// must reach the disk, which a transaction that only looked need not wait for.
//
// The clock of a server can step back, and a standby with a slower clock can take
// over. No stamp lies below a visible stamp or a watermark even then: both are
// values of the sequence, which all transactions share at once, which does not fall
// with the clock, and which reaches the disk and the standbys no later than the
// commit of the transaction that set it. A transaction that waits for the row lock
// of another is stamped after that one's commit, so after its stamp was kept. It is
// not a row, because writers would queue for it. Its price is that two transactions
// may set it in the wrong order when they commit within microseconds of each other;
// the next commit mends that, and each process sends its own latest time along.
const keepStampSQL = `SELECT setval('change_clock', $1) FROM change_clock WHERE last_value < $1`

const clockMillis = `floor(extract(epoch FROM greatest(database_clock(), now())) * 1000)::bigint`

// watermarkSQL returns the latest stamp, which no later stamp lies below. An idle
// database would otherwise return the same watermark, and clients would read the
// same changes, for ever: if the latest stamp is old, the clock replaces it.
const watermarkSQL = `
	SELECT CASE WHEN c.at >= s.last_value + 1000 AND current_setting('transaction_read_only') = 'off'
		THEN setval('change_clock', c.at) ELSE s.last_value END
	FROM change_clock s, (SELECT ` + clockMillis + ` AS at) c`

// writersSQL returns the start of the oldest transaction that holds the writer lock.
// A start that we are not permitted to see counts as the epoch. A backend without
// a start ended its transaction while we looked, or begins one after we read the
// clock; neither matters.
const writersSQL = `
	SELECT min(CASE WHEN a.state IS NULL OR a.state = 'disabled' THEN timestamptz 'epoch' ELSE a.xact_start END)
	FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
	WHERE l.locktype = 'advisory' AND l.classid = $1 AND l.objid = $2 AND l.objsubid = 1
	  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// Watermark returns the latest stamp or, if that is earlier, the start of the oldest
// open writing transaction. The stamp is read before the locks. A transaction that
// held the lock then is not stamped before its own start, and one that takes the
// lock later reads its stamp later too.
func (e *Engine) Watermark(ctx context.Context) (time.Time, error) {
	var latest int64
	var oldest *time.Time
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&latest) }, watermarkSQL)
	b.Query(func(r db.Rows) error { return r.Scan(&oldest) }, writersSQL, int64(writerLock)>>32, int64(writerLock)&0xffffffff)
	if err := e.Read(ctx, func(c db.Conn) error { return c.Send(ctx, b) }); err != nil {
		return time.Time{}, err
	}
	at := time.UnixMilli(latest).UTC()
	e.clock.Observe(at)
	if oldest != nil && oldest.Before(at) {
		at = *oldest
	}
	return at.Truncate(time.Millisecond), nil
}
