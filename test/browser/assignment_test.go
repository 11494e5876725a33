package browser

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
)

// confirm waits for a dialog and agrees.
func (b *tab) confirm(question string) {
	b.Helper()
	b.waitFor("the dialog “"+question+"”", `(document.querySelector('#dialog')?.innerText ?? '').includes(`+quote(question)+`)`)
	b.submit("#dialog form")
}

// tickAll opens the assignments and ticks all rows once they are the wanted number.
func (b *tab) tickAll(n int) {
	b.Helper()
	b.open("/cabinet/assignments")
	b.reloadUntil("the rows", fmt.Sprintf(`document.querySelectorAll('[data-bulk-row]').length === %d`, n))
	evaluate[bool](b, `document.querySelectorAll('[data-bulk-row]').forEach(e => e.click()), true`)
	b.waitForText(fmt.Sprintf("%d selected", n))
}

// fail lets the learner of the first assignment use up the only attempt.
func (f *fixture) fail() {
	f.Helper()
	token, err := f.program.CreatePlatformToken(f.Context(), "player")
	if err != nil {
		f.Fatal(err)
	}
	status, answer := f.send(token.Token, http.MethodPost, "/platform/v1/activities", map[string]any{"items": []any{map[string]any{
		"id": "1", "assignmentId": 1, "type": "attempt_finished", "score": 10, "occurredAt": time.Now().UTC().Format(time.RFC3339),
	}}})
	if status != http.StatusOK {
		f.Fatalf("report the attempt: %d %v", status, answer)
	}
}

// TestAssignmentsAreChangedOneByOneAndTogether goes through every act on assignments.
func TestAssignmentsAreChangedOneByOneAndTogether(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		if _, err := f.program.AddCourse(t.Context(), f.company.CompanyID, app.CourseInput{Name: "First aid", Assessment: true, PassMark: 80, Attempts: 1}); err != nil {
			t.Fatal(err)
		}
		b := f.administrator()
		b.postForm("/cabinet/employees/import", "text", "name,email,course\nAnna,a@baltic.example,First aid\nBoris,b@baltic.example,First aid\nClara,c@baltic.example,First aid\n")
		b.postForm("/cabinet/imports/1", "column0", "name", "column1", "email", "column2", "course")
		b.postForm("/cabinet/imports/1/check")
		b.tickAll(3)
		f.fail()
		b.open("/cabinet/assignments/1")
		b.click("Grant attempt")
		b.confirm("Grant another attempt?")
		b.waitForText("Another attempt is granted.")
		b.click("Change deadline")
		b.fill("input[name=deadline]", "2099-01-02T10:00")
		b.click("Save")
		b.waitForText("2 Jan 2099, 10:00")
		b.click("Make required")
		b.confirm("Make this assignment required?")
		b.waitForText("The assignment is required now.")
		b.waitForText("Made required")
		b.click("Revoke")
		b.confirm("Revoke this assignment?")
		b.waitForText("The assignment is revoked.")

		b.tickAll(2)
		b.click("Extend deadline")
		b.fill("input[name=days]", "30")
		b.click("Extend 2 deadlines")
		b.waitForText("2 extended")
		b.tickAll(2)
		b.click("Make required")
		b.click("Make 2 required")
		b.waitForText("2 made required")
		b.tickAll(2)
		b.click("Grant attempt")
		b.waitForText("Nothing to change")
		b.tickAll(2)
		b.click("Revoke")
		b.click("Revoke 2 assignments")
		b.waitForText("2 revoked")
		b.click("Undo")
		b.waitForText("2 restored")
		b.tickAll(2)
	})
}
