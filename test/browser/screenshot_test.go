package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/coursebridge/coursebridge/internal/apptest"
)

// emptyPages are looked at before the company has anything.
var emptyPages = []string{
	"/cabinet", "/cabinet/employees", "/cabinet/courses", "/cabinet/assignments", "/cabinet/assignments/new", "/cabinet/reports",
	"/cabinet/reports/overdue", "/cabinet/reports/courses", "/cabinet/reports/tags", "/cabinet/reports/compliance", "/cabinet/reports/matrix",
	"/cabinet/integrations", "/cabinet/tokens", "/cabinet/webhooks", "/cabinet/deliveries", "/cabinet/requests", "/cabinet/audit", "/cabinet/find",
}

// viewerPages are looked at as somebody who may change nothing.
var viewerPages = []string{
	"/cabinet", "/cabinet/employees", "/cabinet/employees/1", "/cabinet/assignments", "/cabinet/courses/1", "/cabinet/tokens",
	"/cabinet/webhooks/1", "/cabinet/deliveries", "/cabinet/settings", "/cabinet/settings/administrators",
}

// TestScreenshots writes a screenshot of every page to SCREENSHOTS_DIR. Without
// that variable it does nothing.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SCREENSHOTS_DIR")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, apptest.Start(t, options))
	b := f.administrator()
	for _, path := range emptyPages {
		b.screenshot(dir, "empty"+path, path)
	}
	paths := append(fillCompany(f, b), fillRest(f, b)...)
	addLongNames(f, b)
	for _, path := range append(paths, "/cabinet/deliveries?period=custom", "/cabinet/employees?q=maximiliane", "/cabinet/assignments?tab=overdue") {
		b.screenshot(dir, strings.TrimPrefix(path, "/"), path)
	}
	for _, s := range states {
		b.screenshotState(dir, s)
	}
	stranger := newTab(t, f.program.URL)
	for _, path := range append(openPages, "/docs", "/docs/webhooks", "/docs/search?q=token") {
		stranger.screenshot(dir, strings.TrimPrefix(path, "/"), path)
	}
	screenshotOnce(b, stranger, dir)
	b.postForm("/cabinet/settings/administrators/invite", "email", "viewer@baltic.example", "role", "viewer")
	viewer := f.invited("viewer@baltic.example")
	for _, path := range viewerPages {
		viewer.screenshot(dir, "viewer"+path, path)
	}
	if _, err := f.program.SuspendCompany(t.Context(), f.company.CompanyID); err != nil {
		t.Fatal(err)
	}
	b.screenshot(dir, "suspended/cabinet", "/cabinet")
	b.screenshot(dir, "suspended/cabinet/employees", "/cabinet/employees")
}

// screenshotOnce takes pictures of what is shown once: an invitation, the recovery codes, and
// the sign-in with a code.
func screenshotOnce(b, stranger *tab, dir string) {
	b.open("/cabinet/settings/administrators/invite")
	b.fill("input[name=email]", "boris@baltic.example")
	b.click("Create link")
	b.waitForText("Copy the link now")
	b.screenshotHere(dir, "once-invited")
	stranger.open(strings.TrimPrefix(evaluate[string](b, `document.querySelector('[data-secret]').innerText`), b.base))
	stranger.screenshotHere(dir, "once-welcome")
	b.open("/cabinet/settings/sign-in/second-factor")
	if !evaluate[bool](b, `document.querySelector('[data-secret]') !== null`) { // no state has asked for it
		b.beginSecondFactor()
	}
	b.confirmSecondFactor()
	b.screenshotHere(dir, "once-recovery-codes")
	stranger.open("/cabinet")
	stranger.signIn("anna@baltic.example", password)
	stranger.waitForText("six-digit code")
	stranger.screenshotHere(dir, "once-code")
	b.open("/cabinet/settings/sign-in")
	b.screenshotHere(dir, "once-two-step-on")
}

// screenshotHere takes pictures of the page that is open.
func (b *tab) screenshotHere(dir, name string) {
	b.Helper()
	for _, l := range picturedViewports() {
		if file := picturePath(dir, name, l); wanted(file) {
			b.emulate(l.width, l.scheme)
			b.savePicture(file, chromedp.FullScreenshot(100))
		}
	}
}

