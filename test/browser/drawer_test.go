package browser

import (
	"testing"
)

const list = "/cabinet/deliveries?event=employee.joined"

func TestDrawerKeepsTheList(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		b := f.administrator()
		token := b.createToken("HR sync")
		webhook := newReceiver(t)
		b.addWebhook(webhook.URL)
		f.provision(token, 1)
		f.provision(token, 2)
		b.open(list)
		b.reloadUntil("two delivered rows", `document.querySelector('tbody')?.innerText.match(/Delivered/g)?.length === 2`)

		if at := evaluate[bool](b, `document.querySelector('.row-link').click(), document.getElementById('drawer').open && document.querySelector('#drawer .skeleton') !== null`); !at {
			t.Error("the drawer is not open at once, with a skeleton")
		}
		b.waitFor("the open drawer", `document.getElementById('drawer').open && document.querySelector('#drawer #detail') !== null`)
		b.waitFor("the drawer's address", `location.pathname.startsWith('/cabinet/deliveries/0')`)
		first := evaluate[string](b, `location.pathname`)
		b.click("Next")
		b.waitFor("the next row in the drawer", `location.pathname.startsWith('/cabinet/deliveries/0') && location.pathname !== '`+first+`' && document.querySelector('#drawer [data-step="1"]').disabled`)
		b.waitFor("its detail", `document.querySelector('#drawer #detail') !== null`)
		b.click("Previous")
		b.waitFor("the row before", `location.pathname === '`+first+`' && document.querySelector('#drawer #detail') !== null`)
		b.waitFor("a link that keeps the filter", `document.querySelector('[data-follow]').href.includes('event=employee.joined')`)
		b.submit("#drawer form")
		b.waitForText("The delivery is queued again")
		b.waitFor("the second attempt in the drawer", `document.getElementById('drawer').open && document.querySelector('#drawer #detail').innerText.includes('Attempt 2')`)
		b.waitFor("the focus in the drawer", `document.activeElement.closest('#drawer') !== null`)
		evaluate[bool](b, `document.activeElement.blur(), true`)
		b.press("Escape", false)
		b.waitFor("the list's address", `location.pathname + location.search === '`+list+`' && !document.getElementById('drawer').open && document.activeElement.matches('.row-link')`)

		evaluate[bool](b, `document.querySelector('.row-link').click(), true`)
		b.waitFor("the drawer again", `document.querySelector('#drawer #detail') !== null && location.pathname.startsWith('/cabinet/deliveries/0')`)
		evaluate[bool](b, `history.back(), true`)
		b.waitFor("the list, as before", `location.pathname + location.search === '`+list+`' && document.querySelectorAll('#list tbody tr').length === 2 && !document.getElementById('drawer').open`)

		f.provision(token, 3)
		b.waitFor("a row that waits", `document.querySelector('[data-live-new]')?.innerText === '1 new'`)
		if rows := evaluate[int](b, `document.querySelectorAll('tbody tr').length`); rows != 2 {
			t.Errorf("%d rows before the new one is asked for, want 2", rows)
		}
		b.click("1 new")
		b.waitFor("three rows", `document.querySelectorAll('tbody tr').length === 3`)
		if title := evaluate[string](b, `document.title`); title != "Deliveries · Baltic Freight · Coursebridge" {
			t.Errorf("the title is %q", title)
		}
	})
}
