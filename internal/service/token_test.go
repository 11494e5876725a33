package service_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestTokenLife(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, _ := f.company("anna@x.test")
		other, _ := f.company("bob@x.test")
		c := f.caller(acme)
		expires := f.store.Now().Add(time.Hour)
		made, secret, err := f.tokens.Create(ctx, c, domain.NewToken{
			Name: " HR system ", Scopes: []domain.Scope{domain.ScopeRead, domain.ScopeRead},
			Allowed: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}, ExpiresAt: &expires,
		})
		must(f.t, "create", err)
		want := domain.Token{
			CompanyID: acme.ID, ID: made.ID, Name: "HR system", LastFour: secret[len(secret)-4:], Scopes: []domain.Scope{domain.ScopeBase, domain.ScopeRead},
			Allowed: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}, CreatedBy: "operator", CreatedAt: made.CreatedAt,
			ExpiresAt: &expires, Company: acme,
		}
		got, err := f.tokens.Get(ctx, c, made.ID)
		must(f.t, "get", err)
		comparePrefix := cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })
		if diff := cmp.Diff(want, got, comparePrefix); diff != "" {
			f.t.Error(diff)
		}
		if diff := cmp.Diff(want, made, comparePrefix); diff != "" {
			f.t.Error("as created:", diff)
		}
		_, err = f.tokens.Get(ctx, f.caller(other), made.ID)
		wantErr(f.t, "get another's", err, domain.ErrTokenNotFound)
		_, err = f.tokens.Rename(ctx, f.caller(other), made.ID, "x")
		wantErr(f.t, "rename another's", err, domain.ErrTokenNotFound)
		_, err = f.tokens.Rename(ctx, c, made.ID, " ")
		wantCode(f.t, "rename to nothing", err, domain.CodeInvalid)
		renamed, err := f.tokens.Rename(ctx, c, made.ID, "Payroll")
		if err != nil || renamed.Name != "Payroll" {
			f.t.Errorf("rename: %q, %v", renamed.Name, err)
		}
		_, err = f.tokens.Change(ctx, c, made.ID, domain.TokenChange{Allowed: &[]netip.Prefix{}})
		must(f.t, "allow all", err)

		_, err = f.tokens.Revoke(ctx, f.caller(other), made.ID)
		wantErr(f.t, "revoke another's", err, domain.ErrTokenNotFound)
		first, err := f.tokens.Revoke(ctx, c, made.ID)
		must(f.t, "revoke", err)
		again, err := f.tokens.Revoke(ctx, domain.Caller{Actor: operator}, made.ID)
		must(f.t, "revoke again", err)
		if diff := cmp.Diff(first, again, comparePrefix); diff != "" || first.RevokedAt == nil {
			f.t.Error("revoked again:", diff)
		}
		_, err = f.tokens.Revoke(ctx, domain.Caller{Actor: domain.Actor{Kind: domain.ActorPerson}, Role: domain.CabinetOwner}, made.ID)
		wantErr(f.t, "revoke for no company", err, domain.ErrTokenNotFound)
		_, err = f.tokens.Revoke(ctx, c, 4711)
		wantErr(f.t, "revoke nothing", err, domain.ErrTokenNotFound)
		if diff := cmp.Diff([]string{
			"company.created by operator", "administrator.invited by operator", "token.created by operator",
			"token.renamed by operator", "token.restricted by operator", "token.revoked by operator",
		}, f.actions(acme.ID)); diff != "" {
			f.t.Error(diff)
		}
	})
}

func TestTokenCreateRefuses(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		acme, _ := f.company("anna@x.test")
		past := f.store.Now().Add(-time.Second)
		for name, bad := range map[string]domain.NewToken{
			"no name": {}, "unknown scope": {Name: "a", Scopes: []domain.Scope{"b2b_all"}}, "expired": {Name: "a", ExpiresAt: &past},
			"too many ranges": {Name: "a", Allowed: make([]netip.Prefix, domain.MaxAllowed+1)},
		} {
			_, _, err := f.tokens.Create(f.t.Context(), f.caller(acme), bad)
			wantCode(f.t, name, err, domain.CodeInvalid)
		}
		_, _, err := f.tokens.Create(f.t.Context(), domain.Caller{Company: domain.Company{ID: 999}, Actor: operator}, domain.NewToken{Name: "a"})
		wantCode(f.t, "no company", err, domain.CodeCompanyNotFound)
	})
}

