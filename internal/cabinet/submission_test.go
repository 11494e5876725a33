package cabinet_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

// reload requests the page that a form led to once more, as a browser does when its
// user reloads it.
func (r response) reload() response {
	r.v.Helper()
	path, _, _ := strings.Cut(r.header.Get("Location"), "#")
	return r.v.get(path)
}

func TestReloadingNeverRepeatsAnAction(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		created := v.post(view.PathTokenNew, "name", "HR sync", "scope", "b2b_read", "expiry", "90", "nonce", "n1")
		token := created.follow().wantText("It will not be shown again").secret()
		created.reload().wantRedirect(view.PathToken(1)).wantText("HR sync").wantNoText(token)
		v.get(view.PathTokens).wantText("1 token")

		webhook := v.addWebhook(f.receiver(http.StatusOK).URL)
		rotated := v.post(webhook+"/rotate", "nonce", "n2")
		secret := rotated.follow().secret()
		rotated.reload().wantStatus(http.StatusOK).wantNoText(secret)
		if again := v.post(webhook+"/secret", "nonce", "n3").follow().secret(); again != secret {
			f.Errorf("after a reload the signing secret is %s, want %s", again, secret)
		}

		invited := v.post(view.PathInvite, "email", colleague, "nonce", "n4")
		link := invited.follow().secret()
		invited.reload().wantRedirect(view.PathAdministrators).wantNoText(link)
		u, err := url.Parse(link)
		if err != nil {
			f.Fatal(err)
		}
		f.visitor().get(u.Path).wantStatus(http.StatusOK)
	})
}

func TestAFormActsOnce(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		form := []string{"name", "HR sync", "scope", "b2b_read", "expiry", "90", "nonce", "same"}
		wrong := append([]string{}, form...)
		wrong[1] = ""
		v.post(view.PathTokenNew, wrong...).wantStatus(http.StatusUnprocessableEntity)

		const times = 4
		locations := make([]string, times)
		var all sync.WaitGroup
		for n := range times {
			all.Go(func() { locations[n] = v.post(view.PathTokenNew, form...).header.Get("Location") })
		}
		all.Wait()
		for _, location := range locations {
			if location != view.PathToken(1, "created") {
				f.Errorf("the submissions lead to %q, want all to lead to the one token", locations)
			}
		}
		v.get(locations[0]).wantStatus(http.StatusOK).secret()
		v.get(view.PathTokens).wantText("1 token")
		v.post(view.PathTokenNew, "name", "Payroll", "scope", "b2b_read", "expiry", "90", "nonce", "other").follow()
		v.get(view.PathTokens).wantText("2 tokens")
	})
}

// A secret that waits in the session is not readable in the database.
func TestSecretsWaitEncrypted(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		created := v.post(view.PathTokenNew, "name", "HR sync", "scope", "b2b_read", "expiry", "90")
		data := f.sessionData()
		secret := created.follow().secret()
		if len(data) == 0 || strings.Contains(data, secret) {
			f.Errorf("the session holds the token in plain text: %q", data)
		}
	})
}
