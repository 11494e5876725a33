package browser

import "testing"

// TestReportIsFilteredAndARecordIsOpened goes from the list of reports to a filter that
// is saved, and to the printable record of a person.
func TestReportIsFilteredAndARecordIsOpened(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(_ *testing.T, f *fixture) {
		b := f.administrator()
		b.postForm("/cabinet/employees/new", "name", "Anna Kalna", "email", "anna@baltic.example", "role", "employee")
		b.open("/cabinet/reports")
		b.click("Who is overdue?")
		b.waitForText("Nobody is overdue")
		evaluate[bool](b, `((s) => (s.value = 'yes', s.dispatchEvent(new Event('change', {bubbles: true}))))(document.querySelector('select[name=required]'))`)
		b.waitFor("the filter in the link", `[...document.querySelectorAll('a')].some(a => a.innerText === 'Save view' && a.href.includes('required=yes'))`)
		b.click("Save view")
		b.waitFor("the form", `document.querySelector('input[name=name]') !== null`)
		b.fill("input[name=name]", "Late and required")
		b.submit("form.form")
		b.waitForText("The view was saved.")
		b.open("/cabinet/reports")
		evaluate[bool](b, `document.querySelector('a[href$="/rename"]').click(), true`)
		b.waitFor("the dialog", `document.querySelector('#dialog input[name=name]') !== null`)
		b.fill("#dialog input[name=name]", "Every Monday")
		b.submit("#dialog form")
		b.waitForText("The view was renamed.")
		b.click("Every Monday")
		b.waitFor("the filter of the view", `location.search === '?required=yes'`)
		b.open("/cabinet/reports/person")
		b.fill("input[type=search]", "nobody")
		evaluate[bool](b, `document.querySelector('input[type=search]').dispatchEvent(new Event('input', {bubbles: true})), true`)
		b.waitForText("Nobody matches")
		b.waitFor("the search in the address", `location.search === '?q=nobody'`)
		b.open("/cabinet/reports/person?q=anna")
		b.click("Anna Kalna")
		b.waitForText("Training record")
		b.waitFor("the button that prints", `document.querySelector('[data-print]') !== null`)
	})
}