func TestTokenList(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, _ := f.company("anna@x.test")
		other, _ := f.company("bob@x.test")
		var ids []int64
		for range 5 {
			token, _ := f.token(acme)
			ids = append([]int64{token.ID}, ids...)
		}
		foreign, _ := f.token(other)
		_, err := f.tokens.Revoke(ctx, f.caller(acme), ids[2])
		must(f.t, "revoke", err)

		now := f.store.Now()
		var seen []int64
		page := domain.PageRequest{Number: 1, Limit: 2}
		for {
			got, err := f.tokens.List(ctx, domain.TokenFilter{CompanyID: acme.ID}, page)
			must(f.t, "list", err)
			if got.Total != 5 {
				f.t.Errorf("total %d", got.Total)
			}
			for _, token := range got.Items {
				seen = append(seen, token.ID)
			}
			if !got.More {
				break
			}
			page.After = &domain.Cursor{ID: seen[len(seen)-1]}
		}
		if diff := cmp.Diff(ids, seen); diff != "" {
			f.t.Error(diff)
		}
		live, err := f.tokens.List(ctx, domain.TokenFilter{CompanyID: acme.ID, LiveAt: &now}, domain.PageRequest{Number: 1, Limit: 10})
		if err != nil || live.Total != 4 || len(live.Items) != 4 {
			f.t.Errorf("live tokens: %d of %d, %v", len(live.Items), live.Total, err)
		}
		all, err := f.tokens.List(ctx, domain.TokenFilter{}, domain.PageRequest{Number: 1, Limit: 10})
		if err != nil || all.Total != 6 || all.Items[0].ID != foreign.ID {
			f.t.Errorf("all tokens: %d, %v", all.Total, err)
		}
	})
}

func TestPlatformToken(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, _, err := f.tokens.CreatePlatformToken(ctx, "")
		wantCode(f.t, "no name", err, domain.CodeInvalid)
		made, secret, err := f.tokens.CreatePlatformToken(ctx, "LMS")
		must(f.t, "create", err)
		for range 2 {
			got, err := f.tokens.AuthenticatePlatform(ctx, secret)
			if diff := cmp.Diff(made, got); diff != "" || err != nil {
				f.t.Error(err, diff)
			}
		}
		acme, _ := f.company("anna@x.test")
		_, company := f.token(acme)
		for name, bad := range map[string]string{"nothing": "", "unknown": domain.GenerateToken(), "a company's token": company} {
			for range 2 {
				_, err := f.tokens.AuthenticatePlatform(ctx, bad)
				wantErr(f.t, name, err, domain.ErrUnauthorized)
			}
		}
		_, err = f.tokens.Authenticate(ctx, secret, nowhere)
		wantErr(f.t, "a platform token at the company's door", err, domain.ErrUnauthorized)
		_, err = f.tokens.RevokePlatformToken(ctx, 999)
		wantErr(f.t, "revoke nothing", err, domain.ErrTokenNotFound)
		for range 2 {
			gone, err := f.tokens.RevokePlatformToken(ctx, made.ID)
			if err != nil || gone.RevokedAt == nil {
				f.t.Errorf("revoke: %+v, %v", gone, err)
			}
		}
		_, err = f.tokens.AuthenticatePlatform(ctx, secret)
		wantErr(f.t, "revoked", err, domain.ErrUnauthorized)
		list, err := f.tokens.PlatformTokens(ctx)
		if err != nil || len(list) != 1 || list[0].RevokedAt == nil {
			f.t.Errorf("list: %+v, %v", list, err)
		}
	})
}
