package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

const (
	sampleInterval = time.Second
	sampleWindow   = 10
)

// serverClock estimates the server's clock from samples. A sample is too low by the
// time its response took, never too high, so the estimate is the highest of the latest
// samples. Samples come from a query of their own, which waits for no lock. Setting
// the local clock has no effect, because only its monotonic reading is used.
type serverClock struct {
	base   time.Time    // Round(0) drops its monotonic reading
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
	c.offset.Store(int64(slices.Max(c.samples)))
}

// The codes of a schema that is not there yet.
const (
	undefinedTable    = "42P01"
	undefinedFunction = "42883"
)

// sampleSQL reads the clock and the latest stamp.
const sampleSQL = `SELECT database_clock(), last_value FROM change_clock`

// sampleClock takes one sample. A database without a schema has no change_clock, so
// its plain clock is read.
func (e *Engine) sampleClock(ctx context.Context) error {
	var now time.Time
	var latest int64
	err := e.pool.QueryRow(ctx, sampleSQL).Scan(&now, &latest)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && (pgErr.Code == undefinedTable || pgErr.Code == undefinedFunction) {
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
	repeat(ctx, sampleInterval, func() {
		limited, cancel := context.WithTimeout(ctx, 5*sampleInterval)
		defer cancel()
		_ = e.sampleClock(limited)
	})
}

// repeat calls fn at an interval until ctx ends.
func repeat(ctx context.Context, interval time.Duration, fn func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			fn()
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
// A server's clock can step back, and a standby with a slower clock can take over.
// Even then no new stamp is lower than a visible stamp or a watermark, because both
// are values of the sequence. Every transaction sees its current value immediately, it
// does not follow the clock down, and it reaches the disk and the standbys no later
// than the commit that set it. A transaction that waits for another's row lock is
// stamped after that one has committed, and so after its stamp was stored. A row
// instead of a sequence would make all writers queue for it until the first one commits.
//
// If the sequence is lower, the lock $2, floorLock, is taken and the sequence compared
// again: somebody else could set it between a comparison and the setting, and it would
// fall. As it never falls, most of many commits in one millisecond need no lock.
const keepStampSQL = `SELECT CASE WHEN ` + floorIsLower + ` THEN setval('change_clock', $1) END
	FROM (SELECT pg_advisory_xact_lock($2) WHERE ` + floorIsLower + ` OFFSET 0) l`

const floorIsLower = `coalesce(pg_sequence_last_value('change_clock'), 0) < $1`

// floorLock is an advisory lock that whoever sets the sequence holds. A transaction
// releases it before it waits for the disk, by going back to a savepoint. What that undoes
// is the lock alone: a sequence does not take part in transactions.
const floorLock = 4_261_946_102

// queueKeepStamp queues the statements that keep a stamp, and returns their number.
func queueKeepStamp(batch *pgx.Batch, stamp time.Time) int {
	batch.Queue("SAVEPOINT keep_stamp")
	batch.Queue(keepStampSQL, stamp.UnixMilli(), int64(floorLock))
	batch.Queue("ROLLBACK TO SAVEPOINT keep_stamp")
	return 3
}

const clockMillis = `floor(extract(epoch FROM greatest(database_clock(), now())) * 1000)::bigint`

// watermarkSQL returns the latest stamp, which no later stamp lies below, and the clock.
// An idle database would otherwise return the same watermark, and clients would read the
// same changes, for ever: if the latest stamp is old, the clock replaces it, except
// on a standby, which cannot set the sequence.
const watermarkSQL = `
	SELECT s.last_value, c.at, c.at >= s.last_value + 1000 AND current_setting('transaction_read_only') = 'off'
	FROM change_clock s, (SELECT ` + clockMillis + ` AS at) c`

// oldestWriterSQL returns the start of the oldest transaction that holds the writer lock.
// If we may not see a transaction's start, the epoch is returned: the watermark then
// stands still rather than skip a change. A backend without
// a start ended its transaction while we looked, or begins one after we read the
// clock; neither matters.
const oldestWriterSQL = `
	SELECT min(CASE WHEN a.state IS NULL OR a.state = 'disabled' THEN timestamptz 'epoch' ELSE a.xact_start END)
	FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
	WHERE l.locktype = 'advisory' AND l.classid = $1 AND l.objid = $2 AND l.objsubid = 1
	  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// Watermark returns the latest stamp or, if that is earlier, the start of the oldest
// open writing transaction. The stamp is read before the locks. A transaction that
// held the lock then is not stamped before its own start, and one that takes the
// lock later reads its stamp later too. It is always the primary's: a page that is read
// afterwards from the read replica shows everything that the primary showed then.
func (e *Engine) Watermark(ctx context.Context) (time.Time, error) {
	var latest, clock int64
	var isOld bool
	var oldest *time.Time
	read := func(b *db.Batch) error {
		b.Query(func(r db.Rows) error { return r.Scan(&latest, &clock, &isOld) }, watermarkSQL)
		b.Query(func(r db.Rows) error { return r.Scan(&oldest) }, oldestWriterSQL, int64(writerLock)>>32, int64(writerLock)&0xffffffff)
		return e.readPrimary(ctx, func(c db.Conn) error { return c.Send(ctx, b) }) // one transaction
	}
	err := read(&db.Batch{})
	if err == nil && isOld {
		b := &db.Batch{}
		b.Exec(keepStampSQL, clock, int64(floorLock))
		err = read(b)
	}
	if err != nil {
		return time.Time{}, err
	}
	at := time.UnixMilli(latest).UTC()
	e.clock.Observe(at)
	if oldest != nil && oldest.Before(at) {
		at = *oldest
	}
	return at.Truncate(time.Millisecond), nil
}
