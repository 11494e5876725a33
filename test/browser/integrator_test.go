package browser

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// held is how many events wait for the disabled webhook: more than one page of a list.
const held = 55

// TestIntegratorsErrands does what an integrator does beyond the first steps, and looks
// at what stays on the page: the focus, the title, what was typed, what is shown once.
func TestIntegratorsErrands(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		b := f.administrator()
		b.onNewPage(watchLabels)
		token := b.createToken("HR sync")
		b.reload()
		b.waitFor("the token's page without the secret", `location.pathname === '/cabinet/tokens/1' && !document.body.innerText.includes('`+token+`')`)
		b.open("/cabinet/tokens")
		b.waitForText("1 token")

		webhook := newReceiver(t)
		b.rotateTwice(b.addWebhook(webhook.URL))
		b.sendTestEvent()
		b.postForm("/cabinet/webhooks/1/disable")
		for n := range held {
			f.provision(token, n+1)
		}
		b.readDeliveries()
		b.redeliverHeld()
		b.searchAudit()
		b.submitWrongForms()
		b.checkPaperAndCharts()
		b.invite()
		b.joinSecondCompany(f)
	})
}

// reload loads the page again, as its user would.
func (b *tab) reload() {
	b.Helper()
	evaluate[bool](b, `window.cbOld = true, location.reload(), true`)
	b.waitFor("the page again", `window.cbOld === undefined`)
}

const signingSecret = `document.body.innerText.match(/whsec_[A-Za-z0-9+\/=]{44}/)`

// rotateTwice rotates the signing secret, reloads the page, and asks for another rotation.
// A dialog leaves the title and the focus as they were.
func (b *tab) rotateTwice(first string) {
	b.Helper()
	title := evaluate[string](b, `document.title`)
	evaluate[bool](b, `(() => { const a = document.querySelector('#secret a[href$="/rotate"]'); a.focus(); a.click(); return true })()`)
	b.waitFor("the question", `document.getElementById('dialog').open && document.title === '`+title+`'`)
	b.click("Cancel")
	b.waitFor("the page as it was", `!document.getElementById('dialog').open && document.title === '`+title+`' && document.activeElement.innerText === 'Rotate'`)

	b.click("Rotate")
	b.click("Rotate secret")
	b.waitFor("another secret", signingSecret+`?.[0] !== '`+first+`' && `+signingSecret+` !== null`)
	rotated := evaluate[string](b, signingSecret+`[0]`)
	b.reload()
	b.waitFor("the secret hidden", signingSecret+` === null`)
	b.click("Reveal")
	b.waitFor("the secret", signingSecret+` !== null`)
	if now := evaluate[string](b, signingSecret+`[0]`); now != rotated {
		b.Errorf("reloading has changed the secret from %s to %s", rotated, now)
	}
	b.click("Rotate")
	b.waitForText("already rotated in the last 24 hours")
	b.click("Cancel")
}

// sendTestEvent sends a test event of a chosen kind, which the log then lists.
func (b *tab) sendTestEvent() {
	b.Helper()
	evaluate[bool](b, `document.querySelector('form[action$="/test"] select').value = 'assignment.overdue', true`)
	b.click("Send test event")
	b.waitForText("answer of the receiver")
	b.open("/cabinet/deliveries")
	b.waitFor("the test event in the log", `[...document.querySelectorAll('#list tbody tr')].some(r => r.innerText.includes('assignment.overdue') && r.querySelector('.tag')?.innerText === 'test')`)
}

// readDeliveries goes through the log by the keyboard and at the width of a tablet.
func (b *tab) readDeliveries() {
	b.Helper()
	b.open("/cabinet/deliveries?state=held")
	b.waitFor("a page of rows", `document.querySelectorAll('#list tbody tr').length === 50`)
	stops := evaluate[int](b, `[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')].filter(e => e.tabIndex >= 0 && e.checkVisibility()).length`)
	if stops > 150 {
		b.Errorf("%d tab stops with 50 rows, want at most 150: a link and a button to copy in each row", stops)
	}
	b.emulate(1024, "light")
	if height := evaluate[int](b, `document.documentElement.scrollHeight`); height > 50*40+800 {
		b.Errorf("50 rows at 1024 are %d pixels high", height)
	}
	b.emulate(1440, "light")

	evaluate[bool](b, `document.querySelector('.pager [rel=next]').scrollIntoView(), document.querySelector('.pager [rel=next]').focus(), document.activeElement.click(), true`)
	b.waitFor("the focus at the top of the next page", fmt.Sprintf(`location.search.includes('after=') && document.querySelectorAll('#list tbody tr').length === %d &&
		document.activeElement.id === 'list' && document.activeElement.getBoundingClientRect().top >= 0`, held-50))
}

