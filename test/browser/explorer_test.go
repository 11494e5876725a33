package browser

import (
	"testing"
)

// TestExplorer makes a call in the API docs as an integrator does, on a desktop and on
// a phone.
func TestExplorer(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(_ *testing.T, f *fixture) {
		f.administrator().exploreAPI(f)
	})
}

func (b *tab) exploreAPI(f *fixture) {
	b.Helper()
	token := b.createToken("Explorer")
	f.provision(token, 1)

	b.open("/docs/api")
	b.waitFor("the contents", `document.querySelector('#contents a[href="#operations-Employees-listEmployees"]') !== null`)
	const list = "document.getElementById('operations-Employees-listEmployees')"
	b.follow("#operations-Employees-listEmployees")
	b.waitFor("the operation below the header, and open",
		list+`.classList.contains('is-open') && `+list+`.getBoundingClientRect().top >= 48 && `+list+`.getBoundingClientRect().top < 200`)
	if at := evaluate[string](b, `location.hash`); at != "#operations-Employees-listEmployees" {
		b.Errorf("the address is %q", at)
	}
	evaluate[bool](b, list+`.querySelector('.opblock-summary-control').click(), true`)
	b.waitFor("the closed operation", `!`+list+`.classList.contains('is-open')`)
	b.follow("#operations-Employees-listEmployees") // the address is the same
	b.waitFor("the operation open again", list+`.classList.contains('is-open')`)
	b.follow("#operations-Progress_and_results-")
	b.waitFor("an operation of a tag with spaces", `document.querySelector('[id^=operations-Progress_and_results].is-open') !== null`)

	b.click("Authorize")
	// React does not notice a value that a script sets, but it does notice typing.
	b.waitFor("the field of the token", `(() => { const e = document.querySelector('.auth-container input'); if (!e) return false;
		e.focus(); return document.execCommand('insertText', false, '`+token+`') && e.value !== '' })()`)
	evaluate[bool](b, `document.querySelector('.auth-btn-wrapper button[type=submit]').click(), true`)
	b.waitFor("the token kept", `sessionStorage.getItem('docs-token') !== null`)
	b.open("/cabinet")
	b.open("/docs/api#operations-Employees-listEmployees") // a reload: only the tab knows the token
	// Swagger UI shows the button before it knows the parameters, and a click that comes too
	// early disables the button for good.
	b.waitFor("the operation and its parameters", `document.querySelector('#operations-Employees-listEmployees .execute') !== null &&
		document.querySelector('#operations-Employees-listEmployees table.parameters input') !== null`)
	filled := evaluate[string](b, `[...document.querySelectorAll('#operations-Employees-listEmployees table.parameters input')].filter(e => e.value && !['page', 'limit'].includes(e.placeholder)).map(e => e.placeholder + '=' + e.value).join()`)
	if filled != "" {
		b.Errorf("optional parameters are filled in: %s", filled)
	}
	evaluate[bool](b, `document.querySelector('#operations-Employees-listEmployees .execute').click(), true`)
	b.waitFor("the person in the answer", `document.querySelector('#operations-Employees-listEmployees .live-responses-table')?.innerText.includes('HR-1') === true`)
	const id = `(document.querySelector('#operations-Employees-listEmployees .live-responses-table')?.innerText.match(/x-request-id: (\S+)/)?.[1] ?? '')`
	first := evaluate[string](b, id)
	evaluate[bool](b, `document.querySelector('#operations-Employees-listEmployees .execute').click(), true`)
	b.waitFor("another request id", id+` !== '' && `+id+` !== '`+first+`' && '`+first+`' !== ''`)
	const icon = `getComputedStyle(document.querySelector('.curl-command .copy-to-clipboard button'))`
	if colour := evaluate[string](b, icon+`.backgroundColor`); colour != "rgb(89, 99, 110)" || evaluate[string](b, icon+`.maskImage`) == "none" {
		b.Errorf("the copy icon has the colour %s", colour)
	}

	b.emulate(390, "light")
	cut := evaluate[[]string](b, `[...document.querySelectorAll('.docs-bar a, .docs .markdown :is(p, td, th, code), .opblock-tag :is(a, p)')]
		.filter(e => e.checkVisibility() && (e.getBoundingClientRect().right > document.documentElement.clientWidth - 8 || e.matches('.opblock-tag p') && e.getBoundingClientRect().width < 240))
		.map(e => e.innerText.slice(0, 40)).slice(0, 5)`)
	if len(cut) > 0 {
		b.Errorf("on a phone these are cut at the edge of the window, or squeezed: %q", cut)
	}
	evaluate[bool](b, `document.querySelector('.docs-menu').click(), true`)
	b.waitFor("the contents on a phone", `document.getElementById('contents').matches(':popover-open')`)
	b.follow("#errors")
	b.waitFor("the chapter, and the contents closed",
		`!document.getElementById('contents').matches(':popover-open') && document.getElementById('errors').getBoundingClientRect().top >= 48`)
}

// follow clicks the first entry of the contents whose address begins with this one.
func (b *tab) follow(address string) {
	b.Helper()
	b.waitFor("a link to "+address, `(() => { const a = document.querySelector('#contents a[href^="`+address+`"]'); a?.click(); return a !== null })()`)
}
