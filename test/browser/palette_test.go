package browser

import (
	"net/http"
	"testing"
)

// press sends a key to the page as the keyboard does.
func (b *tab) press(key string, control bool) {
	b.Helper()
	ctrl := "false"
	if control {
		ctrl = "true"
	}
	evaluate[bool](b, `(document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', {key: '`+key+`', ctrlKey: `+ctrl+`, bubbles: true, cancelable: true})), true`)
}

// TestIntegratorFindsTheWay uses the keys, the log of requests and the choice of a test
// event.
func TestIntegratorFindsTheWay(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(_ *testing.T, f *fixture) {
		f.administrator().findTheWay(f)
	})
}

func (b *tab) findTheWay(f *fixture) {
	b.Helper()
	token := b.createToken("HR sync")
	f.provision(token, 1)
	f.call(token, http.MethodPost, "/employees/provision", map[string]string{"externalId": "HR-2"})

	b.press("k", true)
	b.waitFor("the open palette", `document.getElementById('palette').open && document.activeElement.id === 'palette-search'`)
	b.fill("#palette-search", "reque")
	b.waitFor("the page in the palette", `document.querySelector('#palette .found a')?.getAttribute('href') === '/cabinet/requests'`)
	b.press("Enter", false)
	b.waitFor("the page", `location.pathname === '/cabinet/requests'`)
	b.press("?", false)
	b.waitFor("the list of keys", `document.getElementById('keys').open`)
	evaluate[bool](b, `document.getElementById('keys').close(), true`)

	b.reloadUntil("both requests", `document.querySelectorAll('tbody tr').length >= 2 && document.body.innerText.includes('400 invalid request')`)
	b.waitFor("the chart by status", `document.querySelector('.chart .uplot canvas')?.getBoundingClientRect().height > 100`)
	b.press("j", false)
	b.waitFor("the first row", `document.activeElement.closest('table.rows tbody tr') !== null`)
	b.press("/", false)
	b.waitFor("the search", `document.activeElement.matches('[data-search]')`)
	evaluate[bool](b, `(() => { const s = document.querySelector('select[name=outcome]'); s.value = 'failed'; s.dispatchEvent(new Event('change', {bubbles: true})); return true })()`)
	b.waitFor("the filter in the address", `location.search.includes('outcome=failed') && document.querySelectorAll('#list tbody tr').length === 1`)
	b.click("POST /api/v1/employees/provision")
	b.waitForText("name: is required")
	b.waitFor("the masked body", `document.querySelector('.code')?.innerText.includes('"externalId": "•••"') === true`)

	webhook := newReceiver(b.T)
	b.addWebhook(webhook.URL)
	evaluate[bool](b, `(() => { const s = document.querySelector('form[action$="/test"] select'); s.value = 'assignment.completed'; return s.value !== '' })()`)
	b.click("Send test event")
	b.waitForText("answer of the receiver")
	if got := webhook.events("assignment.completed"); len(got) != 1 {
		b.Errorf("%d test events of the chosen kind have arrived, want 1", len(got))
	}

	evaluate[bool](b, `document.fonts.load('14px Inter').then(() => { window.cbFont = document.fonts.check('14px Inter') }), true`)
	b.waitFor("the font", `window.cbFont === true`)
	b.open("/cabinet/webhooks")
	shifts := evaluate[[]string](b, `(() => { const o = new PerformanceObserver(() => {}); o.observe({type: 'layout-shift', buffered: true});
		return o.takeRecords().map(e => e.value + ' by ' + e.sources.map(s => s.node?.outerHTML ?? s.node?.textContent)) })()`)
	if len(shifts) > 0 {
		b.Errorf("the layout of a page shifts: %q", shifts)
	}
}
