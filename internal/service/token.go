package service

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Create makes a token of the caller's company and returns its secret, which
// cannot be read again. Codes: invalid_request, company_not_found.
func (t *Tokens) Create(ctx context.Context, c domain.Caller, n domain.NewToken) (domain.Token, string, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Token{}, "", err
	}
	if err := n.Normalize(t.opt.Now()); err != nil {
		return domain.Token{}, "", err
	}
	if n.ExpiresAt != nil {
		at := domain.NormalizeTime(*n.ExpiresAt)
		n.ExpiresAt = &at
	}
	secret := domain.GenerateToken()
	token, err := t.store.CreateToken(ctx, c, n, domain.DigestToken(secret))
	if err != nil {
		return domain.Token{}, "", err
	}
	return token, secret, nil
}

// List returns tokens, the newest first.
func (t *Tokens) List(ctx context.Context, f domain.TokenFilter, p domain.PageRequest) (domain.Page[domain.Token], error) {
	return t.store.Tokens(ctx, f, p)
}

// Get returns one token of the caller's company. Codes: not_found.
func (t *Tokens) Get(ctx context.Context, c domain.Caller, id int64) (domain.Token, error) {
	return t.store.Token(ctx, c.Company.ID, id)
}

// Rename changes the name of a token. Codes: invalid_request, not_found.
func (t *Tokens) Rename(ctx context.Context, c domain.Caller, id int64, name string) (domain.Token, error) {
	return t.Change(ctx, c, id, domain.TokenChange{Name: &name})
}

// Change renames a token or changes where it may be used from. Codes:
// invalid_request, not_found.
func (t *Tokens) Change(ctx context.Context, c domain.Caller, id int64, change domain.TokenChange) (domain.Token, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Token{}, err
	}
	if err := change.Normalize(); err != nil {
		return domain.Token{}, err
	}
	return t.store.ChangeToken(ctx, c, id, change)
}

// Regenerate replaces the secret of a token and returns the new one, which cannot be
// read again. The replaced secret works for the grace period, the one before that no
// longer. Codes: invalid_request, also if the token has ended; not_found.
func (t *Tokens) Regenerate(ctx context.Context, c domain.Caller, id int64, r domain.TokenRegeneration) (domain.Token, string, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Token{}, "", err
	}
	if err := r.Check(t.opt.Now()); err != nil {
		return domain.Token{}, "", err
	}
	if r.ExpiresAt != nil {
		at := domain.NormalizeTime(*r.ExpiresAt)
		r.ExpiresAt = &at
	}
	secret := domain.GenerateToken()
	token, err := t.store.RegenerateToken(ctx, c, id, r, domain.DigestToken(secret))
	if err != nil {
		return domain.Token{}, "", err
	}
	return token, secret, nil
}

// EndPrevious ends the grace period of a regenerated token. Codes: not_found.
func (t *Tokens) EndPrevious(ctx context.Context, c domain.Caller, id int64) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	_, err := t.store.EndPreviousToken(ctx, c, id)
	return err
}

// Revoke ends a token for good, on every replica within a second. Revoking it
// again changes nothing. The operator, whose calls have no company, may revoke
// any token. Codes: not_found.
func (t *Tokens) Revoke(ctx context.Context, c domain.Caller, id int64) (domain.Token, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Token{}, err
	}
	if c.Company.ID == 0 && c.Actor.Kind != domain.ActorOperator {
		return domain.Token{}, domain.ErrTokenNotFound
	}
	return t.store.RevokeToken(ctx, c, id)
}

// operator is who manages the learning platform's tokens: nobody else can.
var operator = domain.Actor{Kind: domain.ActorOperator, Label: "operator"}

// CreatePlatformToken makes a token for the learning platform and returns its
// secret, which cannot be read again. Codes: invalid_request.
func (t *Tokens) CreatePlatformToken(ctx context.Context, name string) (domain.PlatformToken, string, error) {
	var checks domain.Checks
	name, err := domain.NormalizeName(name)
	checks.Add("name", err)
	if err := checks.Err(); err != nil {
		return domain.PlatformToken{}, "", err
	}
	secret := domain.GenerateToken()
	token, err := t.store.CreatePlatformToken(ctx, operator, name, domain.DigestToken(secret))
	if err != nil {
		return domain.PlatformToken{}, "", err
	}
	return token, secret, nil
}

// PlatformTokens lists the learning platform's tokens, the newest first.
func (t *Tokens) PlatformTokens(ctx context.Context) ([]domain.PlatformToken, error) {
	return t.store.PlatformTokens(ctx)
}

// RevokePlatformToken ends a token of the learning platform. Revoking it again
// changes nothing. Codes: not_found.
func (t *Tokens) RevokePlatformToken(ctx context.Context, id int64) (domain.PlatformToken, error) {
	return t.store.RevokePlatformToken(ctx, operator, id)
}