// redeliverHeld enables the webhook, which offers to send what was held, and comes to the
// same from the log, whose filter is kept.
func (b *tab) redeliverHeld() {
	b.Helper()
	b.open("/cabinet/deliveries?state=held&event=employee.joined")
	b.click("Redeliver many")
	b.waitFor("the filter", `document.querySelector('#state')?.value === 'held' && document.querySelector('#event').value === 'employee.joined'`)
	b.open("/cabinet/webhooks/1")
	b.click("Enable webhook")
	b.click(fmt.Sprintf("Redeliver %d", held))
	b.waitForText(fmt.Sprintf("%d deliveries match", held))
	b.click(fmt.Sprintf("Redeliver %d", held))
	b.waitForText("queued again")
}

// searchAudit searches the log by the beginning of a token's name, of a person's name and of
// a request id, whatever the case.
func (b *tab) searchAudit() {
	b.Helper()
	b.open("/cabinet/audit?action=employee.")
	request := evaluate[string](b, `document.querySelector('#list a[href^="/cabinet/requests?q="]').title`)
	found := func(text, in string) {
		b.Helper()
		b.fill("main input[name=q]", text)
		b.waitFor("entries for "+text, `new URLSearchParams(location.search).get('q') === '`+text+`' && (document.querySelector('#list tbody')?.innerText ?? '').includes('`+in+`')`)
	}
	found("hr SY", "HR sync")
	found("pErson 1", "Person 1")
	found(strings.ToUpper(request[:8]), "HR sync")
}

// submitWrongForms submits forms with an error each: the focus goes to it, and what was
// typed stays.
func (b *tab) submitWrongForms() {
	b.Helper()
	submit := func(path, field string, values ...string) {
		b.Helper()
		b.open(path)
		for i := 0; i < len(values); i += 2 {
			b.fill("main input[name="+values[i]+"]", values[i+1])
		}
		b.submit("main form.form")
		b.waitFor("the focus on "+field, `document.querySelector('.problem') !== null && document.activeElement.name === '`+field+`'`)
	}
	submit("/cabinet/tokens/new", "scope", "name", "Payroll")
	submit("/cabinet/tokens/new", "name")
	submit("/cabinet/webhooks/new", "url", "url", "ftp://files.example")
	submit("/cabinet/settings/sign-in", "repeat", "current", password, "password", "four other words here", "repeat", "four others")
	if kept := evaluate[string](b, `document.querySelector('input[name=password]').value`); kept != "four other words here" {
		b.Errorf("after a mismatch the new password is %q", kept)
	}
}

// watchLabels collects what is written on canvases, which is where charts are drawn.
const watchLabels = `window.cbLabels = new Set(); {
	const write = CanvasRenderingContext2D.prototype.fillText;
	CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { cbLabels.add(text); return write.call(this, text, ...rest) };
}`

// checkPaperAndCharts looks at the labels of a chart, at a tip over an open menu, and at
// what is left of a page on paper.
func (b *tab) checkPaperAndCharts() {
	b.Helper()
	b.open("/cabinet/integrations")
	b.waitFor("labels along a day", `[...cbLabels].filter(label => /^\d\d:00$|^\d+ [A-Z]/.test(label)).length >= 5`)
	b.click("anna@baltic.example")
	evaluate[bool](b, `document.querySelector('.rail [title]').dispatchEvent(new PointerEvent('pointerover', {bubbles: true, pointerType: 'mouse'})), true`)
	b.waitFor("a tip and the menu in the top layer", `document.getElementById('person-menu').matches(':popover-open') && document.getElementById('tip').matches(':popover-open')`)

	b.checkChartOnPaper()
	b.open("/cabinet/audit")
	b.checkTipAtTheEdge()
	b.emulateMedium("print")
	const shown = `(selector => document.querySelector(selector).checkVisibility())`
	for selector, want := range map[string]bool{".rail": false, ".filters": false, ".pager": false, "h1": true, "#list table": true} {
		if got := evaluate[bool](b, shown+`('`+selector+`')`); got != want {
			b.Errorf("on paper %s is shown: %v, want %v", selector, got, want)
		}
	}
	b.emulateMedium("")
}

