package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// mapError maps the driver's error to one of the errors of package db.
func mapError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	for _, mapped := range []error{db.ErrUnique, db.ErrReference, db.ErrRetry, db.ErrLocked, db.ErrUnavailable} {
		if errors.Is(err, mapped) {
			return err
		}
	}
	// A refused connection is never the fault of a statement, whatever its code.
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return fmt.Errorf("%w: %w", db.ErrUnavailable, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		if netError(err) {
			return fmt.Errorf("%w: %w", db.ErrUnavailable, err)
		}
		return err
	}
	switch pg.Code {
	case "23505":
		return fmt.Errorf("%w %s: %w", db.ErrUnique, pg.ConstraintName, err)
	case "23503":
		return fmt.Errorf("%w %s: %w", db.ErrReference, pg.ConstraintName, err)
	case "40001", "40P01", "22012": // also a division by zero, by which a statement asks for another run
		return fmt.Errorf("%w: %w", db.ErrRetry, err)
	case "55P03":
		return fmt.Errorf("%w: %w", db.ErrLocked, err)
	case "25006", "25P03": // a read-only server; a transaction that was idle for too long
		return fmt.Errorf("%w: %w", db.ErrUnavailable, err)
	}
	switch pg.Code[:2] {
	case "08", "53", "57":
		return fmt.Errorf("%w: %w", db.ErrUnavailable, err)
	}
	return err
}

// netError reports whether the connection broke, as opposed to a mistake in our
// own SQL.
func netError(err error) bool { return pgconn.SafeToRetry(err) || isNet(err) }

// retries returns how often a failed transaction is run again. A violated
// constraint means that another transaction committed first; the next run sees
// what it wrote.
func retries(err error) int {
	switch {
	case errors.Is(err, db.ErrRetry), errors.Is(err, db.ErrUnique), errors.Is(err, db.ErrReference):
		return 20
	}
	return 0
}
