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
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, _ := o.company("anna@x.test")
		other, _ := o.company("bob@x.test")
		c := o.caller(acme)
		expires := o.store.Now().Add(time.Hour)
		made, secret, err := o.tokens.Create(ctx, c, domain.NewToken{
			Name: " HR system ", Scopes: []domain.Scope{domain.ScopeRead, domain.ScopeRead},
			Allowed: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}, ExpiresAt: &expires,
		})
		must(o.t, "create", err)
		want := domain.Token{
			CompanyID: acme.ID, ID: made.ID, Name: "HR system", LastFour: secret[len(secret)-4:], Scopes: []domain.Scope{domain.ScopeBase, domain.ScopeRead},
			Allowed: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}, CreatedBy: "operator", CreatedAt: made.CreatedAt,
			ExpiresAt: &expires, Company: acme,
		}
		got, err := o.tokens.Get(ctx, c, made.ID)
		must(o.t, "get", err)
		comparePrefix := cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })
		if diff := cmp.Diff(want, got, comparePrefix); diff != "" {
			o.t.Error(diff)
		}
		if diff := cmp.Diff(want, made, comparePrefix); diff != "" {
			o.t.Error("as created:", diff)
		}
		_, err = o.tokens.Get(ctx, o.caller(other), made.ID)
		wantErr(o.t, "get another's", err, domain.ErrTokenNotFound)
		_, err = o.tokens.Rename(ctx, o.caller(other), made.ID, "x")
		wantErr(o.t, "rename another's", err, domain.ErrTokenNotFound)
		_, err = o.tokens.Rename(ctx, c, made.ID, " ")
		wantCode(o.t, "rename to nothing", err, domain.CodeInvalid)
		renamed, err := o.tokens.Rename(ctx, c, made.ID, "Payroll")
		if err != nil || renamed.Name != "Payroll" {
			o.t.Errorf("rename: %q, %v", renamed.Name, err)
		}
		_, err = o.tokens.Change(ctx, c, made.ID, domain.TokenChange{Allowed: &[]netip.Prefix{}})
		must(o.t, "allow all", err)

		_, err = o.tokens.Revoke(ctx, o.caller(other), made.ID)
		wantErr(o.t, "revoke another's", err, domain.ErrTokenNotFound)
		first, err := o.tokens.Revoke(ctx, c, made.ID)
		must(o.t, "revoke", err)
		again, err := o.tokens.Revoke(ctx, domain.Caller{Actor: operator}, made.ID)
		must(o.t, "revoke again", err)
		if diff := cmp.Diff(first, again, comparePrefix); diff != "" || first.RevokedAt == nil {
			o.t.Error("revoked again:", diff)
		}
		_, err = o.tokens.Revoke(ctx, domain.Caller{Actor: domain.Actor{Kind: domain.ActorPerson}}, made.ID)
		wantErr(o.t, "revoke for no company", err, domain.ErrTokenNotFound)
		_, err = o.tokens.Revoke(ctx, c, 4711)
		wantErr(o.t, "revoke nothing", err, domain.ErrTokenNotFound)
		if diff := cmp.Diff([]string{
			"company.created by operator", "administrator.invited by operator", "token.created by operator",
			"token.renamed by operator", "token.restricted by operator", "token.revoked by operator",
		}, o.actions(acme.ID)); diff != "" {
			o.t.Error(diff)
		}
	})
}

func TestTokenCreateRefuses(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		acme, _ := o.company("anna@x.test")
		past := o.store.Now().Add(-time.Second)
		for name, bad := range map[string]domain.NewToken{
			"no name": {}, "unknown scope": {Name: "a", Scopes: []domain.Scope{"b2b_all"}}, "expired": {Name: "a", ExpiresAt: &past},
			"too many ranges": {Name: "a", Allowed: make([]netip.Prefix, domain.MaxAllowed+1)},
		} {
			_, _, err := o.tokens.Create(o.t.Context(), o.caller(acme), bad)
			wantCode(o.t, name, err, domain.CodeInvalid)
		}
		_, _, err := o.tokens.Create(o.t.Context(), domain.Caller{Company: domain.Company{ID: 999}, Actor: operator}, domain.NewToken{Name: "a"})
		wantCode(o.t, "no company", err, domain.CodeCompanyNotFound)
	})
}

func TestTokenList(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, _ := o.company("anna@x.test")
		other, _ := o.company("bob@x.test")
		var ids []int64
		for range 5 {
			token, _ := o.token(acme)
			ids = append([]int64{token.ID}, ids...)
		}
		foreign, _ := o.token(other)
		_, err := o.tokens.Revoke(ctx, o.caller(acme), ids[2])
		must(o.t, "revoke", err)

		now := o.store.Now()
		var seen []int64
		page := domain.PageRequest{Number: 1, Limit: 2}
		for {
			got, err := o.tokens.List(ctx, domain.TokenFilter{CompanyID: acme.ID}, page)
			must(o.t, "list", err)
			if got.Total != 5 {
				o.t.Errorf("total %d", got.Total)
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
			o.t.Error(diff)
		}
		live, err := o.tokens.List(ctx, domain.TokenFilter{CompanyID: acme.ID, LiveAt: &now}, domain.PageRequest{Number: 1, Limit: 10})
		if err != nil || live.Total != 4 || len(live.Items) != 4 {
			o.t.Errorf("live tokens: %d of %d, %v", len(live.Items), live.Total, err)
		}
		all, err := o.tokens.List(ctx, domain.TokenFilter{}, domain.PageRequest{Number: 1, Limit: 10})
		if err != nil || all.Total != 6 || all.Items[0].ID != foreign.ID {
			o.t.Errorf("all tokens: %d, %v", all.Total, err)
		}
	})
}

func TestPlatformToken(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		_, _, err := o.tokens.CreatePlatformToken(ctx, "")
		wantCode(o.t, "no name", err, domain.CodeInvalid)
		made, secret, err := o.tokens.CreatePlatformToken(ctx, "LMS")
		must(o.t, "create", err)
		for range 2 {
			got, err := o.tokens.AuthenticatePlatform(ctx, secret)
			if diff := cmp.Diff(made, got); diff != "" || err != nil {
				o.t.Error(err, diff)
			}
		}
		acme, _ := o.company("anna@x.test")
		_, company := o.token(acme)
		for name, bad := range map[string]string{"nothing": "", "unknown": domain.MintToken(), "a company's token": company} {
			for range 2 {
				_, err := o.tokens.AuthenticatePlatform(ctx, bad)
				wantErr(o.t, name, err, domain.ErrUnauthorized)
			}
		}
		_, err = o.tokens.Authenticate(ctx, secret, nowhere)
		wantErr(o.t, "a platform token at the company's door", err, domain.ErrUnauthorized)
		_, err = o.tokens.RevokePlatformToken(ctx, 999)
		wantErr(o.t, "revoke nothing", err, domain.ErrTokenNotFound)
		for range 2 {
			gone, err := o.tokens.RevokePlatformToken(ctx, made.ID)
			if err != nil || gone.RevokedAt == nil {
				o.t.Errorf("revoke: %+v, %v", gone, err)
			}
		}
		_, err = o.tokens.AuthenticatePlatform(ctx, secret)
		wantErr(o.t, "revoked", err, domain.ErrUnauthorized)
		list, err := o.tokens.PlatformTokens(ctx)
		if err != nil || len(list) != 1 || list[0].RevokedAt == nil {
			o.t.Errorf("list: %+v, %v", list, err)
		}
	})
}
