package domain_test

import (
	"crypto/sha256"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestGenerateToken(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^cb_[0-9A-Za-z]{43}$`)
	seen := map[string]bool{}
	digits := map[byte]bool{}
	for range 500 {
		token := domain.GenerateToken()
		if !shape.MatchString(token) || seen[token] {
			t.Fatalf("%q", token)
		}
		seen[token] = true
		digits[token[len(token)-1]] = true
		hash, ok := domain.HashToken(token)
		if !ok || hash != sha256.Sum256([]byte(token)) {
			t.Fatalf("hash of %q: %x, %v", token, hash, ok)
		}
	}
	if len(digits) < 50 {
		t.Errorf("500 tokens end in %d different digits only", len(digits))
	}
}

func TestHashTokenRefuses(t *testing.T) {
	t.Parallel()
	good := domain.GenerateToken()
	for _, bad := range []string{"", "cb_", good + "x", good[:len(good)-1], "CB_" + good[3:], strings.Repeat("a", len(good)), " " + good} {
		if _, ok := domain.HashToken(bad); ok {
			t.Errorf("%q passes for a token", bad)
		}
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	token := domain.Token{Scopes: []domain.Scope{domain.ScopeRead}, ExpiresAt: ptr(noon)}
	if !token.Has(domain.ScopeBase) || !token.Has(domain.ScopeRead) || token.Has(domain.ScopeProvision) {
		t.Error("the base scope is in every token, others only when given")
	}
	if !token.Live(noon.Add(-time.Millisecond)) || token.Live(noon) {
		t.Error("a token lives until its expiry, not at it")
	}
	token.ExpiresAt = nil
	if !token.Live(noon) {
		t.Error("a token without expiry lives")
	}
	token.RevokedAt = ptr(noon)
	if token.Live(noon.Add(-time.Hour)) {
		t.Error("a revoked token is dead")
	}
}

func TestTokenAddresses(t *testing.T) {
	t.Parallel()
	allowed, err := domain.ParsePrefixes([]string{" 203.0.113.7 ", "", "10.1.2.3/8", "2001:db8::1", "::ffff:192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	token := domain.Token{Allowed: allowed}
	for addr, want := range map[string]bool{
		"203.0.113.7": true, "::ffff:203.0.113.7": true, "203.0.113.8": false, "10.200.0.1": true, "11.0.0.1": false,
		"2001:db8::1": true, "2001:db8::2": false, "192.0.2.1": true,
	} {
		if got := token.AllowsAddress(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
	if !(domain.Token{}).AllowsAddress(netip.MustParseAddr("11.0.0.1")) {
		t.Error("without a list everywhere is allowed")
	}
	for _, bad := range []string{"x", "10.0.0.0/33", "10.0.0"} {
		if _, err := domain.ParsePrefixes([]string{bad}); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestNewTokenCheck(t *testing.T) {
	t.Parallel()
	in := domain.NewToken{Name: " HR ", Scopes: []domain.Scope{domain.ScopeRead, domain.ScopeBase, domain.ScopeRead}, ExpiresAt: ptr(at(1))}
	if err := in.Normalize(noon); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]domain.Scope{domain.ScopeBase, domain.ScopeRead}, in.Scopes); diff != "" || in.Name != "HR" {
		t.Error(in.Name, diff)
	}
	bad := domain.NewToken{Scopes: []domain.Scope{"b2b_all"}, ExpiresAt: ptr(noon)}
	wantFields(t, bad.Normalize(noon), "name", "scope", "expires")
}
