package service_test

import (
	"context"
	"errors"
	"net/netip"
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

func (c *counted) TokenByHash(ctx context.Context, hash [32]byte) (domain.TokenLookup[domain.Token], error) {
	c.looks.Add(1)
	if c.broken.Load() {
		return domain.TokenLookup[domain.Token]{}, errBroken
	}
	out, err := c.Store.TokenByHash(ctx, hash)
	if c.looked != nil {
		c.looked()
	}
	return out, err
}

func (c *counted) CacheVersions(ctx context.Context) (domain.CacheVersions, error) {
	c.polls.Add(1)
	if c.broken.Load() {
		return nil, errBroken
	}
	return c.Store.CacheVersions(ctx)
}

func (c *counted) NoteTokenUses(ctx context.Context, uses []domain.TokenUse) error {
	c.flushes.Add(1)
	if c.broken.Load() {
		return errBroken
	}
	return c.Store.NoteTokenUses(ctx, uses)
}

// watchedTokenStore is a store of tokens and of their version.
type watchedTokenStore interface {
	service.TokenStore
	service.VersionStore
}

// newTokens returns tokens with a watcher that does not run, by a clock.
func newTokens(s watchedTokenStore, now func() time.Time) *service.Tokens {
	return service.NewTokens(s, service.NewWatcher(s, service.WatcherOptions{Now: now}), service.TokenOptions{Now: now})
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, _ := f.company("anna@x.test")
		soon := f.store.Now().Add(time.Hour)
		allowed, err := domain.ParsePrefixes([]string{"198.51.100.0/24", "2001:db8::1"})
		must(f.t, "parse", err)
		token, secret, err := f.tokens.Create(ctx, f.caller(acme), domain.NewToken{
			Name: "HR", Scopes: []domain.Scope{domain.ScopeRead}, Allowed: allowed, ExpiresAt: &soon,
		})
		must(f.t, "create", err)
		inside := netip.MustParseAddr("::ffff:198.51.100.9")
		for range 2 { // from the database, then from memory
			got, err := f.tokens.Authenticate(ctx, secret, inside)
			if err != nil || got.ID != token.ID || got.Company != acme || !got.Has(domain.ScopeRead) || got.Has(domain.ScopeProvision) {
				f.t.Errorf("authenticate: %+v, %v", got, err)
			}
			for _, addr := range []netip.Addr{netip.MustParseAddr("203.0.113.1"), netip.MustParseAddr("2001:db8::2"), nowhere} {
				got, err = f.tokens.Authenticate(ctx, secret, addr)
				wantCode(f.t, "from "+addr.String(), err, domain.CodeAddressNotAllowed)
				if got.ID != 0 {
					f.t.Error("a refusal gives the token away")
				}
			}
			for name, bad := range map[string]string{
				"nothing": "", "short": "cb_x", "unknown": domain.GenerateToken(), "with a space": secret + " ", "another case": "CB_" + secret[3:],
			} {
				_, err := f.tokens.Authenticate(ctx, bad, inside)
				wantErr(f.t, name, err, domain.ErrUnauthorized)
			}
		}
		f.exec(`UPDATE tokens SET expires_at = $1 WHERE id = $2`, f.store.Now(), token.ID)
		fresh := newTokens(f.store, nil)
		for range 2 {
			_, err := fresh.Authenticate(ctx, secret, inside)
			wantErr(f.t, "expired", err, domain.ErrUnauthorized)
		}
	})
}

// A token that runs out while it is in memory is refused at that instant.
func TestAuthenticateExpiresInMemory(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		acme, _ := f.company("anna@x.test")
		now := time.Now()
		tokens := newTokens(f.store, func() time.Time { return now })
		expires := now.Add(100 * time.Millisecond)
		_, secret, err := tokens.Create(f.t.Context(), f.caller(acme), domain.NewToken{Name: "HR", ExpiresAt: &expires})
		must(f.t, "create", err)
		_, err = tokens.Authenticate(f.t.Context(), secret, nowhere)
		must(f.t, "before", err)
		now = now.Add(100 * time.Millisecond)
		_, err = tokens.Authenticate(f.t.Context(), secret, nowhere)
		wantErr(f.t, "after", err, domain.ErrUnauthorized)
	})
}

func TestAuthenticateAsksOnce(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		acme, _ := f.company("anna@x.test")
		_, secret := f.token(acme)
		now := time.Now()
		s := &counted{Store: f.store}
		tokens := newTokens(s, func() time.Time { return now })
		unknown := domain.GenerateToken()
		for range 1000 {
			_, err := tokens.Authenticate(f.t.Context(), secret, nowhere)
			must(f.t, "authenticate", err)
			_, err = tokens.Authenticate(f.t.Context(), unknown, nowhere)
			wantErr(f.t, "unknown", err, domain.ErrUnauthorized)
		}
		if n := s.looks.Load(); n != 2 {
			f.t.Errorf("2000 requests with two tokens looked %d times", n)
		}
	})
}

func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		acme, _ := f.company("anna@x.test")
		_, secret := f.token(acme)
		now := time.Now()
		s := &counted{Store: f.store}
		tokens := newTokens(s, func() time.Time { return now })
		_, err := tokens.Authenticate(f.t.Context(), secret, nowhere)
		must(f.t, "authenticate", err)
		s.broken.Store(true)
		now = now.Add(500 * time.Millisecond)
		_, err = tokens.Authenticate(f.t.Context(), secret, nowhere)
		must(f.t, "half a second without the database", err)
		now = now.Add(500 * time.Millisecond)
		_, err = tokens.Authenticate(f.t.Context(), secret, nowhere)
		wantErr(f.t, "a second without it", err, errBroken)
		s.broken.Store(false)
		_, err = tokens.Authenticate(f.t.Context(), secret, nowhere)
		must(f.t, "when it is back", err)
	})
}

