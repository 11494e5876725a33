package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// BeginSubmission records that a form of a session was submitted. It returns
// first = false if it was before, with the location that the first submission
// redirected to; the location is empty while that one is still running.
func (s *Store) BeginSubmission(ctx context.Context, session []byte, nonce string) (location string, first bool, err error) {
	err = s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `INSERT INTO form_submissions (session_hash, nonce, at, location) VALUES ($1, $2, $3, '')
			ON CONFLICT (session_hash, nonce) DO NOTHING`, session, nonce, tx.Now())
		if first = n > 0; err != nil || first {
			return err
		}
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&location) },
			`SELECT location FROM form_submissions WHERE session_hash = $1 AND nonce = $2`, session, nonce)
		return tx.Send(ctx, b)
	})
	return location, first, err
}

// EndSubmission records where a submission redirected to. An empty location means
// that nothing was done, so that the form may be submitted again.
func (s *Store) EndSubmission(ctx context.Context, session []byte, nonce, location string) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if location == "" {
			_, err := tx.Exec(ctx, `DELETE FROM form_submissions WHERE session_hash = $1 AND nonce = $2`, session, nonce)
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE form_submissions SET location = $3 WHERE session_hash = $1 AND nonce = $2`, session, nonce, location)
		return err
	})
}
