package storetest_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// An employee has at most 10,000 live assignments, also when several requests
// reach the limit at once. Repeating a request and revoking still work there, and
// jobs and imports leave that employee out.
func TestLiveAssignmentsOfAnEmployeeAreLimited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("busy", "idle")
		course := f.addCourse(domain.Course{Name: "Basics"})
		const free = 10
		var made, refused atomic.Int64
		var racers sync.WaitGroup
		fill := make(chan int)
		for range 4 {
			racers.Go(func() {
				for first := range fill {
					items := make([]domain.BulkItem, min(500, domain.MaxLiveAssignments-free-first))
					for i := range items {
						items[i] = item(fmt.Sprint("old-", first+i), "busy", course)
					}
					f.bulk(items...)
				}
			})
		}
		for first := 0; first < domain.MaxLiveAssignments-free; first += 500 {
			fill <- first
		}
		close(fill)
		racers.Wait()
		for racer := range 8 {
			racers.Go(func() {
				for n := range 4 {
					results, err := s.Assign(t.Context(), f.c, []domain.BulkItem{item(fmt.Sprint("new-", racer, "-", n), "busy", course)})
					switch {
					case err != nil:
						t.Errorf("assign: %v", err)
					case results[0].Err == nil:
						made.Add(1)
					case domain.CodeOf(results[0].Err) == domain.CodeTooManyAssignments:
						refused.Add(1)
					default:
						t.Errorf("assign: %v", results[0].Err)
					}
				}
			})
		}
		racers.Wait()
		if made.Load() != free || refused.Load() != 8*4-free {
			t.Errorf("%d were made and %d refused, want %d made", made.Load(), refused.Load(), free)
		}
		lines, results := f.bulk(item("old-0", "busy", course), item("one more", "busy", course), item("other", "idle", course))
		if want := "[old-0 assigned too_many_assignments other assigned]"; fmt.Sprint(lines) != want {
			t.Errorf("got %v, want %s", lines, want)
		}
		if err := s.Revoke(t.Context(), f.c, results[0].Assignment.ID); err != nil {
			t.Fatal(err)
		}
		lines, _ = f.bulk(item("one more", "busy", course), item("two more", "busy", course))
		if want := "[one more assigned too_many_assignments]"; fmt.Sprint(lines) != want {
			t.Errorf("got %v, want %s", lines, want)
		}
		f.wantLeftOut("busy", "idle")
	})
}

// wantLeftOut checks that neither a job nor an import assigns a course to the first
// employee, who has too many, and that both assign it to the second.
func (f testCompany) wantLeftOut(full, free string) {
	f.t.Helper()
	equal(f.t, "a course assigned to both", f.assignToAll(f.addAssessment()), `{"done":1,"too_many_assignments":1}`)
	imported := domain.ImportAssignment{CourseID: f.addAssessment()}
	got, err := f.s.AssignImported(f.t.Context(), f.c, []domain.PersonCourse{
		{EmployeeID: f.employee(full).ID, AssignmentExternalID: "import-1", ImportAssignment: imported},
		{EmployeeID: f.employee(free).ID, AssignmentExternalID: "import-2", ImportAssignment: imported},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	equal(f.t, "a course imported for both", got, []domain.PersonCourseOutcome{{Refused: domain.CodeTooManyAssignments}, {}})
}

// assignToAll assigns a course to all people of the company by a job, and returns its
// result.
func (f testCompany) assignToAll(course int64) string {
	f.t.Helper()
	in := domain.AssignCourses{CourseIDs: []int64{course}}
	job, err := f.s.AddAssignJob(f.t.Context(), f.c, domain.NewJob{Kind: "assign", Input: in}, domain.People{All: true})
	if err != nil {
		f.t.Fatal(err)
	}
	for job.Running() {
		if err := f.s.StepAssign(f.t.Context(), f.c, in, job, 100); err != nil {
			f.t.Fatal(err)
		}
		if job, err = f.s.Job(f.t.Context(), f.c.Company.ID, job.ID); err != nil {
			f.t.Fatal(err)
		}
	}
	return string(job.Result)
}
