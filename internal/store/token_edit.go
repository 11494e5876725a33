package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// ChangeToken renames a token or changes where it may be used from. Codes: not_found.
func (s *Store) ChangeToken(ctx context.Context, c domain.Caller, id int64, change domain.TokenChange) (domain.Token, error) {
	return s.editToken(ctx, c, id, func(t *tokenEdit) error {
		if change.Name != nil && *change.Name != t.Name {
			t.Name = *change.Name
			t.audit(c, "token.renamed", t.Name)
		}
		if change.Allowed != nil && !slices.Equal(*change.Allowed, t.Allowed) {
			t.Allowed = *change.Allowed
			t.audit(c, "token.restricted", strconv.Itoa(len(t.Allowed))+" allowed addresses.")
		}
		return nil
	})
}

// RegenerateToken replaces a token's secret and expiry. The replaced secret works for
// the grace period, but not longer than it would have without. Codes: not_found,
// invalid_request if the token has ended.
func (s *Store) RegenerateToken(ctx context.Context, c domain.Caller, id int64, r domain.TokenRegeneration, digest domain.TokenDigest) (domain.Token, error) {
	return s.editToken(ctx, c, id, func(t *tokenEdit) error {
		if !t.Live(t.now) {
			return domain.ErrTokenEnded
		}
		until := t.now.Add(r.Grace)
		if t.ExpiresAt != nil && t.ExpiresAt.Before(until) {
			until = *t.ExpiresAt
		}
		t.PreviousLastFour, t.PreviousUntil = t.LastFour, &until
		t.LastFour, t.ExpiresAt = digest.LastFour, r.ExpiresAt
		t.batch.Exec(`UPDATE tokens SET previous_hash = hash, hash = $3, last_four = $4, previous_last_four = last_four, previous_until = $5, expires_at = $6
			WHERE company_id = $1 AND id = $2`, t.CompanyID, t.ID, digest.Hash[:], t.LastFour, until, t.ExpiresAt)
		t.audit(c, "token.regenerated", fmt.Sprintf("%s. The secret ending in %s works until %s.",
			t.Name, t.PreviousLastFour, until.UTC().Format("2 Jan 2006, 15:04 UTC")))
		return nil
	})
}

// EndPreviousToken ends the grace period of a regenerated token; without one it
// changes nothing. Codes: not_found.
func (s *Store) EndPreviousToken(ctx context.Context, c domain.Caller, id int64) (domain.Token, error) {
	return s.editToken(ctx, c, id, func(t *tokenEdit) error {
		if !t.Regenerated(t.now) {
			return nil
		}
		t.PreviousUntil = &t.now
		t.batch.Exec(`UPDATE tokens SET previous_until = $3 WHERE company_id = $1 AND id = $2`, t.CompanyID, t.ID, t.now)
		t.audit(c, "token.old_secret_stopped", fmt.Sprintf("%s. The secret ending in %s stopped working.", t.Name, t.PreviousLastFour))
		return nil
	})
}

// RevokeToken ends a token for good. Revoking it again changes nothing. Codes:
// not_found.
func (s *Store) RevokeToken(ctx context.Context, c domain.Caller, id int64) (domain.Token, error) {
	return s.editToken(ctx, c, id, func(t *tokenEdit) error {
		if t.RevokedAt == nil {
			t.RevokedAt = &t.now
			t.audit(c, "token.revoked", t.Name)
		}
		return nil
	})
}

// tokenEdit is a change to a locked token.
type tokenEdit struct {
	domain.Token
	now     time.Time
	batch   *db.Batch // statements in addition to the stored name, addresses and revocation
	entries []domain.AuditEntry
}

func (t *tokenEdit) audit(c domain.Caller, action, detail string) {
	t.entries = append(t.entries, tokenEntry(t.Token, c.Actor, action, detail))
}

// editToken calls edit with the locked token and stores it. If edit adds no audit
// entry, nothing has changed and nothing is stored.
func (s *Store) editToken(ctx context.Context, c domain.Caller, id int64, edit func(*tokenEdit) error) (domain.Token, error) {
	var out domain.Token
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		t := &tokenEdit{batch: &db.Batch{}}
		b := &db.Batch{}
		findToken(b, tokenKey{c.Company.ID, id}, s.db.ForUpdate("t"), &t.Token)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if t.ID == 0 {
			return domain.ErrTokenNotFound
		}
		t.now = tx.Now()
		if err := edit(t); err != nil {
			return err
		}
		out = t.Token
		if len(t.entries) == 0 {
			return nil
		}
		t.batch.Exec(`UPDATE tokens SET name = $3, allowed = $4, revoked_at = $5, name_folded = $6 WHERE company_id = $1 AND id = $2`,
			t.CompanyID, t.ID, t.Name, encodePrefixes(t.Allowed), t.RevokedAt, domain.FoldName(t.Name))
		for _, e := range t.entries {
			box.audit(t.batch, t.now, e)
		}
		box.bumpVersion(t.batch, domain.CacheTokens)
		tx.SendAndCommit(t.batch)
		return nil
	})
	return out, err
}
