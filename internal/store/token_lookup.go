package store

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// TokenByHash looks up a token with its company, by its secret or, during the grace
// period of a regeneration, by the one before.
func (s *Store) TokenByHash(ctx context.Context, hash [sha256.Size]byte) (domain.TokenLookup[domain.Token], error) {
	var out domain.TokenLookup[domain.Token]
	var isPrevious bool
	b := &db.Batch{}
	readVersion(b, domain.CacheTokens, &out.Version)
	b.Query(func(r db.Rows) error { out.Found = true; return scanToken(r, &out.Token, &isPrevious) },
		`SELECT `+tokenColumns+`, t.hash <> $1 FROM tokens t JOIN companies c ON c.id = t.company_id
		WHERE t.hash = $1 OR t.previous_hash = $1`, hash[:])
	err := s.read(ctx, b)
	if isPrevious {
		out.Token = out.Token.AsPrevious()
	}
	return out, err
}

// NoteTokenUses stores when tokens were last used, in one statement.
func (s *Store) NoteTokenUses(ctx context.Context, uses []domain.TokenUse) error {
	if len(uses) == 0 {
		return nil
	}
	rows, args := s.db.ValuesTable(1, db.Columns(uses,
		db.IntColumn("company_id", func(u *domain.TokenUse) int64 { return u.CompanyID }),
		db.IntColumn("id", func(u *domain.TokenUse) int64 { return u.TokenID }),
		db.TimeColumn("at", func(u *domain.TokenUse) time.Time { return u.At }),
		db.TextColumn("address", func(u *domain.TokenUse) string { return u.Address }))...)
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `UPDATE tokens SET last_used_at = u.at, last_used_ip = u.address FROM `+rows+` u
			WHERE tokens.company_id = u.company_id AND tokens.id = u.id
			AND (tokens.last_used_at IS NULL OR tokens.last_used_at < u.at)`, args...)
		return err
	})
}

const platformColumns = `p.id, p.name, p.last_four, p.created_at, p.revoked_at`

func platformTokenDest(p *domain.PlatformToken) []any {
	return []any{&p.ID, &p.Name, &p.LastFour, &p.CreatedAt, &p.RevokedAt}
}

// PlatformTokenByHash looks up a token of the learning platform.
func (s *Store) PlatformTokenByHash(ctx context.Context, hash [sha256.Size]byte) (domain.TokenLookup[domain.PlatformToken], error) {
	var out domain.TokenLookup[domain.PlatformToken]
	b := &db.Batch{}
	readVersion(b, domain.CacheTokens, &out.Version)
	b.Query(func(r db.Rows) error { out.Found = true; return r.Scan(platformTokenDest(&out.Token)...) },
		`SELECT `+platformColumns+` FROM platform_tokens p WHERE p.hash = $1`, hash[:])
	err := s.read(ctx, b)
	return out, err
}

// CreatePlatformToken stores a new token of the learning platform.
func (s *Store) CreatePlatformToken(ctx context.Context, by domain.Actor, name string, digest domain.TokenDigest) (domain.PlatformToken, error) {
	out := domain.PlatformToken{Name: name, LastFour: digest.LastFour}
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		if err := tx.Send(ctx, &db.Batch{}); err != nil {
			return err
		}
		out.CreatedAt = tx.Now()
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&out.ID) },
			`INSERT INTO platform_tokens (name, hash, last_four, created_at) VALUES ($1, $2, $3, $4) RETURNING id`,
			name, digest.Hash[:], digest.LastFour, out.CreatedAt)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		b = &db.Batch{}
		auditPlatform(b, tx.Now(), platformEntry(by, "platform_token.created", "platform_token", out.ID))
		box.bumpVersion(b, domain.CacheTokens)
		return tx.Send(ctx, b)
	})
	return out, err
}

// PlatformTokens lists the learning platform's tokens, the newest first.
func (s *Store) PlatformTokens(ctx context.Context) ([]domain.PlatformToken, error) {
	out := []domain.PlatformToken{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var p domain.PlatformToken
		err := r.Scan(platformTokenDest(&p)...)
		out = append(out, p)
		return err
	}, `SELECT `+platformColumns+` FROM platform_tokens p ORDER BY p.id DESC`)
	err := s.read(ctx, b)
	return out, err
}

// RevokePlatformToken ends a token of the learning platform. Revoking it again
// changes nothing. Codes: not_found.
func (s *Store) RevokePlatformToken(ctx context.Context, by domain.Actor, id int64) (domain.PlatformToken, error) {
	var out domain.PlatformToken
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		found := false
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { found = true; return r.Scan(platformTokenDest(&out)...) },
			`SELECT `+platformColumns+` FROM platform_tokens p WHERE p.id = $1`+s.db.ForUpdate("p"), id)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if !found {
			return domain.ErrTokenNotFound
		}
		if out.RevokedAt != nil {
			return nil
		}
		now := tx.Now()
		out.RevokedAt = &now
		b = &db.Batch{}
		b.Exec(`UPDATE platform_tokens SET revoked_at = $2 WHERE id = $1`, id, now)
		auditPlatform(b, now, platformEntry(by, "platform_token.revoked", "platform_token", id))
		box.bumpVersion(b, domain.CacheTokens)
		tx.SendAndCommit(b)
		return nil
	})
	return out, err
}
