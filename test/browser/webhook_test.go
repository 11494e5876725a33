package browser

import (
	"net/http"
	"testing"
	"time"
)

// TestWebhookIsTuned sets the headers, the rate and the strict order of a webhook, watches its state
// follow its failures, and recovers what was missed.
func TestWebhookIsTuned(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		b := f.administrator()
		token := b.createToken("HR sync")
		hook := newReceiver(t)
		b.addWebhook(hook.URL)
		b.open("/cabinet/webhooks/1/edit")
		b.fill("textarea[name=headers]", "Authorization: Bearer top-secret")
		b.fill("input[name=rate]", "600")
		evaluate[bool](b, `document.querySelector('input[name=strictOrder]').click(), true`)
		b.submit("main form.form")
		b.waitForText("at most 600")
		if evaluate[bool](b, `document.body.innerText.includes('top-secret')`) {
			t.Error("the value of a header is shown")
		}
		b.waitForText("strict: one event at a time")

		b.postForm("/cabinet/webhooks/1/edit", "url", hook.URL, "headers", "Authorization: ••••••", "event", "employee.joined")
		state := func(word string) {
			b.Helper()
			b.open("/cabinet/webhooks")
			b.reloadUntil("the state "+word, `document.querySelector('main table tbody .status')?.innerText.trim() === '`+word+`'`)
		}
		for n := range 8 {
			f.provision(token, n+1)
		}
		b.waitForAnswer("/cabinet/deliveries?state=delivered", `text.match(/id="d-/g)?.length === 8`)
		state("Healthy")
		if got := hook.events("employee.joined"); got[0].header.Get("Authorization") != "Bearer top-secret" {
			t.Errorf("the receiver got Authorization %q", got[0].header.Get("Authorization"))
		}
		hook.answer(http.StatusInternalServerError)
		f.provision(token, 9)
		state("Degraded")
		for n := range 12 {
			f.provision(token, n+10)
		}
		state("Failing")
		b.open("/cabinet/integrations")
		for _, of := range []string{"", "endpoint=1&"} {
			b.reloadUntil("13 retrying "+of, `document.querySelector('a[href="/cabinet/deliveries?`+of+`period=24h&state=retrying"]')?.textContent.startsWith('13')`)
		}
		evaluate[bool](b, `document.querySelector('a[href="/cabinet/deliveries?endpoint=1&period=24h&state=retrying"]').click(), true`)
		b.waitFor("13 rows", `document.querySelectorAll('#list tbody tr').length === 13`)

		b.open("/cabinet/webhooks/1")
		evaluate[bool](b, `document.querySelector('.recover input[name=from]').value = '', document.querySelector('.recover select').value = 'all', true`)
		b.submit(".recover")
		b.waitForText("8 deliveries match") // those that are retried by themselves are left out
		hook.answer(http.StatusOK)
		b.click("Redeliver 8")
		b.waitForText("queued again")
		for end := time.Now().Add(patience); hook.repeated("employee.joined") < 8; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d of 8 events came again", hook.repeated("employee.joined"))
			}
		}
	})
}

// repeated counts the events of a kind that came more than once.
func (r *receiver) repeated(kind string) int {
	times, repeated := map[string]int{}, 0
	for _, d := range r.events(kind) {
		id := d.header.Get("X-Service-Delivery")
		if times[id]++; times[id] == 2 {
			repeated++
		}
	}
	return repeated
}

