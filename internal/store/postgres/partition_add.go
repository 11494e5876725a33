package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// aheadPartitions is how many empty partitions there are at least.
	aheadPartitions = 2
	// startMargin, at most a span, is how long after now and after the newest row of the
	// default partition the next partition starts, unless the last bound is later still:
	// rows that are written meanwhile stay below it. A large default partition takes longer
	// to validate and needs largeDefaultMargin.
	startMargin, largeDefaultMargin = time.Minute, 24 * time.Hour
	// marginTries limits the attempts to add partitions. If a row beyond the start was
	// written meanwhile, by a replica whose clock is ahead, the next attempt doubles the margin.
	marginTries = 8
	// largeDefault is the size in bytes from which the default partition is validated
	// before a partition is attached; otherwise ATTACH would scan it while it is locked.
	largeDefault = 64 << 20
)

// AddPartitionsAhead adds empty partitions, each for the deliveries of a time span.
func (e *Engine) AddPartitionsAhead(ctx context.Context, span time.Duration) error {
	if err := e.dropBoundConstraint(ctx); err != nil {
		return err
	}
	for doublings := range marginTries {
		err := e.addPartitions(ctx, span, doublings)
		const checkViolation = "23514" // the default partition has rows beyond the start of the new one
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != checkViolation || doublings == marginTries-1 {
			return err
		}
	}
	return nil
}

// addPartitions adds partitions with a margin that is doubled as often as asked.
func (e *Engine) addPartitions(ctx context.Context, span time.Duration, doublings int) error {
	spanMillis := max(span.Milliseconds(), 1) // times below are milliseconds since 1970
	list, err := e.partitions(ctx)
	if err != nil {
		return err
	}
	next, now := int64(0), e.Now().UnixMilli()
	if len(list) > 0 {
		next = list[len(list)-1].to
	}
	end := now + aheadPartitions*spanMillis
	if next >= end {
		return nil
	}
	newest, size, err := e.defaultPartition(ctx)
	if err != nil {
		return err
	}
	isLarge, margin := size > largeDefault, min(startMargin, span)
	if isLarge {
		margin = largeDefaultMargin
	}
	if newest = max(newest, now); newest >= next {
		next = newest + margin.Milliseconds()<<doublings
		end = next + aheadPartitions*spanMillis
	}
	if isLarge {
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectionTimeout)
			defer cancel()
			_ = e.dropBoundConstraint(ctx) // if this fails, the next AddPartitionsAhead drops it
		}()
		if err := e.addBoundConstraint(ctx, next); err != nil {
			return err
		}
	}
	for ; next < end; next += spanMillis {
		if err := e.addPartition(ctx, next, next+spanMillis); err != nil {
			return err
		}
	}
	return nil
}

// defaultPartition returns when its newest delivery was made, in milliseconds since 1970,
// and its size in bytes.
func (e *Engine) defaultPartition(ctx context.Context) (newest, size int64, err error) {
	err = e.pool.QueryRow(ctx, `SELECT coalesce(('x' || lpad(substr(replace(max(delivery_id::text COLLATE "C"), '-', ''), 1, 12), 16, '0'))::bit(64)::bigint, 0),
		pg_relation_size('delivery_attempts_rest') FROM delivery_attempts_rest`).Scan(&newest, &size)
	return newest, size, mapError(err)
}

// addPartition makes a partition and attaches it, which locks the table only against
// other changes of its partitions, and the default partition while that is scanned.
func (e *Engine) addPartition(ctx context.Context, from, to int64) error {
	name := "delivery_attempts_" + strings.ReplaceAll(time.UnixMilli(from).UTC().Format("20060102_150405.000"), ".", "_")
	err := e.changePartitions(ctx, func(tx pgx.Tx) error {
		var exists bool
		if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, name).Scan(&exists); err != nil || exists {
			return err
		}
		if _, err := tx.Exec(ctx, `CREATE TABLE `+name+` (LIKE delivery_attempts INCLUDING DEFAULTS INCLUDING INDEXES)`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, fmt.Sprintf(`ALTER TABLE delivery_attempts ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)`, name, boundLiteral(from), boundLiteral(to)))
		return err
	})
	if err != nil {
		return fmt.Errorf("add the partition %s: %w", name, err)
	}
	return nil
}

// addBoundConstraint proves by a constraint that the default partition has no row from
// start on. The rows are read while others write.
func (e *Engine) addBoundConstraint(ctx context.Context, start int64) error {
	err := e.changePartitions(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `ALTER TABLE delivery_attempts_rest DROP CONSTRAINT IF EXISTS delivery_attempts_bound,
			ADD CONSTRAINT delivery_attempts_bound CHECK (delivery_id < `+boundLiteral(start)+`) NOT VALID`)
		return err
	})
	if err != nil {
		return err
	}
	return mapError(pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 0; ALTER TABLE delivery_attempts_rest VALIDATE CONSTRAINT delivery_attempts_bound`)
		return err
	}))
}

// dropBoundConstraint removes the constraint if it exists. Left in place, it would make
// the default partition refuse rows from its bound on.
func (e *Engine) dropBoundConstraint(ctx context.Context) error {
	exists := false
	err := e.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_constraint
		WHERE conname = 'delivery_attempts_bound' AND conrelid = CAST('delivery_attempts_rest' AS regclass))`).Scan(&exists)
	if err != nil || !exists {
		return mapError(err)
	}
	return e.changePartitions(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `ALTER TABLE delivery_attempts_rest DROP CONSTRAINT IF EXISTS delivery_attempts_bound`)
		return err
	})
}
