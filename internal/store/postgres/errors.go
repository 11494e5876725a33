package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// mapError gives the driver's error the meaning the store knows.
func mapError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	for _, known := range []error{db.ErrUnique, db.ErrReference, db.ErrRetry, db.ErrUnavailable} {
		if errors.Is(err, known) {
			return err
		}
	}
	// Whatever code a server gives when it lets nobody in, no statement is to blame.
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
	case "40001", "40P01", "55P03":
		return fmt.Errorf("%w: %w", db.ErrRetry, err)
	}
	switch pg.Code[:2] {
	case "08", "53", "57":
		return fmt.Errorf("%w: %w", db.ErrUnavailable, err)
	}
	return err
}

// netError tells a broken connection from a mistake in our own SQL.
func netError(err error) bool { return pgconn.SafeToRetry(err) || isNet(err) }

// retries is how often a failed transaction is worth running again. A violated
// constraint means that another transaction was quicker: the next run sees what
// it wrote.
func retries(err error) int {
	switch {
	case errors.Is(err, db.ErrRetry), errors.Is(err, db.ErrUnique), errors.Is(err, db.ErrReference):
		return 20
	}
	return 0
}
