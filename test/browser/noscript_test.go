package browser

import (
	"context"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// pressVisible clicks the button with these words, as a mouse does: what covers it gets the click.
func (b *tab) pressVisible(words string) {
	b.Helper()
	const script = `(() => { const w = %WORDS%; const el = [...document.querySelectorAll('main button, main a')].find(e => e.innerText.trim() === w && e.offsetParent !== null);
		if (!el) return false; el.scrollIntoView({block: 'nearest'}); const r = el.getBoundingClientRect();
		const hit = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2); if (!el.contains(hit)) return false; hit.click(); return true })()`
	b.waitFor("a button “"+words+"” that nothing covers", replaceWords(script, words))
}

// TestEverythingWorksWithoutScripts walks through an integrator's main errands with
// scripts turned off.
func TestEverythingWorksWithoutScripts(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(_ *testing.T, f *fixture) {
		f.administrator().workWithoutScripts(f)
	})
}

func (b *tab) workWithoutScripts(f *fixture) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	token := b.createToken("HR sync")
	webhook := newReceiver(b.T)
	webhook.answer(http.StatusBadGateway)

	b.open("/cabinet/webhooks/new")
	b.fill("input[name=url]", webhook.URL)
	b.pressVisible("Add webhook")
	b.waitForText("Webhook added")
	b.pressVisible("Send test event")
	b.waitForText("502")
	b.pressVisible("Reveal")
	b.waitFor("the secret", `/whsec_[A-Za-z0-9+\/=]{44}/.test(document.body.innerText)`)

	f.provision(token, 1)
	b.open("/cabinet/deliveries?state=retrying")
	b.reloadUntil("a failing delivery", `document.querySelector('main table')?.innerText.includes('HR-1')`)
	b.waitFor("the event's link", `(() => { const a = [...document.querySelectorAll('tbody tr')].find(r => r.innerText.includes('HR-1'))?.querySelector('a'); a?.click(); return !!a })()`)
	b.waitForText("Attempt 1")
	webhook.answer(http.StatusOK)
	b.pressVisible("Redeliver")
	b.waitForText("The delivery is queued again")
	b.reloadUntil("the second attempt", `document.body.innerText.includes('Attempt 2')`)

	b.open("/cabinet/audit")
	b.fill("main input[name=q]", "hr sy")
	b.pressVisible("Apply")
	b.waitFor("what the token did", `location.search.includes('q=hr+sy') && document.querySelector('main table')?.innerText.includes('Person 1') === true`)
	b.open("/cabinet/find?q=hr+sy")
	b.waitFor("the token", `document.querySelector('#found a[href="/cabinet/tokens/1"]') !== null`)
}
