package cabinet_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestHomeSaysWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.get(view.PathHome).wantStatus(http.StatusOK).wantText("Getting started", "0 of 4 done", "Import people").
			wantNoText("Needs attention", "Completed per week")
		l := f.newLearners(5)
		v.get(view.PathHome).wantText("Nothing needs your attention", "1 of 4 done", "Once a course is assigned")
		now := time.Now().UTC()
		l.assign(1, now.Add(-time.Hour))
		l.assign(2, now.Add(3*24*time.Hour))
		l.assign(3, now.Add(20*24*time.Hour))
		failed, passed := l.assign(4, now.Add(20*24*time.Hour)), l.assign(5, now.Add(20*24*time.Hour))
		l.attempt(failed, "failed", 10_00)
		l.attempt(passed, "passed", 100_00)
		home := v.get(view.PathHome).wantText("1 assignment is overdue", "1 assignment is due within 7 days", "1 assignment has failed",
			"Grant another attempt", "Workplace safety", "20%", "1 of 5", "+1 on the 30 days before", "2 of 4 done")
		for tab, person := range map[string]string{"overdue": "Person 1", "due_soon": "Person 2", "failed": "Person 4"} {
			path := home.find(`href="(` + view.PathAssignments + `\?tab=` + tab + `)"`)
			v.get(path).wantStatus(http.StatusOK).wantText(person, "1 assignment")
		}
		link := v.post(view.PathInvite, "email", "viewer@baltic.example", "role", "viewer").follow().secret()
		viewer := f.visitor()
		viewer.useLink(link)
		viewer.get(view.PathHome).wantText("1 assignment is overdue").wantNoText("Grant another attempt", "Getting started", `href="`+view.PathAssign+`"`)
		v.createToken("HR")
		v.get(view.PathHome).wantNoText("Getting started")
		v.get(view.PathOverview).wantStatus(http.StatusOK).wantText("Getting started", "Make the first call")
	})
}
