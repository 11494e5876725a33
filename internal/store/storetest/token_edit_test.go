package storetest_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func (f testCompany) createToken(name string) domain.Token {
	f.t.Helper()
	in := domain.NewToken{Name: name, Scopes: []domain.Scope{domain.ScopeBase, domain.ScopeRead}}
	token, err := f.s.CreateToken(f.t.Context(), f.c, in, domain.DigestToken(name))
	wantNoError(f.t, "create a token", err)
	return token
}

// lookUp returns what the secret of a token finds.
func lookUp(t *testing.T, s *store.Store, secret string) domain.TokenLookup[domain.Token] {
	t.Helper()
	found, err := s.TokenByHash(t.Context(), domain.DigestToken(secret).Hash)
	wantNoError(t, "look a token up", err)
	return found
}

func TestTokensOfCompaniesAreChanged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		t.Run("changes", func(t *testing.T) { testTokensAreChanged(t, s) })
		t.Run("regeneration", func(t *testing.T) { testTokensAreRegenerated(t, s) })
		t.Run("uses", func(t *testing.T) { testUsesOfTokensAreNoted(t, s) })
	})
}

func testTokensAreChanged(t *testing.T, s *store.Store) {
	f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
	token, theirs := f.createToken("first"), other.createToken("theirs")
	version := lookUp(t, s, "first").Version
	allowed := []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("2001:db8::/32")}
	for _, in := range []domain.TokenChange{{Name: ptr("Übung"), Allowed: &allowed}, {Name: ptr("Übung")}, {}} { // the last two change nothing
		_, err := s.ChangeToken(ctx, f.c, token.ID, in)
		wantNoError(t, "change", err)
	}
	found := lookUp(t, s, "first")
	if !found.Found || found.Token.Name != "Übung" || !slices.Equal(found.Token.Allowed, allowed) || found.Token.Company.ID != f.c.Company.ID || found.Version != version+1 {
		t.Errorf("the changed token is %+v, the version %d, before %d", found.Token, found.Version, version)
	}
	page, err := s.Tokens(ctx, domain.TokenFilter{CompanyID: f.c.Company.ID, Search: "üb"}, domain.PageRequest{Limit: 10})
	if err != nil || len(page.Items) != 1 || page.Total != 1 {
		t.Errorf("found by the new name: %+v, %v", page, err)
	}
	_, err = s.ChangeToken(ctx, f.c, theirs.ID, domain.TokenChange{Name: ptr("mine")})
	wantCode(t, "change that of another company", err, domain.CodeNotFound)
	_, err = s.RevokeToken(ctx, f.c, theirs.ID)
	wantCode(t, "revoke that of another company", err, domain.CodeNotFound)
	for range 2 {
		revoked, err := s.RevokeToken(ctx, f.c, token.ID)
		if err != nil || revoked.RevokedAt == nil || lookUp(t, s, "first").Token.Live(s.Now()) {
			t.Errorf("the revoked token is %+v, %v", revoked, err)
		}
	}
	_, err = s.RegenerateToken(ctx, f.c, token.ID, domain.TokenRegeneration{}, domain.DigestToken("second"))
	wantCode(t, "regenerate a revoked token", err, domain.CodeInvalid)
	if got := lookUp(t, s, "theirs").Token; got.Name != "theirs" || !got.Live(s.Now()) {
		t.Errorf("the other company's token is %+v", got)
	}
	equal(t, "audit", f.audit(), []string{"token.created", "token.renamed", "token.restricted", "token.revoked"})
}

// testTokensAreRegenerated expects that the secret before a regeneration works for the time
// that was asked for, and not longer than it would have without.
func testTokensAreRegenerated(t *testing.T, s *store.Store) {
	f, ctx := newTestCompany(t, s), t.Context()
	token, untouched := f.createToken("secret one"), f.createToken("untouched")
	regenerate := func(grace time.Duration, expires *time.Time, secret string) domain.Token {
		t.Helper()
		out, err := s.RegenerateToken(ctx, f.c, token.ID, domain.TokenRegeneration{Grace: grace, ExpiresAt: expires}, domain.DigestToken(secret))
		wantNoError(t, "regenerate", err)
		return out
	}
	soon := before(s, -time.Hour)
	regenerate(24*time.Hour, &soon, "secret two")
	first, second := lookUp(t, s, "secret one"), lookUp(t, s, "secret two")
	if !first.Found || !second.Found || first.Token.ID != token.ID || second.Token.ID != token.ID || second.Token.LastFour != " two" || second.Token.PreviousLastFour != " one" {
		t.Fatalf("found %+v and %+v", first, second)
	}
	equal(t, "the new secret expires", *second.Token.ExpiresAt, soon)
	if left := first.Token.ExpiresAt.Sub(s.Now()); left < 50*time.Minute || left > time.Hour {
		t.Errorf("the old secret works for %s, and the token for an hour", left)
	}
	regenerate(24*time.Hour, nil, "secret three")
	if got := lookUp(t, s, "secret two").Token; !got.ExpiresAt.Equal(soon) {
		t.Errorf("the second secret works until %s, longer than before: %s", got.ExpiresAt, soon)
	}
	equal(t, "the first secret after two regenerations", lookUp(t, s, "secret one").Found, false)
	for range 2 {
		if _, err := s.EndPreviousToken(ctx, f.c, token.ID); err != nil || lookUp(t, s, "secret two").Token.Live(s.Now()) {
			t.Errorf("the old secret still works after its end: %v", err)
		}
	}
	if got := lookUp(t, s, "secret three").Token; !got.Live(s.Now()) || got.ExpiresAt != nil {
		t.Errorf("the new secret is %+v", got)
	}
	if got := lookUp(t, s, "untouched").Token; got.ID != untouched.ID || got.PreviousUntil != nil {
		t.Errorf("another token is %+v", got)
	}
	equal(t, "audit", f.audit()[2:], []string{"token.regenerated", "token.regenerated", "token.old_secret_stopped"})
}

