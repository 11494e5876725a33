package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// eraseAdministrator erases someone who used to be an administrator, with the
// sessions. Rows that describe who did something hold the id (see domain.Actor.Ref), so
// this takes the same few statements however much the person has done. Someone who
// still serves a company, or is invited to, stays an administrator.
func (s *Store) eraseAdministrator(ctx context.Context, tx db.Tx, email string) error {
	var id int64
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&id) },
		`SELECT administrators.id FROM administrators WHERE administrators.email_folded = $1 AND `+unusedIdentity+
			s.db.ForUpdate("administrators"), domain.FoldEmail(email), tx.Now())
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	b = &db.Batch{}
	b.Exec(`DELETE FROM former_administrators WHERE email_folded = $1`, domain.FoldEmail(email))
	b.Exec(`DELETE FROM sessions WHERE administrator_id = $1`, id)
	b.Exec(`DELETE FROM administrators WHERE id = $1`, id)
	return tx.Send(ctx, b)
}
