package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Backdate moves the instants at which employees joined and assignments were made,
// so that the demo's company has a past. It writes no event.
func (s *Store) Backdate(ctx context.Context, company int64, joined, assigned []domain.PastRecord) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		b := &db.Batch{}
		for _, r := range joined {
			b.Exec(`UPDATE employees SET joined_at = $3 WHERE company_id = $1 AND id = $2`, company, r.ID, r.At)
		}
		for _, r := range assigned {
			b.Exec(`UPDATE assignments SET assigned_at = $3 WHERE company_id = $1 AND id = $2`, company, r.ID, r.At)
		}
		tx.SendAndCommit(b)
		return nil
	})
}
