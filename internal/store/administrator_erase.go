package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// eraseAdministrator erases someone who used to be an administrator, with the
// sessions. Rows that say who did something hold the id (see domain.Actor.Ref), so
// this takes the same few statements however much the person has done. Someone who
// still serves a company, or is invited to, stays an administrator.
func (s *Store) eraseAdministrator(ctx context.Context, tx db.Tx, email string) error {
	var id int64
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&id) }, `SELECT p.id FROM administrators p WHERE p.email_folded = $1
		AND NOT EXISTS (SELECT 1 FROM company_administrators m WHERE m.administrator_id = p.id)
		AND NOT EXISTS (SELECT 1 FROM sign_in_links l WHERE l.administrator_id = p.id AND l.used_at IS NULL AND l.expires_at > $2)`+
		s.db.ForUpdate("p"), domain.FoldEmail(email), tx.Now())
	if err := tx.Send(ctx, b); err != nil || id == 0 {
		return err
	}
	b = &db.Batch{}
	b.Exec(`DELETE FROM sessions WHERE administrator_id = $1`, id)
	b.Exec(`DELETE FROM administrators WHERE id = $1`, id)
	return tx.Send(ctx, b)
}