// checkChartOnPaper prints a page that is dark on the screen: it is dark on white, and its
// chart is no wider than the paper, on which it is not drawn again.
func (b *tab) checkChartOnPaper() {
	b.Helper()
	evaluate[bool](b, `document.documentElement.dataset.theme = 'dark', true`)
	b.emulateMedium("print")
	paper := evaluate[struct {
		Ink   string
		Chart float64
	}](b, `(() => { const box = document.querySelector('[data-chart-plot]'); box.style.width = '500px';
		return {Ink: getComputedStyle(document.querySelector('h1')).color, Chart: box.querySelector('canvas').getBoundingClientRect().width} })()`)
	if paper.Ink != "rgb(23, 28, 36)" || paper.Chart > 500 {
		b.Errorf("on paper 500 pixels wide the ink is %s and a chart %v pixels wide", paper.Ink, paper.Chart)
	}
	b.emulateMedium("")
}

// checkTipAtTheEdge looks at the tip of a time near the right edge of the window, which has
// one line as it has elsewhere.
func (b *tab) checkTipAtTheEdge() {
	b.Helper()
	height := evaluate[float64](b, `(() => {
		const time = document.createElement('span');
		time.title = '19 Dec 2026, 02:06:52 Europe/Riga';
		time.textContent = 'in 30 days';
		time.style = 'position: fixed; right: 8px; top: 200px';
		document.querySelector('main').append(time);
		const tip = document.getElementById('tip');
		for (const at of [time, document.body, time]) at.dispatchEvent(new PointerEvent('pointerover', {bubbles: true, pointerType: 'mouse'}));
		return tip.getBoundingClientRect().height;
	})()`)
	if height == 0 || height > 30 {
		b.Errorf("the tip at the edge is %v pixels high, want one line", height)
	}
}

func (b *tab) emulateMedium(medium string) {
	b.Helper()
	b.scheme = ""
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium})
		return err
	}))
}

// invite creates an invitation, whose link is shown once and outlives a reload.
func (b *tab) invite() {
	b.Helper()
	b.open("/cabinet/settings/administrators/invite")
	b.fill("input[name=email]", "boris@baltic.example")
	b.click("Create link")
	b.waitForText("Copy the link now")
	link := evaluate[string](b, `document.querySelector('[data-secret]').innerText`)
	b.reload()
	b.waitFor("the administrators", `location.pathname === '/cabinet/settings/administrators' && !document.body.innerText.includes('`+link+`')`)
	stranger := newTab(b.T, b.base)
	stranger.open(strings.TrimPrefix(link, b.base))
	stranger.waitForText("Save and continue")
}

// joinSecondCompany accepts the link to another company with the sign-in that the person
// has, and switches between the companies without leaving the section.
func (b *tab) joinSecondCompany(f *fixture) {
	b.Helper()
	second, err := f.program.CreateCompany(f.Context(), "Baltic Air", "anna@baltic.example", "Europe/Riga")
	if err != nil {
		b.Fatal(err)
	}
	link, err := url.Parse(second.SignInURL)
	if err != nil {
		b.Fatal(err)
	}
	b.open(link.Path)
	b.waitForText("Join Baltic Air?")
	b.click("Join")
	b.waitForText("You are now an administrator")
	b.open("/cabinet/tokens")
	b.waitForText("No tokens yet")
	evaluate[bool](b, `document.querySelector('button.company').click(), true`)
	b.click("Baltic Freight")
	b.waitFor("the tokens of the other company", `location.pathname === '/cabinet/tokens' && document.body.innerText.includes('HR sync')`)
}
