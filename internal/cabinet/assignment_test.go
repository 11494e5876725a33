package cabinet_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
)

// learners is a company with courses and people who have something to do.
type learners struct {
	fixture
	store  *store.Store
	caller domain.Caller
	course int64
}

// newLearners adds a course of three modules and some people.
func (f fixture) newLearners(people int) learners {
	f.Helper()
	l := learners{fixture: f, store: f.store()}
	company, err := l.store.Company(f.Context(), f.company.CompanyID)
	if err != nil {
		f.Fatal(err)
	}
	l.caller = domain.Caller{Company: company, Actor: domain.Actor{Kind: domain.ActorOperator, Label: "operator"}}
	l.course = l.addCourse(domain.Course{Name: "Workplace safety", IsAssessment: true, PassMark: 80_00, AllowedAttempts: 1, Modules: []string{"Fire", "Ladders", "First aid"}})
	for n := range people {
		name := strconv.Itoa(n + 1)
		_, _, err := l.store.Provision(f.Context(), l.caller, domain.Provision{ExternalID: "HR-" + name, Email: "p" + name + "@baltic.example", Name: "Person " + name})
		if err != nil {
			f.Fatal(err)
		}
	}
	return l
}

func (l learners) addCourse(c domain.Course) int64 {
	l.Helper()
	id, err := l.store.AddCourse(l.Context(), l.caller, c)
	if err != nil {
		l.Fatal(err)
	}
	return id
}

// assign assigns the course to person n, due at the deadline.
func (l learners) assign(n int, deadline time.Time) domain.Assignment {
	l.Helper()
	name := strconv.Itoa(n)
	results, err := l.store.Assign(l.Context(), l.caller, []domain.BulkItem{{New: domain.NewAssignment{
		EmployeeExternalID: "HR-" + name, CourseID: l.course, ExternalID: "A-" + name, Deadline: &deadline,
	}}})
	if err != nil || results[0].Err != nil {
		l.Fatal(err, results)
	}
	return results[0].Assignment
}

// attempt ends an attempt with a score.
func (l learners) attempt(a domain.Assignment, key string, score domain.Points) {
	l.Helper()
	_, err := l.store.RecordActivities(l.Context(), []domain.ActivityItem{{Activity: domain.Activity{
		ID: key, AssignmentID: a.ID, Type: domain.ActivityAttemptFinished, Score: &score, OccurredAt: time.Now().UTC(),
	}}})
	if err != nil {
		l.Fatal(err)
	}
}

func TestAssignmentsListAndActs(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(4)
		v.get(view.PathAssignments).wantStatus(http.StatusOK).wantText("No assignments yet", "Assign a course")
		late := l.assign(1, time.Now().Add(-48*time.Hour))
		l.assign(2, time.Now().Add(48*time.Hour))
		failed := l.assign(3, time.Now().Add(60*24*time.Hour))
		done := l.assign(4, time.Now().Add(60*24*time.Hour))
		l.attempt(failed, "x1", 10_00)
		l.attempt(done, "x2", 95_00)
		list := v.get(view.PathAssignments).wantText("4 assignments", "Person 1", "Person 4", "overdue", "Needs retry")
		if n := strings.Count(list.raw, `data-bulk-row`); n != 4 {
			f.Errorf("%d rows, want 4", n)
		}
		v.get(view.PathAssignments + "?tab=overdue").wantText("Person 1").wantNoText("Person 2")
		v.get(view.PathAssignments+"?tab=due_soon").wantText("Person 2", "1 assignment").wantNoText("Person 1")
		v.get(view.PathAssignments + "?tab=completed").wantText("Person 4").wantNoText("Person 3")
		v.get(view.PathAssignments+"?q=person+3").wantText("1 assignment", "Person 3").wantNoText("Person 2")
		v.get(view.PathAssignments+"?q=nobody").wantText("Nothing matches", "Clear the filter")
		v.get(view.PathAssignments + "?tab=in_progress").wantText("Nothing is in progress")
		csv := v.get(view.PathAssignmentsExport + "?tab=failed").wantStatus(http.StatusOK)
		if lines := strings.Count(csv.raw, "\r\n"); lines != 2 || !strings.Contains(csv.raw, "Person 3") {
			f.Errorf("the file has %d lines:\n%s", lines, csv.raw)
		}

		v.post(view.PathAssignment(failed.ID, "grant")).wantRedirect(view.PathAssignment(failed.ID)).
			wantText("Another attempt is granted.", "Needs retry", "Another attempt granted", admin)
		v.post(view.PathAssignment(failed.ID, "grant")).wantRedirect(view.PathAssignment(failed.ID)).wantText("Only someone who has failed")
		v.post(view.PathAssignment(late.ID, "deadline"), "deadline", "2099-01-02T10:00").wantRedirect(view.PathAssignment(late.ID)).
			wantText("The deadline is changed.", "2 Jan 2099, 10:00").wantNoText("overdue")
		v.post(view.PathAssignment(late.ID, "deadline"), "deadline", "soon").wantStatus(http.StatusUnprocessableEntity).wantText("Enter a date and time")
		v.post(view.PathAssignment(done.ID, "deadline"), "deadline", "2099-01-02T10:00").wantRedirect(view.PathAssignment(done.ID)).wantText("can't be changed")
		v.post(view.PathAssignment(late.ID, "required"), "required", "yes").wantRedirect(view.PathAssignment(late.ID)).wantText("Made required")
		v.post(view.PathAssignment(late.ID, "revoke")).wantRedirect(view.PathAssignments).wantText("The assignment is revoked.").wantNoText("Person 1")
		v.get(view.PathAssignment(late.ID)).wantStatus(http.StatusNotFound)
		v.get(view.PathAudit).wantText("Assignment attempt granted", "Assignment deadline changed", "Assignment revoked")
	})
}

