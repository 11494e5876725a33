package store

import (
	"context"
	"net/netip"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

var tokenColumns = `t.company_id, t.id, t.name, t.last_four, t.scopes, t.allowed, ` + actorLabelSQL("t.created_by") + `, t.created_at, t.expires_at,
	t.revoked_at, t.last_used_at, t.last_used_ip, t.previous_last_four, t.previous_until, ` + companyColumns

func scanToken(r db.Rows, t *domain.Token, more ...any) error {
	var scopes, allowed string
	dest := append([]any{
		&t.CompanyID, &t.ID, &t.Name, &t.LastFour, &scopes, &allowed, &t.CreatedBy, &t.CreatedAt, &t.ExpiresAt,
		&t.RevokedAt, &t.LastUsedAt, &t.LastUsedIP, &t.PreviousLastFour, &t.PreviousUntil,
	}, companyDest(&t.Company)...)
	if err := r.Scan(append(dest, more...)...); err != nil {
		return err
	}
	var err error
	if t.Scopes, err = decodeList[domain.Scope](scopes); err != nil {
		return err
	}
	ranges, err := decodeList[string](allowed)
	if err != nil {
		return err
	}
	t.Allowed, err = domain.ParsePrefixes(ranges)
	return err
}

func encodePrefixes(in []netip.Prefix) string {
	out := make([]string, len(in))
	for i, p := range in {
		out[i] = p.String()
	}
	return encodeList(out)
}

func tokenEntry(t domain.Token, by domain.Actor, action, detail string) domain.AuditEntry {
	return domain.AuditEntry{
		CompanyID: t.CompanyID, Actor: by, Action: action, RecordKind: "token", RecordID: strconv.FormatInt(t.ID, 10), Detail: detail,
	}
}

// CreateToken stores a new token. It locks the company, so that simultaneous calls
// can't exceed the limit together. Codes: company_not_found, invalid_request.
func (s *Store) CreateToken(ctx context.Context, c domain.Caller, n domain.NewToken, digest domain.TokenDigest) (domain.Token, error) {
	out := domain.Token{
		CompanyID: c.Company.ID, Name: n.Name, LastFour: digest.LastFour, Scopes: n.Scopes, Allowed: n.Allowed,
		CreatedBy: c.Actor.Label, ExpiresAt: n.ExpiresAt,
	}
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		found, live := false, 0
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { found = true; return r.Scan(companyDest(&out.Company)...) },
			`SELECT `+companyColumns+` FROM companies c WHERE c.id = $1`+s.db.ForUpdate("c"), c.Company.ID)
		b.Query(func(r db.Rows) error { return r.Scan(&live) }, `SELECT count(*) FROM tokens t
			WHERE t.company_id = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > $2)`, c.Company.ID, s.Now())
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		switch {
		case !found:
			return domain.ErrCompanyNotFound(c.Company.ID)
		case live >= domain.MaxTokens:
			return domain.ErrTooManyTokens
		}
		out.CreatedAt = tx.Now()
		b = &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&out.ID) },
			`INSERT INTO tokens (company_id, name, hash, last_four, scopes, allowed, created_by, created_at, expires_at, last_used_ip, name_folded)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '', $10) RETURNING id`,
			out.CompanyID, out.Name, digest.Hash[:], out.LastFour, encodeList(out.Scopes), encodePrefixes(out.Allowed),
			c.Actor.Ref(), out.CreatedAt, out.ExpiresAt, domain.FoldName(out.Name))
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		b = &db.Batch{}
		box.audit(b, tx.Now(), tokenEntry(out, c.Actor, "token.created", out.Name))
		box.bumpVersion(b, domain.CacheTokens)
		tx.SendAndCommit(b)
		return nil
	})
	return out, err
}

// Tokens lists tokens, the newest first.
func (s *Store) Tokens(ctx context.Context, f domain.TokenFilter, p domain.PageRequest) (domain.Page[domain.Token], error) {
	out := domain.Page[domain.Token]{Items: []domain.Token{}}
	where := tokenConditions(f)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.Total) }, `SELECT count(*) FROM tokens t`+where.where(), where.args...)
	tokenList(f).queue(b, p, &out.Items)
	if err := s.read(ctx, b); err != nil {
		return out, err
	}
	out.Items, out.More = trimPage(out.Items, p.Limit)
	return out, nil
}

func tokenConditions(f domain.TokenFilter) *conditions {
	where := &conditions{}
	where.add("1 = 1")
	if f.CompanyID != 0 {
		where.add("t.company_id = ?", f.CompanyID)
	}
	if f.LiveAt != nil {
		where.add("t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > ?)", *f.LiveAt)
	}
	if search := domain.CleanSearch(f.Search); search != "" {
		where.add(`(`+prefixRange("t.name_folded")+` OR t.last_four = ?)`, append(prefixArgs(domain.FoldName(search)), search)...)
	}
	return where
}

// tokenList returns the tokens that match the filter as a list of pages.
func tokenList(f domain.TokenFilter) pagedList[domain.Token] {
	queue := func(b *db.Batch, p domain.PageRequest, into *[]domain.Token) {
		where := tokenConditions(f)
		if p.After != nil {
			where.add("t.id < ?", p.After.ID)
		}
		text := `SELECT ` + tokenColumns + ` FROM tokens t JOIN companies c ON c.id = t.company_id` +
			where.where() + ` ORDER BY t.id DESC` + where.limit(p)
		b.Query(func(r db.Rows) error {
			var t domain.Token
			err := scanToken(r, &t)
			*into = append(*into, t)
			return err
		}, text, where.args...)
	}
	return pagedList[domain.Token]{queue: queue, cursor: func(t domain.Token) domain.Cursor { return domain.Cursor{ID: t.ID} }}
}

type tokenKey struct{ company, id int64 }

// findToken queues the query for a company's token, or for any company's if
// company is 0. The id stays 0 if there is none.
func findToken(b *db.Batch, key tokenKey, suffix string, into *domain.Token) {
	b.Query(func(r db.Rows) error { return scanToken(r, into) },
		`SELECT `+tokenColumns+` FROM tokens t JOIN companies c ON c.id = t.company_id
		WHERE t.id = $1 AND (t.company_id = $2 OR $2 = 0)`+suffix, key.id, key.company)
}

// Token returns one token of a company, or of any company if company is 0.
// Codes: not_found.
func (s *Store) Token(ctx context.Context, company, id int64) (domain.Token, error) {
	var out domain.Token
	b := &db.Batch{}
	findToken(b, tokenKey{company, id}, "", &out)
	if err := s.read(ctx, b); err != nil {
		return out, err
	}
	if out.ID == 0 {
		return out, domain.ErrTokenNotFound
	}
	return out, nil
}
