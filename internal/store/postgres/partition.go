package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// The table delivery_attempts is partitioned by the ids of deliveries: UUIDs that begin
// with the milliseconds since 1970. A bound is such a number of milliseconds. The default
// partition, delivery_attempts_rest, takes what belongs to no other, so that an insert
// never fails because nobody made a partition. See docs/adr/0010-partitions.md.

// partition holds the attempts of deliveries created from `from` to before `to`.
type partition struct {
	name     string
	from, to int64
}

// boundID returns the smallest id of a delivery that a bound allows.
func boundID(bound int64) string {
	hex := fmt.Sprintf("%012x%020x", max(bound, 0), 0)
	return fmt.Sprintf("%s-%s-%s-%s-%s", hex[:8], hex[8:12], hex[12:16], hex[16:20], hex[20:])
}

// boundLiteral returns a bound as SQL.
func boundLiteral(bound int64) string { return "'" + boundID(bound) + "'" }

var boundsOfPartition = regexp.MustCompile(`^FOR VALUES FROM \((.+)\) TO \((.+)\)$`)

func parseBound(text string) (int64, error) {
	if text == "MINVALUE" {
		return math.MinInt64, nil
	}
	digits := strings.ReplaceAll(strings.Trim(text, "'"), "-", "")
	return strconv.ParseInt(digits[:min(12, len(digits))], 16, 64)
}

// partitions returns the partitions in ascending order, without the default one.
func (e *Engine) partitions(ctx context.Context) ([]partition, error) {
	rows, err := e.pool.Query(ctx, `SELECT c.relname::text, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = CAST('delivery_attempts' AS regclass)`)
	if err != nil {
		return nil, mapError(err)
	}
	var out []partition
	var p partition
	var bounds string
	_, err = pgx.ForEachRow(rows, []any{&p.name, &bounds}, func() (err error) {
		m := boundsOfPartition.FindStringSubmatch(bounds)
		if m == nil {
			return nil
		}
		if p.from, err = parseBound(m[1]); err != nil {
			return err
		}
		p.to, err = parseBound(m[2])
		out = append(out, p)
		return err
	})
	slices.SortFunc(out, func(a, b partition) int { return cmp.Compare(a.from, b.from) })
	return out, mapError(err)
}

// partitionLocks is the class of the advisory lock under which partitions are changed.
const partitionLocks = 2

// A change of partitions waits for a table at most partitionLockWait, because every
// statement for the table waits behind it, and is tried partitionTries times.
const (
	partitionLockWait = 100 * time.Millisecond
	partitionTries    = 30
)

// changePartitions runs fn in a transaction. It fails with db.ErrLocked if a table that
// fn locks, or the lock on changes of partitions, is in use at every try.
func (e *Engine) changePartitions(ctx context.Context, fn func(pgx.Tx) error) error {
	for try := 1; ; try++ {
		err := mapError(pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', '10s', true)`,
				millis(partitionLockWait)); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1, 0)`, partitionLocks); err != nil {
				return err
			}
			return fn(tx)
		}))
		if !errors.Is(err, db.ErrLocked) || try == partitionTries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(partitionLockWait + rand.N(2*partitionLockWait)): //nolint:gosec // Jitter is no secret.
		}
	}
}

// DropPartitions drops the partitions whose deliveries were made before the instant, if
// none of them is to be sent. What is in use all the time is left for the next call.
func (e *Engine) DropPartitions(ctx context.Context, before time.Time) error {
	list, err := e.partitions(ctx)
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.to > before.UnixMilli() {
			break
		}
		if err := e.dropPartition(ctx, p); err != nil && !errors.Is(err, db.ErrLocked) {
			return fmt.Errorf("drop the partition %s: %w", p.name, err)
		}
	}
	return nil
}

// RowRetention returns a tenth more than the retention. That is more than the span of a
// partition, a twelfth, so a partition is dropped before its rows are due one by one.
func (e *Engine) RowRetention(retention time.Duration) time.Duration { return retention + retention/10 }

// maxIDSkew is how far apart the instant in the id of a delivery, by the clock of a
// server, and its created_at, by the clock of the database, may be.
const maxIDSkew = 24 * time.Hour

// pendingSQL reports whether a delivery with an id from $1 to before $2, created from $3
// to before $4, is to be sent. No index begins with the id, and one on the ids of pending
// deliveries would cost each of them two more changes of an index. So it goes along
// deliveries_unfinished: from one kind of event that a company has pending to the next,
// and then, for each, to the deliveries of the time. That is a lookup for each company
// with endpoints and two for each kind, however many deliveries are pending. The
// comparison of state and kind as a row leaves the planner no other index, even if it
// believes that most deliveries are pending.
const pendingSQL = `WITH RECURSIVE waiting (company_id, kind) AS (
		SELECT e.company_id, '' FROM (SELECT DISTINCT company_id FROM endpoints) e
		UNION ALL
		SELECT w.company_id, (SELECT CASE d.state WHEN 'pending' THEN d.kind END FROM deliveries d
				WHERE d.company_id = w.company_id AND d.state <> 'delivered' AND (d.state, d.kind) > ('pending', w.kind)
				ORDER BY d.state, d.kind LIMIT 1)
			FROM waiting w WHERE w.kind IS NOT NULL)
	SELECT EXISTS (SELECT 1 FROM waiting w CROSS JOIN LATERAL (SELECT 1 FROM deliveries d
		WHERE d.company_id = w.company_id AND d.state = 'pending' AND d.kind = w.kind AND d.created_at >= $3 AND d.created_at < $4
			AND d.id >= $1 AND d.id < $2 LIMIT 1) d WHERE w.kind <> '')`

// pendingArgs returns the arguments of pendingSQL for a partition.
func (p partition) pendingArgs() []any {
	from, to := max(p.from, 0), max(p.to, 0)
	return []any{boundID(from), boundID(to), time.UnixMilli(from).Add(-maxIDSkew), time.UnixMilli(to).Add(maxIDSkew)}
}

// dropPartition looks for pending deliveries twice: before it locks the table, because
// that keeps no writer waiting, and under the lock, because one may have become pending
// in between.
func (e *Engine) dropPartition(ctx context.Context, p partition) error {
	hasPending := false
	if err := e.pool.QueryRow(ctx, pendingSQL, p.pendingArgs()...).Scan(&hasPending); err != nil || hasPending {
		return mapError(err)
	}
	return e.changePartitions(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `LOCK TABLE ONLY delivery_attempts IN ACCESS EXCLUSIVE MODE`); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, pendingSQL, p.pendingArgs()...).Scan(&hasPending); err != nil || hasPending {
			return err
		}
		_, err := tx.Exec(ctx, `DROP TABLE IF EXISTS `+p.name)
		return err
	})
}
