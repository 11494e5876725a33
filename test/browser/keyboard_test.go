package browser

import (
	"context"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keys types on the keyboard; it knows of no place on the page but the one with the focus.
// Unlike with chromedp's KeyEvent, a key that a script prevents types nothing.
func (b *tab) keys(text string, modifiers ...chromedp.Modifier) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range text {
			for _, k := range kb.Encode(r) {
				if k.Type == kb.KeyChar {
					continue
				}
				for _, m := range modifiers {
					k.Modifiers |= int64(m)
				}
				if key := kb.Keys[r]; k.Type == kb.KeyDown && key.Print && len(modifiers) == 0 {
					k.Text, k.UnmodifiedText = key.Text, key.Unmodified
				}
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *k); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// goTo goes to the first match of what is typed into the palette.
func (b *tab) goTo(text, path string) {
	b.Helper()
	b.keys("k", chromedp.ModifierCtrl)
	b.waitFor("the palette", `document.activeElement.id === 'palette-search'`)
	b.keys(text)
	b.waitFor(path+" in the palette", `document.querySelector('#palette .found a')?.getAttribute('href') === '`+path+`'`)
	b.keys(kb.Enter)
	b.waitFor(path, `location.pathname === '`+path+`'`)
}

// stop describes the element with the focus. A row is marked as a whole.
const stop = `(() => {
	const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
	const shown = [e, e.closest('label, tr, .tab'), e.nextElementSibling].filter(Boolean).map(x => getComputedStyle(x)).some(s => s.outlineStyle !== 'none' || s.boxShadow !== 'none' || s.textDecorationLine !== 'none');
	return {Name: (e.innerText || e.ariaLabel || e.labels?.[0]?.innerText || e.name || e.id || '').trim().split('\n')[0], Tag: e.tagName.toLowerCase(),
		Seen: e === document.body || shown && r.width > 0 && r.top < innerHeight && r.bottom > 0};
})()`

type tabStop struct {
	Name, Tag string
	Seen      bool
}

// tabTo presses Tab until an element with this name has the focus. Every stop on the way
// must be visible and marked.
func (b *tab) tabTo(name string) {
	b.Helper()
	for range 120 {
		b.keys(kb.Tab)
		at := evaluate[tabStop](b, stop)
		if !at.Seen {
			b.Errorf("at %s: the focus on %s “%s” is not seen", b.location(), at.Tag, at.Name)
		}
		if at.Name == name {
			return
		}
	}
	b.Fatalf("at %s: Tab never comes to “%s”\n%s", b.location(), name, b.pageText())
}

// hasFocus waits until the element with this name has the focus.
func (b *tab) hasFocus(name string) {
	b.Helper()
	b.waitFor("the focus on “"+name+"”", stop+`.Name === `+quote(name))
}

// TestIntegratorByKeyboard does an integrator's errands with keys alone: nothing is clicked
// and nothing is filled in by a script.
func TestIntegratorByKeyboard(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		other := f.administrator()
		token := other.createToken("HR sync")
		b := newTab(t, f.program.URL)
		b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
			return err
		}))
		webhook := newReceiver(t)
		b.signInByKeys()
		b.createTokenByKeys()
		b.addWebhookByKeys(webhook.URL)
		webhook.answer(http.StatusInternalServerError)
		f.provision(token, 1)
		f.provision(token, 2)
		b.redeliverByKeys(webhook)
		b.revokeByKeys()
	})
}

func (b *tab) signInByKeys() {
	b.Helper()
	b.open("/cabinet")
	b.hasFocus("E-mail")
	b.keys("anna@baltic.example" + kb.Tab + password + kb.Enter)
	b.waitForText("Getting started")
	b.keys(kb.Tab)
	b.hasFocus("Skip to content")
	b.keys(kb.Enter + kb.Tab)
	if !evaluate[bool](b, `document.activeElement.closest('main') !== null`) {
		b.Errorf("after the skip link the next stop is %v", evaluate[tabStop](b, stop))
	}
}