func TestBulkActsAndUndo(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(5)
		var list []domain.Assignment
		for n := range 5 {
			list = append(list, l.assign(n+1, time.Now().Add(-time.Hour)))
		}
		v.get(view.PathBulk + "?act=revoke").wantRedirect(view.PathAssignments).wantText("Tick the assignments first")
		ids := "&id=" + strconv.FormatInt(list[0].ID, 10) + "&id=" + strconv.FormatInt(list[1].ID, 10)
		v.get(view.PathBulk+"?act=extend"+ids).wantText("Moves 2 deadlines of 2 people", "Extend 2 deadlines")
		v.post(view.PathBulk, "act", "extend", "days", "0", "id", strconv.FormatInt(list[0].ID, 10)).wantStatus(http.StatusUnprocessableEntity).wantText("number of days")
		v.post(view.PathBulk, "act", "extent", "all", "1").wantRedirect(view.PathAssignments).wantText("Choose first what to do")
		v.post(view.PathBulk, "act", "revoke", "id", "1st").wantRedirect(view.PathAssignments).wantText("“1st” is not the number of an assignment")
		tooMany := "?act=revoke" + strings.Repeat(ids, 251)
		v.get(view.PathBulk + tooMany).wantRedirect(view.PathAssignments).wantText("Tick at most 500 assignments at once")
		job := v.post(view.PathBulk, "act", "extend", "days", "3", "all", "1", "tab", "overdue").wantStatus(http.StatusSeeOther).header.Get("Location")
		v.waitForText(job, "5 extended")
		v.get(view.PathHome).wantText("Recent work", "Extend deadlines by 3 days", "Done, started", `href="`+job+`"`)
		v.get(view.PathAssignments + "?tab=overdue").wantText("Nothing is overdue")
		v.post(job + "/undo").follow().wantText("Only a revocation that has ended can be undone")
		v.get(view.PathBulk + "?act=grant&all=1").wantText("Nothing to change")

		v.get(view.PathBulk+"?act=require"+ids).wantText("Makes 2 assignments of 2 people required", "Make 2 required")
		job = v.post(view.PathBulk, "act", "require", "id", strconv.FormatInt(list[0].ID, 10), "id", strconv.FormatInt(list[1].ID, 10)).header.Get("Location")
		v.waitForText(job, "2 made required").wantText("Make required")
		v.get(view.PathAssignments+"?required=yes").wantText("2 assignments", "Person 1")
		v.get(view.PathAssignment(list[0].ID)).wantText("Made required", admin)
		v.get(view.PathBulk+"?act=require&all=1").wantText("Makes 3 assignments of 3 people required", "2 of the 5 chosen are required already")
		v.get(view.PathBulk + "?act=optional&all=1&required=yes").wantText("Makes 2 assignments of 2 people optional")
		job = v.post(view.PathBulk, "act", "optional", "all", "1", "required", "yes").header.Get("Location")
		v.waitForText(job, "2 made optional")

		v.get(view.PathBulk+"?act=revoke&all=1").wantText("Revokes 5 assignments of 5 people", "undo this within a minute")
		job = v.post(view.PathBulk, "act", "revoke", "all", "1").wantStatus(http.StatusSeeOther).header.Get("Location")
		v.waitForText(job, "5 revoked").wantText("Undo")
		l.assign(1, time.Now().Add(time.Hour)) // takes an external id again: this one can't come back
		undo := v.post(job + "/undo").wantStatus(http.StatusSeeOther).header.Get("Location")
		v.waitForText(undo, "4 restored").wantText("1 changed since, left alone")
		v.get(view.PathAssignments).wantText("5 assignments")
		f.exec(`UPDATE jobs SET finished_at = $1 WHERE finished_at IS NOT NULL`, time.Now().UTC().Add(-61*time.Second).Truncate(time.Millisecond))
		v.get(job).wantText("5 revoked").wantNoText("/undo")
		v.post(job + "/undo").follow().wantText("more than a minute has passed")
	})
}

