package browser

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/apptest"
)

// widths are those of small phones to large screens, and where the layout changes.
var widths = []int64{360, 390, 640, 768, 1024, 1280, 1440, 1920}

// overlaps lists pairs of boxes in the page's main part that cover each other, and
// boxes whose content sticks out of them.
const overlaps = `(() => {
	const shown = (e) => {
		const s = getComputedStyle(e), r = e.getBoundingClientRect();
		return r.width > 1 && r.height > 1 && s.visibility !== 'hidden' && s.opacity !== '0' && s.position !== 'fixed' && s.position !== 'absolute' &&
			!e.closest('.sr-only, .toasts, .uplot, svg, dialog:not([open]), [popover]:not(:popover-open), details:not([open]) > :not(summary), template');
	};
	const name = (e) => e.tagName.toLowerCase() + (e.className ? '.' + String(e.className).split(' ')[0] : '') + ' “' + (e.innerText || e.name || '').trim().slice(0, 30) + '”';
	const all = [...document.querySelectorAll('main input:not([type=hidden]), main select, main textarea, main button, main a, main label, main h1, main h2, main h3, main p, main td, main th, main dt, main dd, main summary, main .status')].filter(shown);
	// What an ancestor cuts off covers nothing.
	const visible = (e) => {
		let { left, right, top, bottom } = e.getBoundingClientRect();
		for (let up = e.parentElement; up && up.tagName !== 'MAIN'; up = up.parentElement) {
			if (getComputedStyle(up).overflowX === 'visible') continue;
			const r = up.getBoundingClientRect();
			left = Math.max(left, r.left), right = Math.min(right, r.right), top = Math.max(top, r.top), bottom = Math.min(bottom, r.bottom);
		}
		return { left, right, top, bottom };
	};
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

// TestNothingOverlaps measures the boxes of every page. Pages are the same on every
// engine, so it runs on one.
func TestNothingOverlaps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, apptest.Start(t, options))
	b := f.administrator()
	if b == nil {
		return
	}
	paths := append(fillCompany(f, b), "/cabinet/deliveries?period=custom", "/cabinet/audit?period=custom&from=2026-01-01T00:00", "/cabinet/deliveries/redeliver?period=custom")
	for _, path := range paths {
		b.checkLayout(path)
	}
	visitor := newTab(t, f.program.URL)
	for _, path := range []string{"/cabinet/sign-in", "/cabinet/signed-out", "/cabinet/enter/expired"} {
		visitor.checkLayout(path)
	}
}

func (b *tab) checkLayout(path string) {
	b.Helper()
	b.open(path)
	for _, width := range widths {
		b.emulate(width, "light")
		if wide := evaluate[int](b, `document.documentElement.scrollWidth - window.innerWidth`); wide > 0 {
			b.Errorf("%s at %d: the page is %d pixels wider than the window", path, width, wide)
		}
		if found := evaluate[[]string](b, overlaps); len(found) > 0 {
			b.Errorf("%s at %d: %q", path, width, found)
		}
	}
}
