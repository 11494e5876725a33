package browser

import (
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/app"
)

// TestStoryOfAnHRAdministrator goes from an empty company to people who are imported,
// corrected, assigned and tagged, and to a printed compliance report.
func TestStoryOfAnHRAdministrator(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		if _, err := f.program.AddCourse(t.Context(), f.company.CompanyID, app.CourseInput{Name: "Workplace safety", Modules: []string{"Fire", "Ladders", "First aid"}}); err != nil {
			t.Fatal(err)
		}
		b := f.administrator()
		b.open("/cabinet/employees/import")
		b.fill("textarea[name=text]", strings.Join([]string{
			"Employee id,Name,E-mail,Tags,Course,Deadline,Required",
			"HR-1,Jānis Kalniņš,janis@baltic.example,warehouse,Workplace safety,2001-01-31,yes",
			"HR-2,Олена Коваль,olena@baltic.example,office,,,",
			"HR-3,Maximiliane von der Goltz,max baltic.example,office,,,",
		}, "\n"))
		b.click("Continue")
		b.waitForText("Choose what each column holds")
		b.click("Check")
		b.waitForText("Import 2 people, assign 1 course")
		b.fill("input[name=cell3-2]", "max@baltic.example")
		b.click("Save and check again")
		b.waitForText("Import 3 people, assign 1 course")
		b.click("Import 3 people, assign 1 course")
		b.waitForText("All rows were imported")
		b.click("View employees")
		b.waitForText("3 employees")

		evaluate[bool](b, `document.querySelector('input[name=show][value=unassigned]').click(), true`)
		b.waitForText("2 employees")
		evaluate[bool](b, `document.querySelector('[data-bulk-all]').click(), true`)
		b.waitForText("All that match are selected")
		b.click("Assign")
		b.waitForText("2 people. Choose at least one course.")
		evaluate[bool](b, `document.querySelector('input[name=course]').click(), true`)
		b.waitForText("2 people × 1 course = 2")
		b.click("Assign 2")
		b.waitForText("2 assigned")

		b.open("/cabinet/employees?tag=office")
		b.waitForText("2 employees")
		evaluate[bool](b, `document.querySelectorAll('[data-bulk-row]').forEach(e => e.click()), true`)
		b.waitForText("2 selected")
		b.click("Tag")
		b.waitForText("Adds tags to 2 people.")
		b.fill("input[name=tags]", "trained in 2026")
		b.click("Tag 2 people")
		b.waitForText("2 tagged")

		b.open("/cabinet/employees?show=overdue")
		b.reloadUntil("somebody who is overdue", `document.body.innerText.includes('Jānis Kalniņš')`)
		b.click("Jānis Kalniņš")
		b.waitForText("Assigned: Workplace safety")
		b.waitForText("overdue")

		b.makeSlice()
		b.open("/cabinet")
		b.waitForText("Needs attention")
		b.waitFor("the overdue assignment among them", `((a) => a !== null && (a.click(), true))(document.querySelector('main a[href="/cabinet/assignments?tab=overdue"]'))`)
		b.waitFor("the overdue assignments", `location.search === '?tab=overdue' && document.querySelector('table').innerText.includes('Jānis Kalniņš')`)
		b.open("/cabinet/reports")
		b.click("Were we compliant on a date?")
		b.waitFor("the course in the report", `location.pathname === '/cabinet/reports/compliance' && document.querySelector('table')?.innerText.includes('Workplace safety')`)
		evaluate[bool](b, `window.print = () => { window.cbPrinted = true }, true`)
		b.click("Print")
		b.waitFor("the print dialog", `window.cbPrinted === true`)
		if away := b.foreignRequests(); len(away) > 0 {
			t.Errorf("the pages requested other hosts: %v", away)
		}
	})
}

// makeSlice makes a slice of the course, archives it and brings it back.
func (b *tab) makeSlice() {
	b.Helper()
	b.open("/cabinet/courses")
	b.click("Workplace safety")
	b.waitForText("First aid")
	b.click("Make a slice")
	b.waitFor("the form", `document.querySelector('input[name=module]') !== null`)
	b.fill("input[name=name]", "Office safety")
	evaluate[bool](b, `[1, 3].forEach(n => document.querySelector('input[name=module][value="' + n + '"]').click()), true`)
	b.fill("input[name=place-1]", "9")
	b.submit("form.form")
	b.waitForText("The slice was made.")
	b.waitFor("the chosen order", `((t) => t.indexOf('First aid') < t.indexOf('Fire'))(document.querySelector('main').innerText)`)
	b.click("Archive")
	b.waitForText("Archive “Office safety”?")
	b.submit("#dialog form")
	b.waitForText("This course is archived")
	b.click("Restore")
	b.waitForText("Restore “Office safety”?")
	b.submit("#dialog form")
	b.waitFor("the restored course", `document.querySelector('dialog[open]') === null && document.body.innerText.includes('can be assigned again.') &&
		!document.body.innerText.includes('This course is archived')`)
}

// TestChoiceBeforeTheScriptsAreReady ticks a course as soon as the page holds it, while
// the scripts of the page are still on their way.
func TestChoiceBeforeTheScriptsAreReady(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		if _, err := f.program.AddCourse(t.Context(), f.company.CompanyID, app.CourseInput{Name: "Workplace safety"}); err != nil {
			t.Fatal(err)
		}
		b := f.administrator()
		b.onNewPage(`new MutationObserver((_, self) => {
			const course = document.querySelector('input[name=course]');
			if (course) { self.disconnect(); course.click(); }
		}).observe(document, {childList: true, subtree: true})`)
		b.open("/cabinet/assignments/new")
		b.waitForText("Choose people.")
	})
}
