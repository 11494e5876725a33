package domain

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Scope is a permission of a token.
type Scope string

// The scopes. The base scope is in every token.
const (
	ScopeBase       Scope = "b2b_api"
	ScopeRead       Scope = "b2b_read"
	ScopeProvision  Scope = "b2b_provision"
	ScopeAssignment Scope = "b2b_assignment"
)

// Scopes lists every scope in the order it is shown.
var Scopes = []Scope{ScopeBase, ScopeRead, ScopeProvision, ScopeAssignment}

const (
	tokenPrefix = "cb_"
	tokenDigits = 43
	base62      = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// MaxTokens is how many tokens a company can have that are neither revoked nor
// expired.
const MaxTokens = 200

// Token lets a system of one company call the API. The secret itself is not a
// field: only its hash is ever stored.
type Token struct {
	CompanyID  int64
	ID         int64
	Name       string
	LastFour   string
	Scopes     []Scope
	Allowed    []netip.Prefix // empty: from anywhere
	CreatedBy  string
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	RevokedAt  *time.Time
	LastUsedAt *time.Time
	LastUsedIP string // the address of the last use
	Company    Company

	// The secret before the last regeneration, which may still be used.
	PreviousLastFour string
	PreviousUntil    *time.Time
}

// Regenerated reports whether the secret before the last regeneration still works
// at now.
func (t Token) Regenerated(now time.Time) bool {
	return t.RevokedAt == nil && t.PreviousUntil != nil && now.Before(*t.PreviousUntil)
}

// AsPrevious returns the token as the bearer of its previous secret has it: it ends
// with the grace period.
func (t Token) AsPrevious() Token {
	if t.PreviousUntil != nil && (t.ExpiresAt == nil || t.PreviousUntil.Before(*t.ExpiresAt)) {
		t.ExpiresAt = t.PreviousUntil
	}
	return t
}

// Has reports whether the token carries the scope.
func (t Token) Has(s Scope) bool { return s == ScopeBase || slices.Contains(t.Scopes, s) }

// Live reports whether the token is neither revoked nor expired at now.
func (t Token) Live(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || now.Before(*t.ExpiresAt))
}