// addLongNames adds a person and a course whose names fill every column.
func addLongNames(f *fixture, b *tab) {
	token := b.createToken("Third")
	status, answer := f.call(token, http.MethodPost, "/employees/provision", map[string]any{
		"externalId": "urn:baltic-freight:personnel:subsidiary-riga:0000000000000000042", "name": "Maximiliane Alexandra von der Goltz-Hohenstein zu Sayn-Wittgenstein",
		"email": "maximiliane.alexandra.von-der-goltz-hohenstein@subsidiary.baltic-freight.example",
	})
	if status != http.StatusOK {
		f.Fatalf("provision: %d %v", status, answer)
	}
	f.call(token, http.MethodPatch, "/employees/urn:baltic-freight:personnel:subsidiary-riga:0000000000000000042", map[string]any{
		"tags": []string{"warehouse", "night shift", "forklift drivers of the harbour terminal", "first aiders", "Riga", "team leads"},
	})
	f.call(token, http.MethodPost, "/assignments", map[string]any{
		"employeeExternalId": "urn:baltic-freight:personnel:subsidiary-riga:0000000000000000042", "courseId": 1, "externalId": "A-3",
		"deadline": "2026-01-02T10:00:00Z", "isRequired": true,
	})
}

// invited signs in with the sign-in link of an administrator.
func (f *fixture) invited(email string) *tab {
	f.Helper()
	again, err := f.program.AdminLink(f.Context(), email, f.company.CompanyID, false)
	if err != nil {
		f.Fatal(err)
	}
	link, err := url.Parse(again.SignInURL)
	if err != nil {
		f.Fatal(err)
	}
	b := newTab(f.T, f.program.URL)
	b.open(link.Path)
	b.fill("input[name=password]", password)
	b.fill("input[name=repeat]", password)
	b.click("Save and continue")
	b.waitForText("Needs attention")
	return b
}

// state is a page in a state that no address leads to.
type state struct {
	name, path string
	script     string // run on the page
	ready      string // is true when the state is reached
	widest     int64  // the widest window that has the state, 0 for any
}

const submitForm = `document.querySelector('main form[method=post]').noValidate = true, document.querySelector('main form[method=post]').requestSubmit(document.querySelector('main form[method=post] .btn-primary')), true`

var states = []state{
	{name: "navigation", path: "/cabinet/employees", script: `document.querySelector('.bar button').click(), true`, ready: `document.querySelector('.rail:popover-open') !== null`, widest: 1000},
	{name: "filters", path: "/cabinet/assignments", script: `document.querySelector('.filters-toggle').click(), true`, ready: `true`, widest: 640},
	{name: "person-menu", path: "/cabinet", script: `(document.querySelector('.rail')?.matches('[popover]') && innerWidth < 1024 && document.querySelector('.bar button').click(), document.querySelector('.person-button').click(), true)`, ready: `document.querySelector('.menu:popover-open') !== null`},
	{name: "palette", path: "/cabinet", script: `document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true, bubbles: true})), true`, ready: `document.querySelectorAll('#palette .found a').length > 0`},
	{name: "keys", path: "/cabinet", script: `document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '?', bubbles: true})), true`, ready: `document.getElementById('keys').open`},
	{name: "dialog-revoke", path: "/cabinet/assignments/1", script: `[...document.querySelectorAll('.head-action a')].find(a => a.innerText === 'Revoke').click(), true`, ready: `document.querySelector('dialog[open] #confirm, dialog[open] form') !== null`},
	{name: "dialog-erase", path: "/cabinet/employees/1", script: `[...document.querySelectorAll('.head-action a')].find(a => a.innerText === 'Erase').click(), true`, ready: `document.querySelector('dialog[open] form') !== null`},
	{name: "drawer", path: "/cabinet/deliveries", script: `document.querySelector('.row-link').click(), true`, ready: `document.querySelector('#drawer #detail') !== null`},
	{name: "ticked", path: "/cabinet/employees", script: `[...document.querySelectorAll('[data-bulk-row]')].slice(0, 3).forEach(e => e.click()), true`, ready: `document.body.innerText.includes('3 selected')`},
	{name: "table-behind-chart", path: "/cabinet/integrations", script: `document.querySelector('.behind summary').click(), true`, ready: `document.querySelector('.behind').open`},
	{name: "tip", path: "/cabinet/employees/1", script: `document.querySelector('table time').dispatchEvent(new PointerEvent('pointerover', {pointerType: 'mouse', bubbles: true})), true`, ready: `document.querySelector('.tip:popover-open') !== null`},
	{name: "error-employee", path: "/cabinet/employees/new", script: submitForm, ready: `document.querySelector('.problem') !== null`},
	{name: "error-import", path: "/cabinet/employees/import", script: submitForm, ready: `document.querySelector('.problem, .notice.tone-red') !== null`},
	{name: "error-assign", path: "/cabinet/assignments/new", script: submitForm, ready: `document.querySelector('.problem, .notice.tone-red') !== null`},
	{name: "error-token", path: "/cabinet/tokens/new", script: submitForm, ready: `document.querySelector('.problem') !== null`},
	{name: "error-webhook", path: "/cabinet/webhooks/new", script: `document.querySelector('input[name=url]').value = 'nonsense', ` + submitForm, ready: `document.querySelector('.problem') !== null`},
	{name: "error-invite", path: "/cabinet/settings/administrators/invite", script: submitForm, ready: `document.querySelector('.problem') !== null`},
	{name: "error-password", path: "/cabinet/settings/sign-in", script: submitForm, ready: `document.querySelector('.problem') !== null`},
	{name: "assign-counted", path: "/cabinet/assignments/new", script: `document.querySelector('[name=everyone]').click(), document.querySelector('[name=course]').click(), document.querySelector('[name=when][value=date]').click(), true`, ready: `/[0-9]/.test(document.getElementById('assign-sum').innerText)`},
	{name: "secret-token", path: "/cabinet/tokens/new", script: `document.querySelector('input[name=name]').value = 'Shown once', document.querySelector('[name=scope]').click(), ` + submitForm, ready: `document.querySelector('[data-secret]') !== null`},
	{name: "secret-revealed", path: "/cabinet/webhooks/2", script: `[...document.querySelectorAll('main button')].find(e => e.innerText === 'Reveal').click(), true`, ready: `document.querySelector('[data-secret]') !== null`},
	{name: "second-factor", path: "/cabinet/settings/sign-in/second-factor", script: `document.querySelector('.qr') !== null || (document.querySelector('input[name=current]').value = '` + password + `', ` + submitForm + `)`, ready: `document.querySelector('.qr') !== null`},
}

