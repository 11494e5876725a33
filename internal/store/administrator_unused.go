package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// unusedIdentity is the condition of an identity that serves no company and is not
// invited to any; $2 is the present.
const unusedIdentity = `NOT EXISTS (SELECT 1 FROM company_administrators m WHERE m.administrator_id = administrators.id)
	AND NOT EXISTS (SELECT 1 FROM sign_in_links l WHERE l.administrator_id = administrators.id AND l.used_at IS NULL AND l.expires_at > $2)`

// removeUnusedIdentity queues the removal of an identity, which must be locked,
// unless a company still counts on it. The logs go on showing the address of someone
// who has signed in.
func removeUnusedIdentity(b *db.Batch, id int64, now time.Time) {
	b.Exec(`INSERT INTO former_administrators (administrator_id, email, email_folded, removed_at)
		SELECT id, email, email_folded, $2 FROM administrators WHERE id = $1 AND last_sign_in_at IS NOT NULL AND `+unusedIdentity, id, now)
	b.Exec(`DELETE FROM sessions WHERE administrator_id = $1 AND EXISTS
		(SELECT 1 FROM administrators WHERE id = $1 AND `+unusedIdentity+`)`, id, now)
	b.Exec(`DELETE FROM administrators WHERE id = $1 AND `+unusedIdentity, id, now)
}

// sweepLimit is how many identities one sweep removes.
const sweepLimit = 100

// sweepIdentities removes identities that serve no company: those whose invitation
// has expired. They are locked first and looked at again afterwards, because an
// invitation may have been written while the lock was waited for.
func (s *Store) sweepIdentities(ctx context.Context, tx db.Tx) error {
	var ids []int64
	b := &db.Batch{}
	b.Query(appendColumn(&ids), `SELECT administrators.id FROM administrators WHERE administrators.id > $1 AND `+unusedIdentity+`
		ORDER BY administrators.id LIMIT $3`+s.db.ForUpdate("administrators"), 0, tx.Now(), sweepLimit)
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	b = &db.Batch{}
	for _, id := range ids {
		removeUnusedIdentity(b, id, tx.Now())
	}
	return tx.Send(ctx, b)
}

// endOperatorLinks ends the links that sign in without a password. Where one led
// into a company, the administrator joins it now: the operator has vouched for them
// there, and the link cannot be used any more.
func (s *Store) endOperatorLinks(ctx context.Context, tx db.Tx, box *outbox, who *administratorRow, by domain.Actor) error {
	var joined []domain.Membership
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var m domain.Membership
		err := r.Scan(&m.ID, &m.Role)
		joined = append(joined, m)
		return err
	}, `SELECT for_company_id, role FROM sign_in_links
		WHERE administrator_id = $1 AND kind = $2 AND used_at IS NULL AND expires_at > $3 ORDER BY for_company_id`,
		who.ID, string(rune(domain.LinkOperator)), tx.Now())
	b.Exec(`DELETE FROM sign_in_links WHERE administrator_id = $1 AND kind <> $2 AND used_at IS NULL`, who.ID, string(rune(domain.LinkInvitation)))
	if err := tx.Send(ctx, b); err != nil || who.vouchedAt == nil {
		return err
	}
	b = &db.Batch{}
	for _, m := range joined {
		box.joinCompany(b, tx.Now(), newMember{who, m, by})
	}
	return tx.Send(ctx, b)
}