// A database that lost its latest changes, as after a failover, must not keep
// tokens out of memory for ever.
func TestVersionGoesBack(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		acme, _ := f.company("anna@x.test")
		_, secret := f.token(acme)
		s := &counted{Store: f.store}
		watcher := service.NewWatcher(s, service.WatcherOptions{Poll: time.Millisecond})
		tokens := service.NewTokens(s, watcher, service.TokenOptions{})
		background(f.t, watcher.Run)
		_, err := tokens.Authenticate(f.t.Context(), secret, nowhere)
		must(f.t, "authenticate", err)
		f.exec(`UPDATE cache_versions SET version = 1 WHERE name = 'tokens'`)
		within(f.t, 5*time.Second, "tokens in memory again", func() bool {
			before := s.looks.Load()
			for range 3 {
				_, err := tokens.Authenticate(f.t.Context(), secret, nowhere)
				must(f.t, "authenticate", err)
			}
			return s.looks.Load() == before
		})
	})
}

// TestWatcherSleepsWhileIdle runs in a bubble, where time passes only while every
// goroutine is blocked.
func TestWatcherSleepsWhileIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &counted{Store: storetest.Open(t, storetest.SQLite(t))}
		f := newFixture(t, s.Store)
		acme, _ := f.company("anna@x.test")
		_, secret := f.token(acme)
		watcher := service.NewWatcher(s, service.WatcherOptions{})
		tokens := service.NewTokens(s, watcher, service.TokenOptions{})
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			watcher.Run(ctx)
			close(done)
		}()
		go tokens.Run(ctx)
		// No use is at the instant of a flush: either could come first then.
		time.Sleep(time.Hour + time.Millisecond)
		if n := s.polls.Load(); n != 0 {
			t.Errorf("%d polls while nothing is cached", n)
		}
		for range 30 {
			_, err := tokens.Authenticate(t.Context(), secret, here.Address)
			must(t, "authenticate", err)
			time.Sleep(time.Second)
		}
		if n := s.polls.Load(); n < 290 || n > 300 {
			t.Errorf("%d polls in 30 seconds, want one per 100 ms", n)
		}
		if n := s.looks.Load(); n != 1 {
			t.Errorf("the token was looked up %d times while it was watched, want once", n)
		}
		if n := s.flushes.Load(); n != 6 {
			t.Errorf("the last use was stored %d times in 30 seconds, want once per 5 s", n)
		}
		time.Sleep(20 * time.Second)
		before := s.polls.Load()
		time.Sleep(time.Hour)
		if n := s.polls.Load(); n != before {
			t.Errorf("%d polls while nothing is used", n-before)
		}
		_, err := tokens.Authenticate(t.Context(), secret, here.Address)
		if err != nil || s.looks.Load() != 2 {
			t.Errorf("looked up %d times after an hour without use, %v", s.looks.Load(), err)
		}
		stop()
		<-done
		must(t, "close", tokens.Close())
		must(t, "close again", tokens.Close())
		tokens.Run(context.Background())
	})
}

func TestLastUse(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, _ := f.company("anna@x.test")
		token, secret := f.token(acme)
		unused, _ := f.token(acme)
		now := domain.NormalizeTime(time.Now())
		s := &counted{Store: f.store}
		tokens := newTokens(s, func() time.Time { return now })
		use := func(addr string) {
			_, err := tokens.Authenticate(ctx, secret, netip.MustParseAddr(addr))
			must(f.t, "authenticate", err)
		}
		use("198.51.100.1")
		now = now.Add(100 * time.Millisecond)
		use("198.51.100.2")
		// A change elsewhere empties the memory; the use is still known.
		f.exec(`UPDATE cache_versions SET version = version + 1 WHERE name = 'tokens'`)
		now = now.Add(time.Second)
		_, err := tokens.Authenticate(ctx, domain.GenerateToken(), nowhere)
		wantErr(f.t, "unknown", err, domain.ErrUnauthorized)

		s.broken.Store(true)
		wantErr(f.t, "flush without the database", tokens.Close(), errBroken)
		s.broken.Store(false)
		must(f.t, "close", tokens.Close())
		got, err := f.tokens.Get(ctx, f.caller(acme), token.ID)
		must(f.t, "get", err)
		if got.LastUsedAt == nil || !got.LastUsedAt.Equal(now.Add(-time.Second)) || got.LastUsedIP != "198.51.100.2" {
			f.t.Errorf("last use %v from %q, want %v", got.LastUsedAt, got.LastUsedIP, now.Add(-time.Second))
		}
		// Another replica's older use does not go over it.
		must(f.t, "note", f.store.NoteTokenUses(ctx, []domain.TokenUse{{CompanyID: acme.ID, TokenID: token.ID, At: now.Add(-time.Hour), Address: "192.0.2.1"}}))
		if got, err = f.tokens.Get(ctx, f.caller(acme), token.ID); err != nil || got.LastUsedIP != "198.51.100.2" {
			f.t.Errorf("an older use was noted: %q, %v", got.LastUsedIP, err)
		}
		if got, err = f.tokens.Get(ctx, f.caller(acme), unused.ID); err != nil || got.LastUsedAt != nil {
			f.t.Errorf("an unused token was used at %v, %v", got.LastUsedAt, err)
		}
	})
}