func testUsesOfTokensAreNoted(t *testing.T, s *store.Store) {
	f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
	a, b, unused := f.createToken("aaaa"), other.createToken("bbbb"), f.createToken("cccc")
	early, late := before(s, time.Hour), before(s, time.Minute)
	use := func(token domain.Token, at time.Time, address string) domain.TokenUse {
		return domain.TokenUse{CompanyID: token.CompanyID, TokenID: token.ID, At: at, Address: address}
	}
	wrong := use(b, s.Now(), "wrong")
	wrong.CompanyID = f.c.Company.ID
	for _, uses := range [][]domain.TokenUse{nil, {use(a, late, "198.51.100.1"), use(b, early, "198.51.100.2")}, {use(a, early, "::1"), use(b, late, "::2"), wrong}} {
		wantNoError(t, "note", s.NoteTokenUses(ctx, uses))
	}
	for secret, want := range map[string]string{"aaaa": late.String() + " 198.51.100.1", "bbbb": late.String() + " ::2"} {
		token := lookUp(t, s, secret).Token
		equal(t, "the last use of "+secret, token.LastUsedAt.String()+" "+token.LastUsedIP, want)
	}
	if got := lookUp(t, s, "cccc").Token; got.ID != unused.ID || got.LastUsedAt != nil {
		t.Errorf("an unused token is %+v", got)
	}
}

func TestPlatformTokens(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx, by := t.Context(), domain.Actor{Kind: domain.ActorOperator, Label: "operator"}
		versions := func() domain.CacheVersions {
			t.Helper()
			out, err := s.CacheVersions(ctx)
			wantNoError(t, "read the versions", err)
			return out
		}
		start := versions()
		var made []domain.PlatformToken
		for _, name := range []string{"old platform", "new platform"} {
			token, err := s.CreatePlatformToken(ctx, by, name, domain.DigestToken(name))
			wantNoError(t, "create", err)
			made = append(made, token)
		}
		for range 2 {
			revoked, err := s.RevokePlatformToken(ctx, by, made[0].ID)
			if err != nil || revoked.RevokedAt == nil {
				t.Errorf("the revoked token is %+v, %v", revoked, err)
			}
		}
		_, err := s.RevokePlatformToken(ctx, by, made[1].ID+100)
		wantCode(t, "revoke none", err, domain.CodeNotFound)
		list, err := s.PlatformTokens(ctx)
		wantNoError(t, "list", err)
		var got []string
		for _, p := range list {
			got = append(got, fmt.Sprint(p.Name, " ", p.LastFour, " ", p.RevokedAt != nil))
		}
		equal(t, "tokens, the newest first", got, []string{"new platform form false", "old platform form true"})
		found, err := s.PlatformTokenByHash(ctx, domain.DigestToken("old platform").Hash)
		end := versions()
		if err != nil || !found.Found || found.Token.RevokedAt == nil || found.Version != end[domain.CacheTokens] {
			t.Errorf("found %+v, %v", found, err)
		}
		equal(t, "changes that other processes notice", end[domain.CacheTokens]-start[domain.CacheTokens], int64(3))
		equal(t, "those of courses", end[domain.CacheCourses], start[domain.CacheCourses])
		entries, err := s.PlatformAudit(ctx, 2)
		wantNoError(t, "read the platform's log", err)
		got = nil
		for _, e := range entries {
			got = append(got, fmt.Sprint(e.Action, " ", e.RecordID == fmt.Sprint(made[0].ID), " by ", e.Actor.Label))
		}
		equal(t, "the platform's log, the newest first", got, []string{"platform_token.revoked true by operator", "platform_token.created false by operator"})
	})
}
