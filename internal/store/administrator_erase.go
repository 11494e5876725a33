package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// eraseAdministrator erases someone who was an administrator once, with the
// sessions and wherever the address tells who did something. Who still serves a
// company, or is invited to, stays: there the address is the administrator's.
func (s *Store) eraseAdministrator(ctx context.Context, tx db.Tx, email string) error {
	var id int64
	var label string
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&id, &label) }, `SELECT p.id, p.email FROM administrators p WHERE p.email_folded = $1
		AND NOT EXISTS (SELECT 1 FROM company_administrators m WHERE m.administrator_id = p.id)
		AND NOT EXISTS (SELECT 1 FROM sign_in_links l WHERE l.administrator_id = p.id AND l.used_at IS NULL AND l.expires_at > $2)`+
		s.db.ForUpdate("p"), domain.FoldEmail(email), tx.Now())
	if err := tx.Send(ctx, b); err != nil || id == 0 {
		return err
	}
	b = &db.Batch{}
	b.Exec(`UPDATE audit_entries SET actor_label = $2
		WHERE company_id IN (SELECT c.id FROM companies c) AND actor_kind = 'person' AND actor_id = $1`, id, domain.FormerAdministrator)
	for _, column := range [][2]string{
		{"company_administrators", "added_by"}, {"tokens", "created_by"}, {"endpoints", "created_by"},
		{"deliveries", "requested_by"}, {"delivery_attempts", "requested_by"}, {"redeliveries", "requested_by"},
	} {
		b.Exec(`UPDATE `+column[0]+` SET `+column[1]+` = $2 WHERE `+column[1]+` = $1`, label, domain.FormerAdministrator)
	}
	b.Exec(`DELETE FROM sessions WHERE administrator_id = $1`, id)
	b.Exec(`DELETE FROM administrators WHERE id = $1`, id)
	return tx.Send(ctx, b)
}
