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

// SettingOnce keeps value under key unless something is kept there already, and
// returns what is kept.
func (s *Store) SettingOnce(ctx context.Context, key string, value []byte) ([]byte, error) {
	var kept []byte
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		b := &db.Batch{}
		b.Exec(`INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING`, key, value)
		b.Query(func(r db.Rows) error { return r.Scan(&kept) }, `SELECT value FROM settings WHERE key = $1`, key)
		tx.SendAndCommit(b)
		return nil
	})
	return kept, err
}

// Setting returns what is kept under key, nil when nothing is.
func (s *Store) Setting(ctx context.Context, key string) ([]byte, error) {
	var kept []byte
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&kept) }, `SELECT value FROM settings WHERE key = $1`, key)
	err := s.read(ctx, b)
	return kept, err
}

// CompareAndSwapSetting puts value in the place of old; false when something else is kept there.
func (s *Store) CompareAndSwapSetting(ctx context.Context, key string, old, value []byte) (bool, error) {
	swapped := false
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		n, err := tx.Exec(ctx, `UPDATE settings SET value = $3 WHERE key = $1 AND value = $2`, key, old, value)
		swapped = n == 1
		return err
	})
	return swapped, err
}
