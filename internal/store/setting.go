package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// InitSetting keeps value under key unless something is kept there already, and
// returns what is kept.
func (s *Store) InitSetting(ctx context.Context, key string, value []byte) ([]byte, error) {
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
