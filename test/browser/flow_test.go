package browser

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// createToken makes a token in the cabinet and gives it.
func (b *tab) createToken(name string) string {
	b.Helper()
	b.open("/cabinet/tokens")
	b.press("Create token")
	b.until("the form", `document.querySelector('input[name=name]') !== null`)
	b.fill("input[name=name]", name)
	ask[bool](b, `document.querySelectorAll('input[name=scope]').forEach(e => { e.checked = true }), true`)
	ask[bool](b, `document.querySelector('form.form').requestSubmit(), true`)
	b.sees("It will not be shown again")
	token := ask[string](b, `document.body.innerText.match(/cb_[0-9A-Za-z]{43}/)[0]`)
	if curl := ask[string](b, `document.body.innerText`); !strings.Contains(curl, "/api/v1/token -H 'Authorization: Bearer "+token+"'") {
		b.Errorf("no curl command that works as pasted:\n%s", curl)
	}
	return token
}

func TestFromFirstSignInToRevokedToken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		b := w.enter()
		if b == nil {
			return
		}
		token := b.createToken("HR sync")
		if status, answer := w.call(token, http.MethodGet, "/token", nil); status != http.StatusOK {
			t.Fatalf("the new token: %d %v", status, answer)
		}
		hook := newReceiver(t)
		secret := b.addWebhook(hook.URL + "/hook")
		b.testEvent(hook, secret)

		hook.answer(http.StatusInternalServerError)
		w.provision(token, 1)
		b.open("/cabinet/deliveries")
		b.until("a failing delivery", `document.querySelector('table')?.innerText.includes('Retrying') || (location.reload(), false)`)
		b.open(ask[string](b, `document.querySelector('a[href^="/cabinet/deliveries/0"]').getAttribute('href')`))
		b.sees("500")
		b.sees("answer of the receiver")

		hook.answer(http.StatusOK)
		b.press("Redeliver")
		b.sees("The delivery is sent again")
		b.until("a second attempt", `document.body.innerText.includes('Attempt 2') || (location.reload(), false)`)
		b.sees("Delivered")
		got := hook.events("employee.joined")
		if len(got) < 2 || got[0].header.Get("X-Service-Delivery") != got[len(got)-1].header.Get("X-Service-Delivery") {
			t.Errorf("redelivered %d times, under one delivery id: want two attempts of one delivery", len(got))
		}

		b.open("/cabinet/tokens")
		b.press("HR sync")
		b.press("Revoke")
		b.sees("Revoke “HR sync”?")
		b.press("Revoke token")
		b.sees("is revoked")
		if status, _ := w.call(token, http.MethodGet, "/token", nil); status != http.StatusUnauthorized {
			t.Errorf("a revoked token answers %d, want 401", status)
		}
		b.open("/cabinet/audit")
		b.sees("Token revoked")
		if away := b.strangers(); len(away) > 0 {
			t.Errorf("pages asked other hosts: %v", away)
		}
	})
}

// addWebhook makes a webhook for every event and gives its secret.
func (b *tab) addWebhook(address string) string {
	b.Helper()
	b.open("/cabinet/webhooks/new")
	b.fill("input[name=url]", address)
	ask[bool](b, `document.querySelectorAll('input[name=event]').forEach(e => { e.checked = true }), true`)
	ask[bool](b, `document.querySelector('form.form').requestSubmit(), true`)
	b.sees("Signing secret")
	b.press("Reveal")
	b.until("the secret", `/whsec_[A-Za-z0-9+\/=]{44}/.test(document.body.innerText)`)
	return ask[string](b, `document.body.innerText.match(/whsec_[A-Za-z0-9+\/=]{44}/)[0]`)
}

// testEvent sends a test event and checks that it arrives signed.
func (b *tab) testEvent(hook *receiver, secret string) {
	b.Helper()
	b.press("Send test event")
	b.sees("answer of the receiver")
	got := hook.events("")
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
	each(t, func(t *testing.T, w *world) {
		b := w.enter()
		if b == nil {
			return
		}
		b.open("/cabinet/settings/sessions")
		b.sees("Chrome on Linux")
		other := newTab(t, w.program.URL)
		other.open("/cabinet/tokens")
		other.sees("Sign in")
		other.signIn("anna@baltic.example", "not the password at all")
		other.sees("the password is wrong")
		other.signIn("anna@baltic.example", password)
		other.until("the page asked for first", `location.pathname === '/cabinet/tokens'`)

		b.open("/cabinet/settings/sessions/end-others")
		b.press("End other sessions")
		b.sees("Your other sessions have ended")
		other.open("/cabinet/tokens")
		other.sees("Sign in")

		b.open("/cabinet")
		ask[bool](b, `document.querySelector('form[action="/cabinet/sign-out"]').requestSubmit(), true`)
		b.sees("You are signed out")
		b.open("/cabinet")
		b.sees("Sign in")
	})
}

func (b *tab) signIn(email, word string) {
	b.Helper()
	b.until("the sign-in form", `document.querySelector('input[name=email]') !== null`)
	b.fill("input[name=email]", email)
	b.fill("input[name=password]", word)
	ask[bool](b, `document.querySelector('input[name=password]').form.requestSubmit(), true`)
}

func TestKeyboardReachesEverything(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		b := w.enter()
		if b == nil {
			return
		}
		b.open("/cabinet/tokens")
		first := ask[string](b, `(() => { const s = document.querySelector('a.skip'); s.focus(); return document.activeElement.innerText })()`)
		if first != "Skip to content" {
			t.Errorf("the first stop is %q, want the skip link", first)
		}
		hidden := ask[int](b, `[...document.querySelectorAll('a[href], button, input, select, textarea')].filter(e => e.tabIndex < 0 && e.type !== 'hidden').length`)
		if hidden > 0 {
			t.Errorf("%d controls can't be reached by the keyboard", hidden)
		}
	})
}