// TestBulkGrantLetsManyTryAgain grants an attempt to all whom a filter matches and to
// ticked ones: only those who have failed get one.
func TestBulkGrantLetsManyTryAgain(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(5)
		var list []domain.Assignment
		for n := range 5 {
			list = append(list, l.assign(n+1, time.Now().Add(60*24*time.Hour)))
		}
		for n, a := range list[:3] {
			l.attempt(a, "failed "+strconv.Itoa(n), 10_00)
		}
		l.attempt(list[3], "passed", 95_00)
		v.get(view.PathAssignments+"?tab=failed").wantText("3 assignments", "Person 1", "Person 3").wantNoText("Person 4")
		v.get(view.PathBulk+"?act=grant&all=1").wantText("3 people", "Grant 3 attempts", "2 of the 5 chosen are not failed")
		job := v.post(view.PathBulk, "act", "grant", "all", "1", "tab", "failed", "q", "Person 3").wantStatus(http.StatusSeeOther).header.Get("Location")
		v.waitForText(job, "1 granted another attempt")
		ids := []string{"act", "grant"}
		for _, a := range list {
			ids = append(ids, "id", strconv.FormatInt(a.ID, 10))
		}
		job = v.post(view.PathBulk, ids...).wantStatus(http.StatusSeeOther).header.Get("Location")
		v.waitForText(job, "2 granted another attempt").wantText("3 ")
		v.get(view.PathAssignments + "?tab=failed").wantText("Nobody has failed")
		v.get(view.PathAssignments+"?tab=needs_retry").wantText("3 assignments", "Person 1", "Person 2", "Person 3").wantNoText("Person 4", "Person 5")
		v.get(view.PathAssignment(list[0].ID)).wantText("Needs retry", "Another attempt granted", admin)
		v.get(view.PathAssignment(list[3].ID)).wantText("Completed").wantNoText("Another attempt granted")
		l.attempt(list[0], "second try", 95_00)
		v.get(view.PathAssignment(list[0].ID)).wantText("Completed")
	})
}

func TestAssignToMany(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(6)
		course := strconv.FormatInt(l.course, 10)
		second := strconv.FormatInt(l.addCourse(domain.Course{Name: "Data protection"}), 10)
		l.assign(1, time.Now().Add(time.Hour))
		l.exec(`UPDATE employees SET external_id = NULL WHERE external_id = $1`, "HR-6") // joined through the cabinet
		form := []string{"everyone", "1", "course", course, "course", second, "when", "days", "days", "14", "required", "1"}
		v.post(view.PathAssignPreview, form...).wantStatus(http.StatusOK).wantText("6 people × 2 courses = 12 assignments.", "1 exists already and is skipped.", "Assign 11")
		v.post(view.PathAssignPreview, "pasted", "HR-1, p2@baltic.example\nnobody", "course", course).wantText("2 people × 1 course = 2 assignments.", "Nobody has the id or e-mail address nobody")
		l.exec(`INSERT INTO employee_tags (company_id, tag, employee_id) SELECT company_id, 'night', id FROM employees`)
		l.exec(`INSERT INTO employee_tags (company_id, tag, employee_id) SELECT company_id, 'port', id FROM employees`)
		v.post(view.PathAssignPreview, "tag", "night", "tag", "port", "course", course, "course", second).
			wantText("6 people × 2 courses = 12 assignments.", "1 exists already and is skipped.", "Assign 11")
		v.post(view.PathAssign, "course", course).wantStatus(http.StatusUnprocessableEntity).wantText("Choose at least one person")
		v.post(view.PathAssign).wantStatus(http.StatusUnprocessableEntity).wantText("Choose at least one person.", "Choose at least one course.")
		v.post(view.PathAssign, "everyone", "1").wantStatus(http.StatusUnprocessableEntity).wantText("Choose at least one course")
		v.get(view.PathAssign + "?q=Person+2").wantText("p2@baltic.example")
		job := v.post(view.PathAssign, form...).wantStatus(http.StatusSeeOther).header.Get("Location")
		v.waitForText(job, "11 assigned").wantText("1 already had it, skipped", "of 6 people", admin)
		v.get(view.PathAssignments).wantText("12 assignments")
		tagged := v.post(view.PathAssign, "tag", "night", "tag", "port", "course", course).wantStatus(http.StatusSeeOther).header.Get("Location")
		v.waitForText(tagged, "6 already had it, skipped")
		again := v.post(view.PathAssign, form...).wantStatus(http.StatusSeeOther).header.Get("Location")
		v.waitForText(again, "12 already had it, skipped")
	})
}