func (b *tab) createTokenByKeys() {
	b.Helper()
	b.goTo("toke", "/cabinet/tokens")
	b.tabTo("Create token")
	b.keys(kb.Enter)
	b.waitFor("the form", `location.pathname === '/cabinet/tokens/new'`)
	b.hasFocus("Name")
	b.keys("By hand" + kb.Tab + " ")
	b.tabTo("Create token")
	b.keys(kb.Enter)
	b.waitForText("It will not be shown again")
	b.tabTo("Copy")
}

func (b *tab) addWebhookByKeys(address string) {
	b.Helper()
	b.goTo("webh", "/cabinet/webhooks")
	b.tabTo("Add webhook")
	b.keys(kb.Enter)
	b.waitFor("the form", `location.pathname === '/cabinet/webhooks/new'`)
	b.hasFocus("URL")
	b.keys(address)
	b.tabTo("Add webhook")
	b.keys(kb.Enter)
	b.waitForText("Webhook added")
	b.tabTo("Send test event")
	b.keys(kb.Enter)
	b.waitForText("answer of the receiver")
}

// redeliverByKeys finds a delivery by the search, the filter and j, sends it again in the
// drawer, and comes back to its row.
func (b *tab) redeliverByKeys(webhook *receiver) {
	b.Helper()
	b.goTo("deliv", "/cabinet/deliveries")
	b.reloadUntil("the failed deliveries", `document.querySelector('#list').innerText.match(/Retrying/g)?.length === 2`)
	b.keys("/")
	b.waitFor("the focus in the search", `document.activeElement.matches('[data-search]')`)
	b.keys("HR-")
	b.waitFor("what was found", `location.search.includes('q=HR-') && document.querySelectorAll('#list tbody tr').length === 2`)
	if value := evaluate[string](b, `document.activeElement.value ?? ''`); value != "HR-" {
		b.Errorf("the search with the focus holds %q", value)
	}
	b.tabTo("Any state")
	b.keys("r")
	b.waitFor("the filter, and the focus on it", `location.search.includes('state=retrying') && document.activeElement.name === 'state'`)
	b.tabTo("Clear")
	b.keys("jjk")
	b.waitFor("the first row", `document.activeElement === document.querySelector('#list .row-link')`)
	webhook.answer(http.StatusOK)
	b.keys(kb.Enter)
	b.waitFor("the drawer", `document.querySelector('#drawer #detail') !== null`)
	b.tabTo("Redeliver")
	b.keys(kb.Enter)
	b.waitFor("the second attempt", `document.querySelector('#drawer #detail')?.innerText.includes('Attempt 2') === true`)
	b.keys(kb.Escape)
	// The row is no longer retrying, and leaves the list once that is live.
	b.waitFor("the focus back in the list", `!document.getElementById('drawer').open && document.activeElement.closest('#list') !== null`)
}

// revokeByKeys opens a dialog, leaves it, and agrees the second time.
func (b *tab) revokeByKeys() {
	b.Helper()
	b.keys("?")
	b.waitFor("the list of keys", `document.getElementById('keys').open`)
	b.keys(kb.Escape)
	b.waitFor("the list of keys closed", `!document.getElementById('keys').open`)
	b.goTo("By hand", "/cabinet/tokens/2")
	b.tabTo("Revoke")
	b.keys(kb.Enter)
	b.waitFor("the dialog", `document.getElementById('dialog').open`)
	for range 5 {
		b.keys(kb.Tab)
		if !evaluate[bool](b, `document.activeElement === document.body || document.activeElement.closest('#dialog') !== null`) {
			b.Errorf("Tab leaves the dialog for %v", evaluate[tabStop](b, stop))
		}
	}
	b.keys(kb.Escape)
	b.waitFor("the closed dialog", `!document.getElementById('dialog').open`)
	b.hasFocus("Revoke")
	b.keys(kb.Enter)
	b.waitFor("the dialog again", `document.getElementById('dialog').open`)
	b.tabTo("Revoke token")
	b.keys(kb.Enter)
	b.waitForText("has been revoked")
}
