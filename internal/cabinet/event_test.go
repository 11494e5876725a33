package cabinet_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// TestActsOfTheCabinetCauseTheEventsOfTheAPI does to people, one by one and together,
// what the API does with the same calls. Each act causes the events of the contract.
func TestActsOfTheCabinetCauseTheEventsOfTheAPI(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(0)
		course := strconv.FormatInt(l.course, 10)
		seen := 0
		caused := func(act string, want ...string) {
			f.Helper()
			all := storetest.Texts(f, l.store, `SELECT kind FROM events ORDER BY id`)
			got := slices.Sorted(slices.Values(all[seen:]))
			seen = len(all)
			if diff := cmp.Diff(want, got); diff != "" {
				f.Errorf("the events of %s (-want +got):\n%s", act, diff)
			}
		}
		background := func(path, done string, form ...string) string {
			f.Helper()
			job := v.post(path, form...).header.Get("Location")
			v.waitForText(job, done)
			return job
		}
		const joined, removed, created = "employee.joined", "employee.removed", "assignment.created"
		person := v.addPerson("Anna", "anna.k@baltic.example")
		caused("adding a person", joined)
		imported := v.upload("name,email,course\nBoris,b@baltic.example,Workplace safety\nClara,c@baltic.example,Workplace safety\n")
		v.post(imported, "column0", "name", "column1", "email", "column2", "course")
		background(imported+"/check", "All rows were imported")
		caused("an import", created, created, joined, joined)
		background(view.PathAssign, "1 assigned", "everyone", "1", "course", course)
		caused("assigning", created)
		background(view.PathPeopleBulk, "3 tagged", "act", "tag", "tags", "port", "all", "1")
		background(view.PathBulk, "3 extended", "act", "extend", "days", "3", "all", "1")
		revoked := background(view.PathBulk, "3 revoked", "act", "revoke", "all", "1")
		background(revoked+"/undo", "3 restored")
		var none []string
		caused("tagging, extending, revoking and undoing", none...)
		v.post(person+"/offboard", "when", "now")
		caused("offboarding", removed)
		v.post(person + "/bring-back")
		caused("bringing back", joined)
		background(view.PathPeopleBulk, "3 offboarded", "act", "offboard", "all", "1")
		caused("offboarding together", removed, removed, removed)
		v.post(person + "/erase")
		caused("erasing", removed)
	})
}
