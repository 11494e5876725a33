package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// TakeLease makes owner the one replica that does the named work for a while, or
// prolongs its hold; false when another holds it.
func (s *Store) TakeLease(ctx context.Context, name, owner string, hold time.Duration) (bool, error) {
	mine := false
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		mine = false
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&mine) },
			`INSERT INTO leases (name, owner, until) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
			WHERE leases.owner = excluded.owner OR leases.until <= $4
			RETURNING 1 = 1`, name, owner, tx.Now().Add(hold), tx.Now())
		tx.SendAndCommit(b)
		return nil
	})
	return mine, err
}

// DropLease lets another replica do the named work at once.
func (s *Store) DropLease(ctx context.Context, name, owner string) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `DELETE FROM leases WHERE name = $1 AND owner = $2`, name, owner)
		return err
	})
}
