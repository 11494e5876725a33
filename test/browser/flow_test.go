package browser

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// createToken creates a token in the cabinet and returns its secret.
func (b *tab) createToken(name string) string {
	b.Helper()
	b.open("/cabinet/tokens")
	b.click("Create token")
	b.waitFor("the form", `document.querySelector('input[name=name]') !== null`)
	b.fill("input[name=name]", name)
	evaluate[bool](b, `document.querySelectorAll('input[name=scope]').forEach(e => { e.checked = true }), true`)
	b.submit("form.form")
	b.waitForText("It will not be shown again")
	token := evaluate[string](b, `document.body.innerText.match(/cb_[0-9A-Za-z]{43}/)[0]`)
	if curl := evaluate[string](b, `document.body.innerText`); !strings.Contains(curl, "/api/v1/token -H 'Authorization: Bearer "+token+"'") {
		b.Errorf("no curl command that works as pasted:\n%s", curl)
	}
	return token
}

func TestFromFirstSignInToRevokedToken(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		b := f.firstSignIn()
		token := b.createToken("HR sync")
		if status, answer := f.call(token, http.MethodGet, "/token", nil); status != http.StatusOK {
			t.Fatalf("the new token: %d %v", status, answer)
		}
		webhook := newReceiver(t)
		secret := b.addWebhook(webhook.URL + "/hook")
		b.testEvent(webhook, secret)

		webhook.answer(http.StatusInternalServerError)
		f.provision(token, 1)
		b.open("/cabinet/deliveries")
		b.reloadUntil("a failing delivery", `document.querySelector('table')?.innerText.includes('Retrying')`)
		b.open(evaluate[string](b, `document.querySelector('a[href^="/cabinet/deliveries/0"]').getAttribute('href')`))
		b.waitForText("500")
		b.waitForText("answer of the receiver")

		webhook.answer(http.StatusOK)
		b.click("Redeliver")
		b.waitForText("The delivery is queued again")
		b.reloadUntil("a second attempt", `document.body.innerText.includes('Attempt 2')`)
		b.waitForText("Delivered")
		got := webhook.events("employee.joined")
		if len(got) < 2 || got[0].header.Get("X-Service-Delivery") != got[len(got)-1].header.Get("X-Service-Delivery") {
			t.Errorf("redelivered %d times, under one delivery id: want two attempts of one delivery", len(got))
		}

		b.open("/cabinet/tokens")
		b.click("HR sync")
		b.click("Revoke")
		b.waitForText("Revoke “HR sync”?")
		b.click("Revoke token")
		b.waitForText("has been revoked")
		if status, _ := f.call(token, http.MethodGet, "/token", nil); status != http.StatusUnauthorized {
			t.Errorf("a revoked token answers %d, want 401", status)
		}
		b.open("/cabinet/audit")
		b.waitForText("Token revoked")
		if away := b.foreignRequests(); len(away) > 0 {
			t.Errorf("the pages requested other hosts: %v", away)
		}
	})
}

// addWebhook adds a webhook for every event and returns its signing secret.
func (b *tab) addWebhook(address string) string {
	b.Helper()
	b.open("/cabinet/webhooks/new")
	b.fill("input[name=url]", address)
	evaluate[bool](b, `document.querySelectorAll('input[name=event]').forEach(e => { e.checked = true }), true`)
	b.submit("form.form")
	b.waitForText("Signing secret")
	b.click("Reveal")
	b.waitFor("the secret", `/whsec_[A-Za-z0-9+\/=]{44}/.test(document.body.innerText)`)
	return evaluate[string](b, `document.body.innerText.match(/whsec_[A-Za-z0-9+\/=]{44}/)[0]`)
}

// testEvent sends a test event and checks that it arrives signed.
func (b *tab) testEvent(webhook *receiver, secret string) {
	b.Helper()
	b.click("Send test event")
	b.waitForText("answer of the receiver")
	got := webhook.events("")
	if len(got) == 0 {
		b.Fatal("no test event has arrived")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(got[0].body)
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); got[0].header.Get("X-Service-Signature") != want {
		b.Errorf("the test event is signed %q, want %q", got[0].header.Get("X-Service-Signature"), want)
	}
}

func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		b := f.firstSignIn()
		b.open("/cabinet/settings/sessions")
		b.waitForText("Chrome on Linux")
		other := newTab(t, f.program.URL)
		other.open("/cabinet/tokens")
		other.waitForText("Sign in")
		other.signIn("anna@baltic.example", "not the password at all")
		other.waitForText("the password is wrong")
		other.signIn("anna@baltic.example", password)
		other.waitFor("the page asked for first", `location.pathname === '/cabinet/tokens'`)

		b.open("/cabinet/settings/sessions/end-others")
		b.click("End other sessions")
		b.waitForText("Your other sessions have ended")
		other.open("/cabinet/tokens")
		other.waitForText("Sign in")

		b.open("/cabinet")
		b.submit(`form[action="/cabinet/sign-out"]`)
		b.waitForText("You are signed out")
		b.open("/cabinet")
		b.waitForText("Sign in")
	})
}

func (b *tab) signIn(email, word string) {
	b.Helper()
	b.waitFor("the sign-in form", `document.querySelector('input[name=email]') !== null`)
	b.fill("input[name=email]", email)
	b.fill("input[name=password]", word)
	b.submit("form:has(input[name=password])")
}

func TestKeyboardReachesEverything(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		b := f.administrator()
		b.open("/cabinet/tokens")
		first := evaluate[string](b, `(() => { const s = document.querySelector('a.skip'); s.focus(); return document.activeElement.innerText })()`)
		if first != "Skip to content" {
			t.Errorf("the first stop is %q, want the skip link", first)
		}
		hidden := evaluate[int](b, `[...document.querySelectorAll('a[href], button, input, select, textarea')].filter(e => e.tabIndex < 0 && e.type !== 'hidden').length`)
		if hidden > 0 {
			t.Errorf("%d controls can't be reached by the keyboard", hidden)
		}
	})
}
