package app

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// TokenCreated is a new token; this is the only time that it is shown.
type TokenCreated struct {
	ID    int64  `json:"id"`
	Token string `json:"token"`
}

func (t TokenCreated) String() string {
	return fmt.Sprintf("Token %d is shown only now:\n%s", t.ID, t.Token)
}

// TokenInput describes a token to create.
type TokenInput struct {
	Company int64
	Name    string
	Scopes  []string
	Expires time.Duration // 0 means never
	Allow   []string      // networks it may be used from; empty means any
}

// CreateToken creates an API token.
func (a *App) CreateToken(ctx context.Context, t TokenInput) (TokenCreated, error) {
	c, err := a.caller(ctx, t.Company)
	if err != nil {
		return TokenCreated{}, err
	}
	in := domain.NewToken{CompanyID: t.Company, Name: t.Name}
	for _, s := range t.Scopes {
		in.Scopes = append(in.Scopes, domain.Scope(s))
	}
	if in.Allowed, err = domain.ParsePrefixes(t.Allow); err != nil {
		return TokenCreated{}, domain.Invalid(domain.FieldError{Field: "allow", Message: err.Error()})
	}
	if t.Expires != 0 {
		at := a.store.Now().Add(t.Expires)
		in.ExpiresAt = &at
	}
	token, text, err := a.tokens.Create(ctx, c, in)
	return TokenCreated{ID: token.ID, Token: text}, err
}

// CreatePlatformToken creates a token for the learning platform.
func (a *App) CreatePlatformToken(ctx context.Context, name string) (TokenCreated, error) {
	token, text, err := a.tokens.CreatePlatformToken(ctx, name)
	return TokenCreated{ID: token.ID, Token: text}, err
}

// TokenList lists the tokens of one company or of all.
type TokenList struct {
	Tokens []TokenLine `json:"tokens"`
}

// TokenLine describes one token; the token itself is not stored.
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

// Table implements Table.
func (l TokenList) Table() (header []string, rows [][]string) {
	for _, t := range l.Tokens {
		scopes := make([]string, len(t.Scopes))
		for i, s := range t.Scopes {
			scopes[i] = string(s)
		}
		rows = append(rows, []string{
			strconv.FormatInt(t.ID, 10), strconv.FormatInt(t.CompanyID, 10), t.Name, "…" + t.LastFour, strings.Join(scopes, ","),
			textOr(t.ExpiresAt, "never"), textOr(t.LastUsedAt, "never"), textOr(t.RevokedAt, "no"),
		})
	}
	return []string{"ID", "COMPANY", "NAME", "TOKEN", "SCOPES", "EXPIRES", "LAST USED", "REVOKED"}, rows
}

// ListTokens returns a company's tokens, or those of all companies for 0.
func (a *App) ListTokens(ctx context.Context, company int64) (TokenList, error) {
	out := TokenList{Tokens: []TokenLine{}}
	found, err := a.tokens.List(ctx, domain.TokenFilter{CompanyID: company}, domain.PageRequest{Number: 1, Limit: math.MaxInt32})
	if err != nil {
		return out, err
	}
	for _, t := range found.Items {
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

// TokenRevoked is a token that is no longer accepted.
type TokenRevoked struct {
	ID      int64 `json:"id"`
	Revoked bool  `json:"revoked"`
}

func (t TokenRevoked) String() string { return fmt.Sprintf("Token %d is revoked.", t.ID) }

// RevokeToken revokes a token.
func (a *App) RevokeToken(ctx context.Context, id int64) (TokenRevoked, error) {
	_, err := a.tokens.Revoke(ctx, domain.Caller{Actor: operator()}, id)
	return TokenRevoked{ID: id, Revoked: err == nil}, err
}

// PlatformTokenList lists the learning platform's tokens.
type PlatformTokenList struct {
	Tokens []PlatformTokenLine `json:"tokens"`
}

// PlatformTokenLine describes one token; the token itself is not stored.
type PlatformTokenLine struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	LastFour  string  `json:"lastFour"`
	CreatedAt string  `json:"createdAt"`
	RevokedAt *string `json:"revokedAt"`
}

// Table implements Table.
func (l PlatformTokenList) Table() (header []string, rows [][]string) {
	for _, t := range l.Tokens {
		rows = append(rows, []string{strconv.FormatInt(t.ID, 10), t.Name, "…" + t.LastFour, t.CreatedAt, textOr(t.RevokedAt, "no")})
	}
	return []string{"ID", "NAME", "TOKEN", "CREATED", "REVOKED"}, rows
}

// ListPlatformTokens returns the learning platform's tokens.
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

// RevokePlatformToken revokes a token of the learning platform.
func (a *App) RevokePlatformToken(ctx context.Context, id int64) (TokenRevoked, error) {
	_, err := a.tokens.RevokePlatformToken(ctx, id)
	return TokenRevoked{ID: id, Revoked: err == nil}, err
}
