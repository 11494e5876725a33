package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/store"
)

// holdJobs keeps the program from doing background work. The result ends that.
func (f *fixture) holdJobs() (release func()) {
	f.Helper()
	const owner = "the test"
	s, err := store.Open(f.Context(), f.program.Database)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	for held, end := false, time.Now().Add(patience); !held; time.Sleep(5 * time.Millisecond) {
		if held, err = s.TakeLease(f.Context(), "jobs", owner, time.Hour); err != nil || time.Now().After(end) {
			f.Fatal("the lease of background work:", err)
		}
	}
	return func() {
		if err := s.DropLease(f.Context(), "jobs", owner); err != nil {
			f.Fatal(err)
		}
	}
}

// pickPeople opens a list of employees and ticks its first rows.
func (b *tab) pickPeople(list string, n int) {
	b.Helper()
	b.open(list)
	b.waitFor("the rows", fmt.Sprintf(`document.querySelectorAll('[data-bulk-row]').length >= %d`, n))
	evaluate[bool](b, fmt.Sprintf(`[...document.querySelectorAll('[data-bulk-row]')].slice(0, %d).forEach(e => e.click()), true`, n))
	b.waitForText(fmt.Sprintf("%d selected", n))
}

// TestPeopleAreUntaggedAndOffboardedTogether takes tags from people, plans an
// offboarding, offboards everybody who matches, and cancels work before it begins.
func TestPeopleAreUntaggedAndOffboardedTogether(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(_ *testing.T, f *fixture) {
		b := f.administrator()
		b.postForm("/cabinet/employees/import", "text", "name,email,tags\nAnna,a@baltic.example,night;port\nBoris,b@baltic.example,night;port\n"+
			"Clara,c@baltic.example,night\nDita,d@baltic.example,night\n")
		b.postForm("/cabinet/imports/1", "column0", "name", "column1", "email", "column2", "tags")
		b.postForm("/cabinet/imports/1/check")
		b.open("/cabinet/employees?tag=night")
		b.reloadUntil("four people", `document.body.innerText.includes('4 employees')`)

		release := f.holdJobs()
		b.pickPeople("/cabinet/employees", 4)
		b.click("Tag")
		b.fill("input[name=tags]", "never")
		b.click("Tag 4 people")
		b.waitForText("You can leave this page.")
		b.waitForText("of 4 people")
		b.click("Cancel")
		b.confirm("Cancel this work?")
		b.waitForText("What was done before you canceled stays.")
		release()
		b.open("/cabinet/employees?tag=never")
		b.waitForText("Nobody matches")
		b.open("/cabinet")
		b.waitForText("Add tags: never\nStopped, started")

		b.pickPeople("/cabinet/employees?tag=port", 2)
		b.click("Untag")
		b.waitForText("Removes tags from 2 people.")
		b.fill("input[name=tags]", "night")
		b.click("Untag 2 people")
		b.waitForText("2 no longer have it")
		b.open("/cabinet/employees?tag=night")
		b.waitForText("2 employees")

		b.pickPeople("/cabinet/employees?tag=port", 1)
		b.click("Offboard")
		b.waitForText("Offboards 1 person.")
		evaluate[bool](b, `document.querySelector('input[name=when][value=date]').click(), true`)
		b.fill("input[name=date]", "2099-01-31")
		b.click("Offboard 1 person")
		b.waitForText("1 will be offboarded on the date")
		b.open("/cabinet/employees?tag=port")
		b.click(evaluate[string](b, `document.querySelector('tbody th a').innerText`))
		b.waitForText("Offboarding is planned")

		b.open("/cabinet/employees?tag=night")
		evaluate[bool](b, `document.querySelector('[data-bulk-all]').click(), true`)
		b.waitForText("All that match are selected")
		b.click("Offboard")
		b.waitForText("Offboards 2 people.")
		b.click("Offboard 2 people")
		b.waitForText("2 offboarded")
		b.open("/cabinet/employees?show=left")
		b.waitForText("2 employees")
		b.waitFor("no rows to tick", `document.querySelector('[data-bulk-row]') === null`)
	})
}

// TestSliceIsEditedWhileNobodyHasIt edits a slice, and can't any more once somebody has
// it, even with a form that was opened before.
func TestSliceIsEditedWhileNobodyHasIt(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		if _, err := f.program.AddCourse(t.Context(), f.company.CompanyID, app.CourseInput{Name: "Workplace safety", Modules: []string{"Fire", "Ladders", "First aid"}}); err != nil {
			t.Fatal(err)
		}
		b := f.administrator()
		b.postForm("/cabinet/employees/new", "name", "Anna", "email", "a@baltic.example", "role", "employee")
		b.postForm("/cabinet/courses/1/slice", "name", "Office safety", "module", "1")
		b.open("/cabinet/courses/2")
		b.click("Edit")
		b.fill("input[name=name]", "Harbour safety")
		evaluate[bool](b, `document.querySelector('input[name=module][value="2"]').click(), true`)
		b.click("Save")
		b.waitForText("The slice was saved.")
		b.waitFor("its new name and modules", `/Harbour safety[^]*Fire[^]*Ladders/.test(document.querySelector('main').innerText)`)

		b.click("Edit")
		b.fill("input[name=name]", "Too late")
		b.postForm("/cabinet/assignments/new", "everyone", "1", "course", "2")
		b.open("/cabinet/courses/2")
		b.reloadUntil("the person without a way to edit", `document.body.innerText.includes('Anna') && ![...document.querySelectorAll('main a')].some(a => a.innerText === 'Edit')`)
		b.open("/cabinet/courses/2/edit")
		b.fill("input[name=name]", "Too late")
		b.click("Save")
		b.waitForText("assigned to people")
		b.open("/cabinet/courses")
		b.waitForText("Harbour safety")
	})
}