// AllowsAddress reports whether a call may come from this address.
func (t Token) AllowsAddress(addr netip.Addr) bool {
	if len(t.Allowed) == 0 {
		return true
	}
	addr = addr.Unmap()
	return slices.ContainsFunc(t.Allowed, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// NewToken describes a token to be created.
type NewToken struct {
	CompanyID int64
	Name      string
	Scopes    []Scope
	Allowed   []netip.Prefix
	ExpiresAt *time.Time
}

// Normalize normalises the input and reports every field that is wrong.
func (n *NewToken) Normalize(now time.Time) error {
	var c Checks
	var err error
	n.Name, err = NormalizeName(n.Name)
	c.Add("name", err)
	scopes := []Scope{ScopeBase}
	for _, s := range n.Scopes {
		if !slices.Contains(Scopes, s) {
			c.Add("scope", fmt.Errorf("must be one of b2b_read, b2b_provision, b2b_assignment, not %q", s))
		} else if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	n.Scopes = scopes
	if len(n.Allowed) > MaxAllowed {
		c.Add("allowed", fmt.Errorf("must be at most %d addresses or ranges", MaxAllowed))
	}
	c.Add("expires", checkExpiry(n.ExpiresAt, now))
	return c.Err()
}

func checkExpiry(at *time.Time, now time.Time) error {
	switch {
	case at == nil:
		return nil
	case !at.After(now):
		return errors.New("must lie in the future")
	}
	return CheckInstant(*at)
}

// MaxTokenGrace is how long a replaced secret of a token can keep working.
const MaxTokenGrace = 30 * 24 * time.Hour

// TokenRegeneration replaces the secret of a token.
type TokenRegeneration struct {
	Grace     time.Duration // how long the replaced secret keeps working
	ExpiresAt *time.Time    // of the token from now on; nil: never
}

// Check reports every field that is wrong.
func (r TokenRegeneration) Check(now time.Time) error {
	var c Checks
	if r.Grace < 0 || r.Grace > MaxTokenGrace {
		c.Add("grace", errors.New("must be between now and 30 days"))
	}
	c.Add("expires", checkExpiry(r.ExpiresAt, now))
	return c.Err()
}

// MaxAllowed is how many address ranges a token can be limited to.
const MaxAllowed = 100

// TokenFilter narrows a list; zero fields do not.
type TokenFilter struct {
	CompanyID int64
	LiveAt    *time.Time // neither revoked nor expired then
	Search    string     // the beginning of a name, or the last four characters
}

// TokenChange changes a token; nil fields stay.
type TokenChange struct {
	Name    *string
	Allowed *[]netip.Prefix
}

// Normalize normalises the input and reports every field that is wrong.
func (t *TokenChange) Normalize() error {
	var c Checks
	if t.Name != nil {
		name, err := NormalizeName(*t.Name)
		c.Add("name", err)
		t.Name = &name
	}
	if t.Allowed != nil && len(*t.Allowed) > MaxAllowed {
		c.Add("allowed", fmt.Errorf("must be at most %d addresses or ranges", MaxAllowed))
	}
	return c.Err()
}

// TokenDigest is the stored form of a token's secret.
type TokenDigest struct {
	Hash     [sha256.Size]byte
	LastFour string
}

// DigestToken returns the stored form of a token's secret.
func DigestToken(token string) TokenDigest {
	return TokenDigest{Hash: sha256.Sum256([]byte(token)), LastFour: token[len(token)-4:]}
}

// TokenLookup is the result of looking up a token by its hash. Version is the version
// of all tokens that was read before: the token is at least as new.
type TokenLookup[T any] struct {
	Version int64
	Found   bool
	Token   T
}

// TokenUse is the last use of a token.
type TokenUse struct {
	CompanyID int64
	TokenID   int64
	At        time.Time
	Address   string
}

// mappedBits is the length of ::ffff:0:0/96, which holds the IPv4 addresses.
const mappedBits = 96

// ParsePrefixes reads a list of addresses and CIDR ranges.
func ParsePrefixes(in []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range in {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		if addr, err := netip.ParseAddr(s); err == nil {
			addr = addr.Unmap().WithZone("")
			out = append(out, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a range such as 203.0.113.0/24", s)
		}
		// Addresses are compared as IPv4 where they are, so a range of them must be too.
		if p = p.Masked(); p.Addr().Is4In6() {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
		}
		out = append(out, p)
	}
	return out, nil
}

// GenerateToken makes a new secret token: the prefix and 43 base62 characters, 256 bits.
func GenerateToken() string {
	limit := new(big.Int).Lsh(big.NewInt(1), 256)
	n, err := rand.Int(rand.Reader, limit)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	digits := make([]byte, tokenDigits)
	base, digit := big.NewInt(62), new(big.Int)
	for i := range digits {
		n.DivMod(n, base, digit)
		digits[tokenDigits-1-i] = base62[digit.Int64()]
	}
	return tokenPrefix + string(digits)
}

// HashToken returns the hash that is stored and looked up; ok is false for a string
// that cannot be a token.
func HashToken(token string) (hash [sha256.Size]byte, ok bool) {
	if len(token) != len(tokenPrefix)+tokenDigits || !strings.HasPrefix(token, tokenPrefix) {
		return hash, false
	}
	// A copy of known size stays on the stack.
	var text [len(tokenPrefix) + tokenDigits]byte
	copy(text[:], token)
	return sha256.Sum256(text[:]), true
}

// PlatformToken lets the learning platform report what learners do.
type PlatformToken struct {
	ID        int64
	Name      string
	LastFour  string
	CreatedAt time.Time
	RevokedAt *time.Time
}

// ErrUnauthorized is the answer to every token that is missing or not accepted.
var ErrUnauthorized = Errorf(CodeUnauthorized, "Missing or invalid token. Send the header \"Authorization: Bearer <ACCESS_TOKEN>\" with a token made in the business cabinet under Integrations, Tokens.")

// Errors about tokens.
var (
	ErrTokenNotFound     = Errorf(CodeNotFound, "There is no such token. List the company's tokens to find its id.")
	ErrTokenEnded        = Errorf(CodeInvalid, "This token is revoked or expired. Create a new one instead.")
	ErrTooManyTokens     = Errorf(CodeInvalid, "A company can have at most %d tokens. Revoke one that is not needed any more.", MaxTokens)
	ErrAddressNotAllowed = Errorf(CodeAddressNotAllowed, "This token may not be used from your network address. Ask the company's administrator to allow it in the business cabinet under Integrations, Tokens.")
)
