package cabinet_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestTokenFromCreationToRevocation(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.post(view.PathTokenNew, "name", "  ", "expiry", "date", "date", "2001-01-01", "allowed", "not an address").wantStatus(http.StatusUnprocessableEntity).
			wantText("Choose at least one", "The date must lie in the future.", "not an address")
		v.post(view.PathTokenNew, "name", "Payroll & HR", "expiry", "30").wantStatus(http.StatusUnprocessableEntity).wantText(`value="Payroll & HR"`, "Choose at least one")
		path, secret := v.createToken("HR sync")
		if got := f.callAPI(secret, http.MethodGet, "/token", nil); got != http.StatusOK {
			f.Fatalf("the token answers %d", got)
		}
		v.get(path).wantStatus(http.StatusOK).wantText("HR sync", secret[len(secret)-4:]).wantNoText(secret)
		v.post(path+"/rename", "name", "").wantStatus(http.StatusUnprocessableEntity)
		v.post(path+"/rename", "name", "HR sync, production").wantRedirect(path).wantText("Token renamed.", "HR sync, production")
		v.get(path + "/revoke").wantStatus(http.StatusOK).wantText("HR sync, production")
		v.post(path + "/revoke").wantRedirect(view.PathTokens).wantText("has been revoked.")
		if got := f.callAPI(secret, http.MethodGet, "/token", nil); got != http.StatusUnauthorized {
			f.Fatalf("the revoked token answers %d", got)
		}
		v.get(view.PathTokens+"?all=1").wantStatus(http.StatusOK).wantText("HR sync, production", "Revoked")
	})
}

// Regenerating shows the new secret once, and both work until the old one is stopped.
func TestTokenRegeneration(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		path, first := v.createToken("HR sync")
		v.get(path+"/regenerate").wantText("Regenerate “HR sync”?", "In 24 hours", "It has never been used.")
		v.post(path+"/regenerate", "grace", "soon", "expiry", "date", "date", "2001-01-01").wantStatus(http.StatusUnprocessableEntity).
			wantText("Choose when the old secret stops working.", "The date must lie in the future.")
		v.post(path+"/regenerate", "grace", "9999", "expiry", "90").wantStatus(http.StatusUnprocessableEntity).wantText("30 days")
		shown := v.post(path+"/regenerate", "grace", "24", "expiry", "90").wantRedirect(path+"/created").wantText("Token regenerated", first[len(first)-4:]+", works until")
		second := shown.secret()
		v.get(path + "/created").wantRedirect(path).wantText("The old secret still works").wantNoText(second)
		for _, secret := range []string{first, second} {
			if got := f.callAPI(secret, http.MethodGet, "/token", nil); got != http.StatusOK {
				f.Errorf("the secret ending in %s answers %d in the grace period", secret[len(secret)-4:], got)
			}
		}
		v.get(path + "/end-old").wantText("Stop the old secret")
		v.post(path + "/end-old").wantRedirect(path).wantText("The old secret has stopped working.").wantNoText("still works")
		if got := f.callAPI(first, http.MethodGet, "/token", nil); got != http.StatusUnauthorized {
			f.Errorf("the stopped secret answers %d", got)
		}
		v.get(path + "/end-old").wantRedirect(path)
		v.get(view.PathAudit).wantText("Token regenerated", "Token old secret stopped").wantNoText(second)
		v.post(path + "/revoke")
		v.post(path+"/regenerate", "grace", "0", "expiry", "90").wantStatus(http.StatusUnprocessableEntity).wantText("revoked or expired")
	})
}

// A token that expires within two weeks is announced where its owner looks.
func TestTokenThatExpiresSoon(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		expiring := func(name string, days int) string {
			date := time.Now().AddDate(0, 0, days).Format(time.DateOnly)
			created := v.post(view.PathTokenNew, "name", name, "scope", "b2b_read", "expiry", "date", "date", date, "nonce", name)
			return strings.TrimSuffix(created.wantStatus(http.StatusSeeOther).header.Get("Location"), "/created")
		}
		_, token := v.createToken("People")
		f.provision(token, 1, 1) // a company without people has nothing that needs attention
		soon, later := expiring("HR sync", 12), expiring("Payroll", 17)
		v.get(soon).wantStatus(http.StatusOK).wantText("This token expires soon", "Regenerate it")
		v.get(later).wantStatus(http.StatusOK).wantNoText("This token expires soon")
		v.get(view.PathHome).wantStatus(http.StatusOK).wantText("token expires within 14 days", soon).wantNoText(later)
		if n := strings.Count(v.get(view.PathTokens).text, `<span class="tag tone-amber">soon</span>`); n != 1 {
			f.Errorf("%d tokens of the list are marked, want 1", n)
		}
	})
}

// The list shows every token, however many were revoked over the years.
func TestTokenListHasPages(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		f.exec(`INSERT INTO tokens (company_id, name, hash, last_four, scopes, allowed, created_by, created_at, last_used_ip, revoked_at)
			WITH RECURSIVE k (i) AS (SELECT CAST(1 AS bigint) UNION ALL SELECT i + 1 FROM k WHERE i < 650)
			SELECT id, 'old token ' || i || '.', $1, '', '[]', '[]', '', $2, '', $2 FROM companies, k`, []byte("hash"), time.Now().UTC())
		v.createToken("HR sync")
		v.get(view.PathTokens).wantText("1 token", "HR sync", "Show 650 revoked and expired").wantNoText("old token")
		shown, path := "", view.PathTokens+"?all=1"
		for pages := 0; path != ""; pages++ {
			if pages > 10 {
				f.Fatal("the pages never end")
			}
			got := v.get(path).wantStatus(http.StatusOK).wantText("651 tokens")
			shown, path = shown+got.text, ""
			if next := nextPage.FindStringSubmatch(got.text); next != nil {
				path = next[1]
			}
		}
		for i := 1; i <= 650; i++ {
			if name := fmt.Sprintf(">old token %d.<", i); strings.Count(shown, name) != 1 {
				f.Errorf("%q is shown %d times, want once", name, strings.Count(shown, name))
			}
		}
	})
}

var nextPage = regexp.MustCompile(`rel="next" href="([^"]+)"`)

// Two tabs create a token each before either page that shows one is loaded.
func TestNewTokensOfTwoTabsAreBothShown(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		create := func(name string) response {
			return v.post(view.PathTokenNew, "name", name, "scope", "b2b_read", "expiry", "90", "nonce", name).wantStatus(http.StatusSeeOther)
		}
		first, second := create("Payroll"), create("HR sync")
		shown := map[string]bool{first.follow().secret(): true, second.follow().secret(): true}
		if len(shown) != 2 {
			f.Errorf("the two pages show %d different tokens", len(shown))
		}
		v.get(first.header.Get("Location")).wantStatus(http.StatusSeeOther)
	})
}
