package cabinet_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestSliceFromMakingToArchiving(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.get(view.PathCourses).wantStatus(http.StatusOK).wantText("No courses yet")
		l := f.newLearners(3)
		whole := view.PathCourse(l.course)
		v.waitForText(view.PathFind+"?q=workpl", "Workplace safety").wantText(whole)
		v.get(view.PathCourses).wantText("Workplace safety", "Assessment", "1 course")
		v.get(whole).wantStatus(http.StatusOK).wantText("Fire", "Ladders", "First aid", "80 of 100", "Nobody has this course", "Make a slice")
		v.get(whole + "/archive").wantText("Nobody can be assigned to it any more.")

		v.get(whole+"/slice").wantText("Make a slice", "Ladders")
		v.post(whole+"/slice", "name", "", "place-1", "7").wantStatus(http.StatusUnprocessableEntity).wantText("Choose at least one module.", `value="7"`)
		made := v.post(whole+"/slice", "name", "Office safety", "module", "1", "module", "3", "place-1", "2", "place-3", "1").wantStatus(http.StatusSeeOther)
		slice := made.header.Get("Location")
		page := made.wantRedirect(slice).wantText("The slice was made.", "Office safety", "Slice, assessment", "Made of")
		if strings.Index(page.raw, "First aid") > strings.Index(page.raw, "Fire") {
			f.Error("the modules of the slice are not in the chosen order")
		}
		v.get(whole).wantText("Slices of this course", "Office safety")
		v.get(slice+"/edit").wantText("Edit slice", `value="Office safety"`)
		v.post(slice+"/edit", "name", "Office", "module", "2", "externalId", "OFFICE").wantRedirect(slice).wantText("The slice was saved.", "Ladders", "OFFICE")
		v.post(whole+"/slice", "name", "Twin", "module", "2", "externalId", "OFFICE").wantStatus(http.StatusUnprocessableEntity).wantText("has this external id")
		v.post(whole+"/edit", "name", "Mine", "module", "1").wantStatus(http.StatusConflict)

		id, _ := strconv.ParseInt(slice[strings.LastIndex(slice, "/")+1:], 10, 64)
		l.course = id
		l.assign(1, time.Now().Add(-time.Hour))
		l.attempt(l.assign(2, time.Now().Add(time.Hour)), "passed", 100_00)
		v.get(slice).wantText("50%", "Under 1 day", "Person 1", "All 2 assignments", "not started").wantNoText(slice + "/edit")
		v.post(slice+"/edit", "name", "Late", "module", "1").wantStatus(http.StatusUnprocessableEntity).wantText("assigned to people")
		v.get(view.PathCourses + "?show=slices&sort=overdue").wantText("Office").wantNoText("Workplace safety</a>")
		v.get(view.PathCourses + "?q=nothing").wantText("Nothing matches")
		csv := v.get(view.PathCoursesExport + "?show=slices").wantStatus(http.StatusOK)
		if !strings.Contains(csv.raw, "Office,OFFICE,true,true,1,2,1,1") {
			f.Errorf("the file is %q", csv.raw)
		}
		v.get(slice+"/archive").wantText("Archive “Office”?", "1 person who has not finished")
		v.post(slice+"/archive").wantRedirect(slice).wantText("was archived.", "This course is archived")
		v.get(view.PathCourses + "?show=archived").wantText("Office")
		results, err := l.store.Assign(f.Context(), l.caller, []domain.BulkItem{{New: domain.NewAssignment{EmployeeExternalID: "HR-3", CourseID: id, ExternalID: "late"}}})
		if err != nil || domain.CodeOf(results[0].Err) != domain.CodeCourseArchived {
			f.Errorf("assigning an archived slice: %v, %v; want %s", results, err, domain.CodeCourseArchived)
		}
		v.get(slice).wantText("Restore").wantNoText(slice + "/archive")
		v.get(slice + "/restore").wantText("Restore “Office”?")
		v.post(slice + "/restore").wantRedirect(slice).wantText("can be assigned again.").wantNoText("This course is archived")
		v.get(view.PathAudit).wantText("Course archived", "Course changed", "Course restored")
	})
}
