package browser

import "net/http"

// widths are those of small phones to large screens, and where the layout changes.
var widths = []int64{360, 390, 640, 768, 1024, 1280, 1440, 1920}

// overlaps lists pairs of boxes in the page's main part that cover each other, and
// boxes whose content sticks out of them.
const overlaps = `(() => {
	// Ancestors are looked at once, however many descendants they have.
	const once = (fn) => { const known = new Map(); return (e) => { if (!known.has(e)) known.set(e, fn(e)); return known.get(e); }; };
	// A bar that stays in view covers what scrolls under it.
	const floats = once((e) => e && e.tagName !== 'MAIN' && (getComputedStyle(e).position === 'sticky' || floats(e.parentElement)));
	const shown = (e) => {
		if (floats(e)) return false;
		const s = getComputedStyle(e), r = e.getBoundingClientRect();
		return r.width > 1 && r.height > 1 && s.visibility !== 'hidden' && s.opacity !== '0' && s.position !== 'fixed' && s.position !== 'absolute' &&
			!e.closest('.sr-only, .toasts, .uplot, svg, dialog:not([open]), [popover]:not(:popover-open), details:not([open]) > :not(summary), template');
	};
	const name = (e) => e.tagName.toLowerCase() + (e.className ? '.' + String(e.className).split(' ')[0] : '') + ' “' + (e.innerText || e.name || '').trim().slice(0, 30) + '”';
	const all = [...document.querySelectorAll('main input:not([type=hidden]), main select, main textarea, main button, main a, main label, main h1, main h2, main h3, main p, main td, main th, main dt, main dd, main summary, main .status')].filter(shown);
	// What an ancestor cuts off covers nothing.
	const everything = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
	const cut = (a, b) => ({ left: Math.max(a.left, b.left), right: Math.min(a.right, b.right), top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom) });
	const frame = once((e) => {
		if (!e || e.tagName === 'MAIN') return everything;
		const outer = frame(e.parentElement);
		return getComputedStyle(e).overflowX === 'visible' ? outer : cut(outer, e.getBoundingClientRect());
	});
	const visible = (e) => cut(e.getBoundingClientRect(), frame(e.parentElement));
	const boxes = all.map((e) => ({ e, r: visible(e) })).filter(({ r }) => r.right - r.left > 1 && r.bottom - r.top > 1);
	const found = [];
	for (let i = 0; i < boxes.length; i++) {
		for (let j = i + 1; j < boxes.length; j++) {
			const a = boxes[i], b = boxes[j];
			const x = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left), y = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
			if (x > 1.5 && y > 1.5 && !a.e.contains(b.e) && !b.e.contains(a.e)) found.push(name(a.e) + ' and ' + name(b.e));
		}
	}
	for (const e of all) {
		if (e.matches('input, select, .filter, .btn, td, th') && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'visible' && e.clientWidth > 0) {
			found.push('the content of ' + name(e) + ' is ' + (e.scrollWidth - e.clientWidth) + ' pixels too wide');
		}
	}
	return found.slice(0, 5);
})()`

// fillRest creates more data and returns the paths of the pages that fillCompany leaves out.
func fillRest(f *fixture, b *tab) []string {
	token := b.createToken("Second")
	for _, id := range []string{"A-1", "A-2"} {
		f.call(token, http.MethodPost, "/assignments", map[string]any{"employeeExternalId": "HR-1", "courseId": 1, "externalId": id})
	}
	f.call(token, http.MethodPost, "/employees/provision", map[string]string{"externalId": "a-long-identifier-of-somebody-who-has-no-address-yet"})
	b.postForm("/cabinet/tokens/2/regenerate", "grace", "24", "expiry", "never")
	b.postForm("/cabinet/webhooks/2/disable")
	b.postForm("/cabinet/courses/1/slice", "name", "Fire only", "module", "1")
	b.postForm("/cabinet/employees/import", "text", "name,email\nMaximiliane Alexandra von der Goltz-Hohenstein,max@baltic.example\n")
	b.postForm("/cabinet/imports/2", "column0", "name", "column1", "email")
	b.postForm("/cabinet/imports/2/check")
	b.postForm("/cabinet/reports/views/new", "page", "assignments", "tab", "overdue", "name", "Overdue")
	b.waitForAnswer("/cabinet/requests?outcome=failed", `text.includes('invalid request')`)
	b.open("/cabinet/requests?outcome=failed")
	failed := evaluate[string](b, `document.querySelector('#list a[href^="/cabinet/requests/"]').getAttribute('href')`)
	return []string{
		"/cabinet/requests", "/cabinet/requests?q=nothing", failed, "/cabinet/tokens/2/end-old", "/cabinet/webhooks/2/enable", "/cabinet/find?q=p",
		"/cabinet/assignments", "/cabinet/assignments/new", "/cabinet/assignments/1", "/cabinet/assignments/1/deadline",
		"/cabinet/assignments/1/required", "/cabinet/assignments/1/grant", "/cabinet/assignments/1/revoke",
		"/cabinet/assignments/bulk?act=deadline&all=1", "/cabinet/jobs/1/cancel", "/cabinet/employees/2/keep", "/cabinet/employees/2/bring-back",
		"/cabinet/imports/2/result", "/cabinet/courses/2/edit", "/cabinet/courses/1/restore", "/cabinet/reports/views/new?page=assignments&tab=overdue", "/cabinet/reports/views/1/rename",
		"/cabinet/reports/views/1/remove", "/cabinet/settings/sign-in/second-factor/remove",
		"/cabinet/settings/sessions/end-others", "/cabinet/settings/administrators/2/link", "/cabinet/settings/administrators/2/role",
		"/cabinet/settings/administrators/2/remove",
	}
}
