package service_test

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// counted is a real store that counts what is asked of it, and can hold a look
// for a token up or fail.
type counted struct {
	*store.Store
	looks, polls, flushes atomic.Int64
	broken                atomic.Bool
	looked                func() // called with what was read, before it is given
}

var errBroken = errors.New("broken on purpose")

func (c *counted) TokenByHash(ctx context.Context, hash [32]byte) (domain.Looked[domain.Token], error) {
	c.looks.Add(1)
	if c.broken.Load() {
		return domain.Looked[domain.Token]{}, errBroken
	}
	out, err := c.Store.TokenByHash(ctx, hash)
	if c.looked != nil {
		c.looked()
	}
	return out, err
}

func (c *counted) TokenVersion(ctx context.Context) (int64, error) {
	c.polls.Add(1)
	if c.broken.Load() {
		return 0, errBroken
	}
	return c.Store.TokenVersion(ctx)
}

func (c *counted) NoteTokenUses(ctx context.Context, uses []domain.TokenUse) error {
	c.flushes.Add(1)
	if c.broken.Load() {
		return errBroken
	}
	return c.Store.NoteTokenUses(ctx, uses)
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, _ := o.company("anna@x.test")
		soon := o.store.Now().Add(time.Hour)
		allowed, err := domain.ParsePrefixes([]string{"198.51.100.0/24", "2001:db8::1"})
		must(o.t, "parse", err)
		token, secret, err := o.tokens.Create(ctx, o.caller(acme), domain.NewToken{
			Name: "HR", Scopes: []domain.Scope{domain.ScopeRead}, Allowed: allowed, ExpiresAt: &soon,
		})
		must(o.t, "create", err)
		inside := netip.MustParseAddr("::ffff:198.51.100.9")
		for range 2 { // from the database, then from memory
			got, err := o.tokens.Authenticate(ctx, secret, inside)
			if err != nil || got.ID != token.ID || got.Company != acme || !got.Has(domain.ScopeRead) || got.Has(domain.ScopeProvision) {
				o.t.Errorf("authenticate: %+v, %v", got, err)
			}
			for _, addr := range []netip.Addr{netip.MustParseAddr("203.0.113.1"), netip.MustParseAddr("2001:db8::2"), nowhere} {
				got, err = o.tokens.Authenticate(ctx, secret, addr)
				wantCode(o.t, "from "+addr.String(), err, domain.CodeAddressNotAllowed)
				if got.ID != 0 {
					o.t.Error("a refusal gives the token away")
				}
			}
			for name, bad := range map[string]string{
				"nothing": "", "short": "cb_x", "unknown": domain.MintToken(), "with a space": secret + " ", "another case": "CB_" + secret[3:],
			} {
				_, err := o.tokens.Authenticate(ctx, bad, inside)
				wantErr(o.t, name, err, domain.ErrUnauthorized)
			}
		}
		o.exec(`UPDATE tokens SET expires_at = $1 WHERE id = $2`, o.store.Now(), token.ID)
		fresh := service.NewTokens(o.store, service.TokenOptions{})
		for range 2 {
			_, err := fresh.Authenticate(ctx, secret, inside)
			wantErr(o.t, "expired", err, domain.ErrUnauthorized)
		}
	})
}

// A token that runs out while it is in memory is refused at that instant.
func TestAuthenticateExpiresInMemory(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		acme, _ := o.company("anna@x.test")
		now := time.Now()
		tokens := service.NewTokens(o.store, service.TokenOptions{Now: func() time.Time { return now }})
		expires := now.Add(100 * time.Millisecond)
		_, secret, err := tokens.Create(o.t.Context(), o.caller(acme), domain.NewToken{Name: "HR", ExpiresAt: &expires})
		must(o.t, "create", err)
		_, err = tokens.Authenticate(o.t.Context(), secret, nowhere)
		must(o.t, "before", err)
		now = now.Add(100 * time.Millisecond)
		_, err = tokens.Authenticate(o.t.Context(), secret, nowhere)
		wantErr(o.t, "after", err, domain.ErrUnauthorized)
	})
}

func TestAuthenticateAsksOnce(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		acme, _ := o.company("anna@x.test")
		_, secret := o.token(acme)
		now := time.Now()
		s := &counted{Store: o.store}
		tokens := service.NewTokens(s, service.TokenOptions{Now: func() time.Time { return now }})
		unknown := domain.MintToken()
		for range 1000 {
			_, err := tokens.Authenticate(o.t.Context(), secret, nowhere)
			must(o.t, "authenticate", err)
			_, err = tokens.Authenticate(o.t.Context(), unknown, nowhere)
			wantErr(o.t, "unknown", err, domain.ErrUnauthorized)
		}
		if n := s.looks.Load(); n != 2 {
			o.t.Errorf("2000 requests with two tokens looked %d times", n)
		}
	})
}

// elsewhere is another process on the same database.
func elsewhere(t *testing.T, s *store.Store) office {
	t.Helper()
	return newOffice(t, storetest.Reopen(t, s))
}
