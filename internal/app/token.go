package app

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// TokenCreated is a new token, the only time it is shown.
type TokenCreated struct {
	ID    int64  `json:"id"`
	Token string `json:"token"`
}

func (t TokenCreated) String() string {
	return fmt.Sprintf("Token %d, shown this once:\n%s", t.ID, t.Token)
}

// CreateToken makes an API token; expires 0 is never.
func (a *App) CreateToken(ctx context.Context, company int64, name string, scopes []string, expires time.Duration, allow []string) (TokenCreated, error) {
	c, err := a.caller(ctx, company)
	if err != nil {
		return TokenCreated{}, err
	}
	in := domain.NewToken{CompanyID: company, Name: name}
	for _, s := range scopes {
		in.Scopes = append(in.Scopes, domain.Scope(s))
	}
	if in.Allowed, err = domain.ParsePrefixes(allow); err != nil {
		return TokenCreated{}, domain.Invalid(domain.FieldError{Field: "allow", Message: err.Error()})
	}
	if expires != 0 {
		at := a.store.Now().Add(expires)
		in.ExpiresAt = &at
	}
	token, text, err := a.tokens.Create(ctx, c, in)
	return TokenCreated{ID: token.ID, Token: text}, err
}

// CreatePlatformToken makes a token for the learning platform.
func (a *App) CreatePlatformToken(ctx context.Context, name string) (TokenCreated, error) {
	token, text, err := a.tokens.CreatePlatformToken(ctx, name)
	return TokenCreated{ID: token.ID, Token: text}, err
}

// TokenList is the tokens of one company or of all.
type TokenList struct {
	Tokens []TokenLine `json:"tokens"`
}

// TokenLine is one token of a list; the token itself can't be shown.
type TokenLine struct {
	ID         int64          `json:"id"`
	CompanyID  int64          `json:"companyId"`
	Name       string         `json:"name"`
	LastFour   string         `json:"lastFour"`
	Scopes     []domain.Scope `json:"scopes"`
	CreatedAt  string         `json:"createdAt"`
	ExpiresAt  *string        `json:"expiresAt"`
	RevokedAt  *string        `json:"revokedAt"`
	LastUsedAt *string        `json:"lastUsedAt"`
}

// ListTokens gives a company's tokens, all companies' for 0.
func (a *App) ListTokens(ctx context.Context, company int64) (TokenList, error) {
	out := TokenList{Tokens: []TokenLine{}}
	slice, err := a.tokens.List(ctx, domain.TokenFilter{CompanyID: company}, domain.PageRequest{Number: 1, Limit: math.MaxInt32})
	if err != nil {
		return out, err
	}
	for _, t := range slice.Items {
		out.Tokens = append(out.Tokens, TokenLine{
			ID: t.ID, CompanyID: t.CompanyID, Name: t.Name, LastFour: t.LastFour, Scopes: t.Scopes,
			CreatedAt: domain.FormatInstant(t.CreatedAt), ExpiresAt: instantOrNil(t.ExpiresAt),
			RevokedAt: instantOrNil(t.RevokedAt), LastUsedAt: instantOrNil(t.LastUsedAt),
		})
	}
	return out, nil
}

func instantOrNil(t *time.Time) *string {
	if t == nil {
		return nil
	}
	s := domain.FormatInstant(*t)
	return &s
}

// TokenRevoked is a token that opens nothing any more.
type TokenRevoked struct {
	ID      int64 `json:"id"`
	Revoked bool  `json:"revoked"`
}

func (t TokenRevoked) String() string { return fmt.Sprintf("Token %d is revoked.", t.ID) }

// RevokeToken ends a token.
func (a *App) RevokeToken(ctx context.Context, id int64) (TokenRevoked, error) {
	_, err := a.tokens.Revoke(ctx, domain.Caller{Actor: operator()}, id)
	return TokenRevoked{ID: id, Revoked: err == nil}, err
}

// PlatformTokenList is the learning platform's tokens.
type PlatformTokenList struct {
	Tokens []PlatformTokenLine `json:"tokens"`
}

// PlatformTokenLine is one token of a list; the token itself can't be shown.
type PlatformTokenLine struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	LastFour  string  `json:"lastFour"`
	CreatedAt string  `json:"createdAt"`
	RevokedAt *string `json:"revokedAt"`
}

// ListPlatformTokens gives the learning platform's tokens.
func (a *App) ListPlatformTokens(ctx context.Context) (PlatformTokenList, error) {
	out := PlatformTokenList{Tokens: []PlatformTokenLine{}}
	tokens, err := a.tokens.PlatformTokens(ctx)
	for _, t := range tokens {
		out.Tokens = append(out.Tokens, PlatformTokenLine{
			ID: t.ID, Name: t.Name, LastFour: t.LastFour, CreatedAt: domain.FormatInstant(t.CreatedAt), RevokedAt: instantOrNil(t.RevokedAt),
		})
	}
	return out, err
}

// RevokePlatformToken ends a token of the learning platform.
func (a *App) RevokePlatformToken(ctx context.Context, id int64) (TokenRevoked, error) {
	_, err := a.tokens.RevokePlatformToken(ctx, id)
	return TokenRevoked{ID: id, Revoked: err == nil}, err
}
