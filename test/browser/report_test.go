package browser

import "testing"

// TestReportIsFilteredAndARecordIsOpened goes from the list of reports to a filtered
// matrix and to the printable record of a person.
func TestReportIsFilteredAndARecordIsOpened(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(_ *testing.T, f *fixture) {
		b := f.administrator()
		if b == nil {
			return
		}
		b.postForm("/cabinet/employees/new", "name", "Anna Kalna", "email", "anna@baltic.example", "role", "employee")
		b.open("/cabinet/reports")
		b.click("Who is overdue?")
		b.waitForText("Nobody is overdue")
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
