package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// AllEndpoints returns the webhooks of all companies, except removed ones.
func (s *Store) AllEndpoints(ctx context.Context) (out []domain.Endpoint, err error) {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.Endpoint
		err := scanEndpoint(r, &e)
		out = append(out, e)
		return err
	}, `SELECT `+endpointColumns+` FROM endpoints WHERE removed_at IS NULL ORDER BY company_id, id`)
	err = s.read(ctx, b)
	return out, err
}

// SecondFactors returns the administrators who have begun to set up a second factor,
// with its encrypted secret.
func (s *Store) SecondFactors(ctx context.Context) (out []domain.SealedFactor, err error) {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var f domain.SealedFactor
		err := r.Scan(&f.AdministratorID, &f.Email, &f.Secret)
		out = append(out, f)
		return err
	}, `SELECT id, email, totp_secret FROM administrators WHERE totp_secret IS NOT NULL ORDER BY id`)
	err = s.read(ctx, b)
	return out, err
}

// ReplaceLostSecret puts a new secret in the place of one that cannot be read. Codes:
// not_found.
func (s *Store) ReplaceLostSecret(ctx context.Context, c domain.Caller, id int64, secret domain.SealedSecret) error {
	_, err := s.changeEndpoint(ctx, c, id, endpointWrite{
		set:    `secret = $3, previous_secret = NULL, previous_until = NULL, headers = NULL`,
		action: "webhook.secret_rotated", detail: "The secret before was lost with the key, and so were its own headers.",
		args: func(time.Time, []domain.EventKind) []any { return []any{[]byte(secret)} },
	})
	return err
}

// DropLostFactor removes the second factor of an administrator. Codes: not_found.
func (s *Store) DropLostFactor(ctx context.Context, by domain.Actor, administrator int64) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, err := s.lockAdministratorID(ctx, tx, administrator)
		if err != nil {
			return err
		}
		b := &db.Batch{}
		dropFactor(b, administrator)
		box.audit(b, tx.Now(), who.entries(by, "second_factor.removed")...)
		return tx.Send(ctx, b)
	})
}
