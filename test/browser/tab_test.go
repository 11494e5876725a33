package browser

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// patience bounds one step in the browser.
const patience = 20 * time.Second

// tab is a browser window with cookies of its own.
type tab struct {
	*testing.T
	ctx  context.Context
	base string

	scheme string // the emulated one

	mu       sync.Mutex
	requests []string
}

// newTab opens a window on the program at base. Without Chromium it reports the test as
// skipped, never as passed, and in a full run (make test) as failed.
func newTab(t *testing.T, base string) *tab {
	t.Helper()
	if chromium == nil {
		pgtest.Program(t, "chromium")
	}
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx, base: base}
	// The first action opens the window and ties it to ctx, so it must not be b.do's
	// short context.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, 900)); err != nil {
		t.Fatalf("open a window: %v", err)
	}
	go b.watch()
	b.slowDown()
	return b
}

// watch records every address that the pages request.
func (b *tab) watch() {
	for e, err := range chromedp.Events(b.ctx, network.RequestWillBeSent) {
		if err != nil {
			return
		}
		b.mu.Lock()
		b.requests = append(b.requests, e.Request.URL)
		b.mu.Unlock()
	}
}

// foreignRequests returns the requested addresses outside the program.
func (b *tab) foreignRequests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, u := range b.requests {
		if !strings.HasPrefix(u, b.base+"/") && !strings.HasPrefix(u, "data:") && u != "about:blank" {
			out = append(out, u)
		}
	}
	return out
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatalf("at %s: %v\n%s", b.location(), err, b.pageText())
	}
}

func (b *tab) location() string {
	at, _ := chromedp.Run(b.ctx, chromedp.Location())
	return at
}

// pageText returns the text of the page, for failure messages.
func (b *tab) pageText() string {
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText.slice(0, 1500) : ""`))
	return text
}

func evaluate[T any](b *tab, script string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.Fatalf("at %s: evaluate %q: %v", b.location(), script, err)
	}
	return out
}

func (b *tab) open(path string) { b.Helper(); b.do(chromedp.Navigate(b.base + path)) }

// setCookies adds the cookies of a response to the window.
func (b *tab) setCookies(cookies []*http.Cookie) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, c := range cookies {
			if _, err := cdp.Call(ctx, t, network.SetCookie, network.SetCookieParams{Name: c.Name, Value: c.Value, URL: b.base, Path: c.Path}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// onNewPage runs the script on every page that is opened from now on, before its own.
func (b *tab) onNewPage(script string) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// fill enters a value as typing does. It is one script, because the browser drops
// its handle of a node whenever a part of the page is replaced.
func (b *tab) fill(selector, value string) {
	b.Helper()
	const script = `(() => { const el = document.querySelector(%SELECTOR%); if (!el) return false; el.value = %VALUE%;
		for (const kind of ['input', 'change']) el.dispatchEvent(new Event(kind, {bubbles: true})); return true })()`
	b.waitFor("a field "+selector, strings.NewReplacer("%SELECTOR%", quote(selector), "%VALUE%", quote(value)).Replace(script))
}

// leave is a function of JavaScript that calls another one, which clicks or submits, and
// marks the page as being left if a link or a form of it leads away. Nothing is found on
// such a page any more: what the test waits for may be on both, and what it does on this
// one would be lost.
const leave = `((act) => {
	const page = address => address.split('#')[0];
	const note = (e) => {
		if (e.defaultPrevented) return;
		const a = e.type === 'click' && e.target.closest('a[href]');
		const leads = a ? !a.hasAttribute('download') && !a.target && page(a.href) !== page(location.href) : e.type === 'submit' && e.target.method !== 'dialog';
		if (leads) window.isBeingLeft = true;
	};
	for (const kind of ['click', 'submit']) addEventListener(kind, note);
	act();
	for (const kind of ['click', 'submit']) removeEventListener(kind, note);
	return true;
})`

// click clicks the first visible button or link with these words.
func (b *tab) click(words string) {
	b.Helper()
	const script = `(() => { const w = %WORDS%; const all = [...document.querySelectorAll('dialog[open] button, dialog[open] a, button, a, summary')];
		const el = all.find(e => e.innerText.trim() === w && e.offsetParent !== null) || all.find(e => e.innerText.trim() === w);
		return el !== undefined && ` + leave + `(() => el.click()) })()`
	b.waitFor("a button “"+words+"”", replaceWords(script, words))
}

// submit submits a form, as Enter in one of its fields does.
func (b *tab) submit(form string) {
	b.Helper()
	b.waitFor("a form "+form, `document.querySelector(`+quote(form)+`) !== null && `+leave+`(() => document.querySelector(`+quote(form)+`).requestSubmit())`)
}

func replaceWords(script, words string) string {
	return strings.ReplaceAll(script, "%WORDS%", quote(words))
}

// waitForText waits until the page shows the text.
func (b *tab) waitForText(text string) {
	b.Helper()
	b.waitFor("the text “"+text+"”", `document.body !== null && document.body.innerText.includes(`+quote(text)+`)`)
}

// waitFor runs the script until it returns true, on a page that has loaded whole: a click
// before the page's scripts are ready has no effect.
func (b *tab) waitFor(what, script string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		// A page that is being left has no context to ask in; the next one has.
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === 'complete' && !window.isBeingLeft && (`+script+`)`)); err == nil && ok {
			return
		}
		select {
		case <-ctx.Done():
			b.Fatalf("at %s: timed out waiting for %s\n%s", b.location(), what, b.pageText())
		case <-tick.C:
		}
	}
}

// reloadUntil waits for what the program does a moment later without being asked: it
// reloads the page until the script returns true. A page that is being reloaded is not
// asked again: one that updates itself might say yes, and the reload would then throw away
// what the test does next.
func (b *tab) reloadUntil(what, script string) {
	b.Helper()
	b.waitFor(what, `Boolean(`+script+`) || (window.isBeingLeft = true, location.reload(), false)`)
}

// waitForAnswer fetches a page until the script, which has the page as text, returns true.
// There is one request at a time: a slow machine would get more of them than it can answer.
func (b *tab) waitForAnswer(path, script string) {
	b.Helper()
	for end := time.Now().Add(patience); !evaluateAsync[bool](b, `fetch(`+quote(path)+`).then(r => r.text()).then(text => Boolean(`+script+`))`); {
		if time.Now().After(end) {
			b.Fatalf("timed out waiting for %s in %s", script, path)
		}
		time.Sleep(25 * time.Millisecond)
	}
}

// quote returns s as a literal of JavaScript.
func quote(s string) string {
	text, _ := json.Marshal(s) // a string always has a JSON text
	return string(text)
}

// emulate sets the window's width and the colour scheme. Animations are off, so that
// colours and positions are final at once.
func (b *tab) emulate(width int64, scheme string) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, 900))
	if scheme == b.scheme {
		return
	}
	b.scheme = scheme
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
}

// evaluateAsync is evaluate for a script whose value is a promise.
func evaluateAsync[T any](b *tab, script string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("at %s: evaluate %q: %v", b.location(), script, err)
	}
	return out
}
