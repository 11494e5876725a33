package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// actOnPeople carries an act out, two employees at a time, and returns the job at its end.
func (f testCompany) actOnPeople(act domain.PeopleAction, who domain.People) domain.Job {
	f.t.Helper()
	job, err := f.s.AddPeopleJob(f.t.Context(), f.c, domain.NewJob{Kind: "people", Input: act}, who)
	wantNoError(f.t, "add a job", err)
	for job.Running() {
		wantNoError(f.t, "step", f.s.StepPeople(f.t.Context(), f.c, act, job, 2))
		job = f.job(job.ID)
	}
	return job
}

// tagsOf returns the tags of each employee, by name.
func (f testCompany) tagsOf(externalIDs ...string) (out []string) {
	f.t.Helper()
	for _, id := range externalIDs {
		out = append(out, fmt.Sprint(id, " ", f.employee(id).Tags))
	}
	return out
}

func TestActsOnPeople(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		t.Run("leaving", func(t *testing.T) { testPeopleLeave(t, s) })
		t.Run("tags", func(t *testing.T) { testTagsOfMany(t, s) })
	})
}

func testTagsOfMany(t *testing.T, s *store.Store) {
	f, other := newTestCompany(t, s), newTestCompany(t, s)
	f.provisionAll("E1", "E2", "E3", "E4")
	other.provisionAll("E1")
	f.mustPatch("E2", domain.EmployeePatch{Tags: ptr([]string{"old", "night"})})
	f.mustPatch("E3", domain.EmployeePatch{Tags: ptr([]string{"old"})})
	other.mustPatch("E1", domain.EmployeePatch{Tags: ptr([]string{"theirs"})})
	f.offboard("E4")
	before := f.employee("E3")

	who := domain.People{Lines: []string{"E1", "E2", "e3@x.test", "E4"}}
	job := f.actOnPeople(domain.PeopleAction{Kind: domain.PeopleTag, Tags: []string{"night", "day"}}, who)
	equal(t, "the tally", string(job.Result), `{"done":3}`)
	equal(t, "tags", f.tagsOf("E1", "E2", "E3"), []string{"E1 [night day]", "E2 [old night day]", "E3 [old night day]"})
	job = f.actOnPeople(domain.PeopleAction{Kind: domain.PeopleUntag, Tags: []string{"old"}}, domain.People{All: true})
	equal(t, "the tally", string(job.Result), `{"done":2,"unchanged":1}`)
	equal(t, "tags", f.tagsOf("E1", "E2", "E3"), []string{"E1 [night day]", "E2 [night day]", "E3 [night day]"})
	equal(t, "the name of one who was tagged", f.employee("E3").Name, before.Name)
	equal(t, "tags of the other company", other.tagsOf("E1"), []string{"E1 [theirs]"})

	f.mustPatch("E1", domain.EmployeePatch{Tags: ptr([]string{"day"})})
	tags, err := s.Tags(t.Context(), f.c.Company.ID)
	wantNoError(t, "list the tags", err)
	equal(t, "tags in use, in alphabetical order", tags, []string{"day", "night"})
	want := map[string]int64{"day": 3, "night": 2}
	counted, err := s.PeopleByTag(t.Context(), f.c.Company.ID)
	wantNoError(t, "count by tag", err)
	equal(t, "people by tag", counted, want)
	change(t, s, `DELETE FROM total_companies`)
	counted, err = store.New(s.Engine()).PeopleByTag(t.Context(), f.c.Company.ID)
	wantNoError(t, "count by tag", err)
	equal(t, "people by tag, without totals", counted, want)
}

func testPeopleLeave(t *testing.T, s *store.Store) {
	f, other := newTestCompany(t, s), newTestCompany(t, s)
	f.provisionAll("E1", "E2", "E3")
	other.provisionAll("E1")
	exam := f.addAssessment()
	f.assign("A1", "E1", exam)
	f.assign("A2", "E1", exam)
	done := f.assign("A3", "E2", exam)
	f.report(ended("1", done.ID, s.Now(), 90_00))
	revoked := f.assign("A4", "E2", exam)
	f.outcomes(domain.AssignmentAction{Kind: domain.ActRevoke}, revoked.ID)
	other.assign("A5", "E1", other.addAssessment())
	who := domain.People{Lines: []string{"E1", "E2"}}
	count, err := s.CountPeople(t.Context(), f.c.Company.ID, who)
	wantNoError(t, "count", err)
	equal(t, "people and their open assignments", count, domain.PeopleCount{People: 2, Open: 2})
	count, err = s.CountPeople(t.Context(), f.c.Company.ID, domain.People{Lines: []string{"E3", "nobody"}})
	wantNoError(t, "count", err)
	equal(t, "people without assignments", count, domain.PeopleCount{People: 1})

	planned := func() []string {
		t.Helper()
		return texts(t, s, `SELECT e.external_id || ' ' || p.actor_label FROM planned_offboardings p
			JOIN employees e ON e.company_id = p.company_id AND e.id = p.employee_id WHERE p.company_id = $1 AND p.at = $2 ORDER BY e.id`,
			f.c.Company.ID, before(s, -24*time.Hour).Truncate(time.Hour))
	}
	at := before(s, -24*time.Hour).Truncate(time.Hour)
	earlier := at.Add(-time.Hour)
	f.actOnPeople(domain.PeopleAction{Kind: domain.PeopleOffboard, At: &earlier}, who)
	job := f.actOnPeople(domain.PeopleAction{Kind: domain.PeopleOffboard, At: &at}, who) // moves the plan
	equal(t, "the tally", string(job.Result), `{"done":2}`)
	equal(t, "planned", planned(), []string{"E1 test", "E2 test"})
	equal(t, "all plans", number(t, s, `SELECT count(*) FROM planned_offboardings`), 2)

	job = f.actOnPeople(domain.PeopleAction{Kind: domain.PeopleOffboard}, domain.People{Lines: []string{"E1"}})
	equal(t, "the tally", string(job.Result), `{"done":1}`)
	equal(t, "planned", planned(), []string{"E2 test"})
	_, _, err = s.Employee(t.Context(), f.c.Company.ID, "E1")
	wantCode(t, "who has left", err, domain.CodeEmployeeOffboarded)
	equal(t, "the namesake of another company", other.employee("E1").ExternalID, "E1")
	live := texts(t, s, `SELECT external_id FROM assignments WHERE revoked_at IS NULL ORDER BY id`)
	equal(t, "assignments that are left", live, []string{"A3", "A5"})
}
