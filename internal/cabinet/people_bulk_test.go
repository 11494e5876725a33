package cabinet_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestActionsOnManyPeople(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(6)
		l.assign(1, time.Now().Add(time.Hour))
		start := func(form ...string) string {
			f.Helper()
			return v.post(view.PathPeopleBulk, form...).wantStatus(http.StatusSeeOther).header.Get("Location")
		}
		person := func(n int) string {
			return v.get(view.PathEmployees + "?q=HR-" + strconv.Itoa(n)).find(`href="` + view.PathEmployees + `/(\d+)"`)
		}
		v.get(view.PathEmployees).wantText("All 6", "Tick rows")
		v.get(view.PathPeopleBulk + "?act=tag").wantRedirect(view.PathEmployees).wantText("Tick the people first")

		v.get(view.PathPeopleBulk+"?act=tag&id="+person(1)+"&id="+person(2)).wantText("Adds tags to 2 people.", "Tag 2 people")
		v.post(view.PathPeopleBulk, "act", "tag", "tags", " ,", "id", person(1)).wantStatus(http.StatusUnprocessableEntity).wantText("Enter at least one tag")
		v.waitForText(start("act", "tag", "tags", "night, Ночь", "id", person(1), "id", person(2)), "2 tagged")
		v.waitForText(start("act", "tag", "tags", "night", "all", "1"), "4 tagged").wantText("2 already so", "Add tags: night", admin)
		v.get(view.PathEmployees + "?tag=night").wantText("6 employees")
		v.get(view.PathEmployees+"/"+person(2)).wantText("Changed", "tags")
		v.waitForText(start("act", "untag", "tags", "night", "all", "1", "tag", "Ночь"), "2 no longer have it")
		v.get(view.PathEmployees + "?tag=night").wantText("4 employees")

		v.get(view.PathPeopleBulk+"?act=assign&id="+person(3)).wantStatus(http.StatusSeeOther).follow().wantText("p3@baltic.example", "1 person. Choose")
		v.get(view.PathPeopleBulk+"?act=assign&all=1&tag=night").wantStatus(http.StatusSeeOther).follow().
			wantText("Everyone in the list of employees, tag: night", "4 people. Choose")
		course := strconv.FormatInt(l.course, 10)
		job := v.post(view.PathAssign, "listed", "1", "listedShow", "unassigned", "course", course).wantStatus(http.StatusSeeOther).header.Get("Location")
		v.waitForText(job, "5 assigned")

		v.post(view.PathPeopleBulk, "act", "offboard", "when", "date", "date", "2001-01-01", "id", person(6)).wantStatus(http.StatusUnprocessableEntity).wantText("date in the future")
		v.waitForText(start("act", "offboard", "when", "date", "date", "2099-01-31", "id", person(6)), "1 will be offboarded on the date")
		v.get(view.PathEmployees+"/"+person(6)).wantText("Offboarding planned", "2099")
		v.get(view.PathPeopleBulk+"?act=offboard&all=1&tag=night").wantText("Offboards 4 people.", "4 open assignments are revoked", "Offboard 4 people")
		gone := person(3)
		v.waitForText(start("act", "offboard", "all", "1", "tag", "night"), "4 offboarded")
		v.get(view.PathEmployees).wantText("2 employees")
		v.get(view.PathEmployees + "?show=left").wantText("4 employees").wantNoText("Tick rows")
		v.waitForText(start("act", "tag", "tags", "x", "id", gone, "id", person(1)), "1 tagged")
	})
}

// Something that is not an id is refused, instead of leaving that person out.
func TestMalformedPicksAreRefused(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(1)
		course, person := strconv.FormatInt(l.course, 10), v.get(view.PathEmployees).find(`href="`+view.PathEmployees+`/(\d+)"`)
		const refusal = "“12x” is not the number of "
		v.post(view.PathAssign, "person", person, "person", "12x", "course", course).wantStatus(http.StatusUnprocessableEntity).wantText(refusal)
		v.post(view.PathAssign, "person", person, "course", course, "course", "12x").wantStatus(http.StatusUnprocessableEntity).wantText(refusal)
		v.get(view.PathPeopleBulk + "?act=tag&id=12x&id=" + person).wantRedirect(view.PathEmployees).wantText(refusal)
		v.get(view.PathBulk + "?act=revoke&id=12x").wantRedirect(view.PathAssignments).wantText(refusal)
	})
}

// More ticks than a form can name, and more pasted lines than can be read at once, are
// refused with a sentence. They used to be cut without one.
func TestTooManyTicksAreRefused(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(1)
		course := strconv.FormatInt(l.course, 10)
		repeat := func(n int, name string) (form []string) {
			for id := range n {
				form = append(form, name, strconv.Itoa(id+1))
			}
			return form
		}
		const ticks = "Tick at most 500 people at once"
		bulk := append([]string{"act", "tag", "tags", "night"}, repeat(501, "id")...)
		v.post(view.PathPeopleBulk, bulk...).wantRedirect(view.PathEmployees).wantText(ticks + ", or choose all.")
		v.post(view.PathPeopleBulk, append(bulk, "all", "1")...).wantStatus(http.StatusSeeOther)
		assign := append([]string{"course", course}, repeat(501, "person")...)
		v.post(view.PathAssign, assign...).wantStatus(http.StatusUnprocessableEntity).wantText(ticks).wantNoText("1 person ×")
		v.post(view.PathAssignPreview, assign...).wantStatus(http.StatusOK).wantText(ticks).wantNoText("1 person ×")
		lines := strings.Repeat("nobody@baltic.example\n", 10_001)
		const pasted = "Paste at most 10,000 ids or e-mail addresses at once."
		v.post(view.PathAssign, "course", course, "pasted", lines).wantStatus(http.StatusUnprocessableEntity).wantText(pasted)
		v.post(view.PathAssignPreview, "course", course, "pasted", lines).wantStatus(http.StatusOK).wantText(pasted)
		v.post(view.PathAssign, "course", course, "everyone", "1", "pasted", "HR-1").wantStatus(http.StatusSeeOther)
	})
}
