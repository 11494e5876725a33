package browser

import "testing"

func TestPersonIsAddedFoundEditedAndErased(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(_ *testing.T, f *fixture) {
		b := f.administrator()
		if b == nil {
			return
		}
		b.open("/cabinet/employees")
		b.waitForText("No employees yet")
		b.click("Add employee")
		b.waitFor("the form", `document.querySelector('input[name=email]') !== null`)
		b.fill("input[name=name]", "Jānis Kalniņš")
		b.fill("input[name=email]", "janis@baltic.example")
		b.fill("input[name=tags]", "warehouse, night")
		evaluate[bool](b, `document.querySelector('form.form').requestSubmit(), true`)
		b.waitForText("was added.")
		b.open("/cabinet/employees")
		b.fill("input[type=search]", "nobody")
		evaluate[bool](b, `document.querySelector('input[type=search]').dispatchEvent(new Event('input', {bubbles: true})), true`)
		b.waitForText("Nobody matches")
		b.waitFor("the search in the address", `location.search === '?q=nobody'`)
		b.click("Clear the filter")
		b.waitForText("1 employee")
		evaluate[bool](b, `document.querySelector('input[name=show][value=overdue]').click(), true`)
		b.waitForText("Nobody is overdue")
		b.open("/cabinet/employees?tag=warehouse")
		b.click("Jānis Kalniņš")
		b.waitForText("History")
		b.click("Erase")
		b.waitForText("Erase “Jānis Kalniņš”?")
		b.click("Erase person")
		b.waitForText("The person was erased.")
	})
}