// TestTokenIsRegenerated replaces a token that expires soon; both secrets work until the
// old one is stopped.
func TestTokenIsRegenerated(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		b := f.administrator()
		soon := time.Now().AddDate(0, 0, 12).Format(time.DateOnly)
		b.open("/cabinet/tokens/new")
		b.fill("input[name=name]", "HR sync")
		b.fill("input[name=date]", soon)
		evaluate[bool](b, `document.querySelector('input[name=scope]').click(), document.querySelector('input[name=expiry][value=date]').click(), true`)
		b.submit("form.form")
		const secret = `(document.body.innerText.match(/cb_[0-9A-Za-z]{43}/) ?? [''])[0]`
		b.waitFor("the secret", secret+` !== ''`)
		first := evaluate[string](b, secret)
		b.open("/cabinet/tokens/1")
		b.waitForText("This token expires soon")
		b.click("Regenerate")
		b.waitFor("the form", `document.querySelector('input[name=grace][value="24"]') !== null`)
		evaluate[bool](b, `document.querySelector('input[name=grace][value="24"]').click(), document.querySelector('input[name=expiry][value="90"]').click(), true`)
		b.submit("form:has(input[name=grace])")
		b.waitFor("another secret", secret+` !== '' && `+secret+` !== '`+first+`'`)
		second := evaluate[string](b, secret)
		for _, token := range []string{first, second} {
			if status, _ := f.call(token, http.MethodGet, "/token", nil); status != http.StatusOK {
				t.Errorf("in the grace period a secret answers %d", status)
			}
		}
		b.reload()
		b.waitForText("The old secret still works")
		b.open("/cabinet/tokens/1/end-old")
		b.click("Stop old secret")
		b.waitForText("The old secret has stopped working.")
		if status, _ := f.call(first, http.MethodGet, "/token", nil); status != http.StatusUnauthorized {
			t.Errorf("the stopped secret answers %d", status)
		}
	})
}

// TestSmallThings looks at what is said when something small goes wrong.
func TestSmallThings(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		b := f.administrator()
		b.open("/cabinet/nothing/here")
		b.waitFor("the rail next to the message", `document.body.innerText.includes('There is no such page') && document.querySelector('.rail a[href="/cabinet/audit"]').checkVisibility()`)

		b.open("/cabinet/webhooks/new")
		b.fill("input[name=url]", "ftp://files.example")
		b.submit("main form.form")
		b.waitFor("an error that allows what the help allows", `document.querySelector('#url-error')?.innerText.includes('must start with https:// or http://') === true && document.querySelector('.field:has(input[name=url])').innerText.includes('or http://')`)
		if bubbles := evaluate[int](b, `[...document.forms].filter(f => f.method === 'post' && !f.noValidate && f.querySelector('[required], [type=email], [type=url]')).length`); bubbles > 0 {
			t.Errorf("the browser shows bubbles of its own for %d forms", bubbles)
		}

		b.beginSecondFactor()
		secret := evaluate[string](b, `document.querySelector('[data-secret]').innerText`)
		b.fill("main input[name=code]", "000000x")
		b.submit("main form.form")
		b.waitFor("the error, and the same secret", `document.activeElement.name === 'code' && document.body.innerText.includes('The code is wrong') && document.querySelector('[data-secret]').innerText === '`+secret+`'`)
		if evaluate[bool](b, `document.querySelector('main').innerText.includes('recovery code')`) {
			t.Errorf("recovery codes that do not exist are suggested:\n%s", b.pageText())
		}

		b.createToken("A token with a name that is rather long, so that one sees where it is cut")
		token := evaluate[string](b, `document.body.innerText.match(/cb_[0-9A-Za-z]{43}/)[0]`)
		f.call(token, http.MethodGet, "/token", nil)
		b.open("/cabinet/tokens/1")
		b.emulate(1440, "light")
		b.reloadUntil("the address of the last use", `[...document.querySelectorAll('main .mono')].some(e => e.innerText === '127.0.0.1')`)
		if cut := evaluate[bool](b, `(e => { for (let up = e; up.tagName !== 'MAIN'; up = up.parentElement) {
			if (getComputedStyle(up).overflowX !== 'visible' && up.scrollWidth > up.clientWidth + 1) return true } return false })
			([...document.querySelectorAll('main .mono')].find(e => e.innerText === '127.0.0.1'))`); cut {
			t.Error("the address of the last use is cut")
		}
	})
}