// screenshotState brings the page into the state once for every window.
func (b *tab) screenshotState(dir string, s state) {
	b.Helper()
	for _, l := range picturedViewports() {
		file := picturePath(dir, "state-"+s.name, l)
		if s.widest != 0 && l.width > s.widest || !wanted(file) {
			continue
		}
		b.emulate(l.width, l.scheme)
		b.open(s.path)
		b.waitFor("the scripts", `true`)
		evaluate[bool](b, s.script)
		b.waitFor(s.name, s.ready)
		b.savePicture(file, chromedp.CaptureScreenshot())
	}
}

func (b *tab) screenshot(dir, name, path string) {
	b.Helper()
	for _, l := range picturedViewports() {
		file := picturePath(dir, name, l)
		if !wanted(file) {
			continue
		}
		b.emulate(l.width, l.scheme)
		b.open(path)
		if path == "/docs/api" {
			b.waitForText("Your first call")
		}
		b.savePicture(file, chromedp.FullScreenshot(100))
	}
	if file := strings.TrimSuffix(picturePath(dir, name, viewport{scheme: "paper"}), ".png") + ".pdf"; selected != nil && wanted(file) {
		b.emulate(1440, "dark") // nobody prints a dark page, whatever the screen shows
		b.open(path)
		b.savePicture(file, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
			printed, err := cdp.Call(ctx, t, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69})
			return printed.Data, err
		})
	}
}

// selected is what SCREENSHOTS_ONLY says, a pattern of the names of the pictures to take. With it
// there are also those of a tablet, of a large screen and of paper: 'deliveries.*-768', 'audit-.*paper'.
var selected = func() *regexp.Regexp {
	if pattern := os.Getenv("SCREENSHOTS_ONLY"); pattern != "" {
		return regexp.MustCompile(pattern)
	}
	return nil
}()

func picturedViewports() []viewport {
	if selected == nil {
		return viewports
	}
	return append(slices.Clone(viewports), viewport{768, "light"}, viewport{768, "dark"}, viewport{1920, "light"}, viewport{1920, "dark"})
}

func wanted(file string) bool {
	return selected == nil || selected.MatchString(filepath.Base(file))
}

// picturePath returns the name of the file for a picture of a page in a window.
func picturePath(dir, name string, window viewport) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("/?=&.", r) {
			return '-'
		}
		return r
	}, name)
	return filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, window.width, window.scheme))
}

func (b *tab) savePicture(file string, take chromedp.Action[[]byte]) {
	b.Helper()
	png, err := chromedp.Run(b.ctx, take)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(file, png, 0o600); err != nil {
		b.Fatal(err)
	}
}
