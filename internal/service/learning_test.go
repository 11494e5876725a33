package service_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// learningFixture is the learning side of the service for one company.
type learningFixture struct {
	*service.Learning
	t *testing.T
	c domain.Caller
}

func withLearning(t *testing.T, fn func(s learningFixture)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		fn(learningFixture{service.NewLearning(s, service.NewWatcher(s, service.WatcherOptions{})), t, storetest.Company(t, s, "Acme")})
	})
}

func (s learningFixture) refuses(what string, err error, code domain.Code) {
	s.t.Helper()
	if err == nil || domain.CodeOf(err) != code {
		s.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func (s learningFixture) course(c domain.Course) int64 {
	s.t.Helper()
	id, err := s.AddCourse(s.t.Context(), s.c, c)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s learningFixture) enrol(externalID string) domain.Employee {
	s.t.Helper()
	e, _, err := s.Provision(s.t.Context(), s.c, domain.Provision{ExternalID: externalID, Email: " " + externalID + "@x.test ", Name: " Jose\u0301 "})
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

func TestInputIsCheckedFirst(t *testing.T) {
	t.Parallel()
	withLearning(t, func(s learningFixture) {
		ctx, text := s.t.Context(), "a\x00"
		e := s.enrol("E1")
		if e.Email != "E1@x.test" || e.Name != "José" {
			s.t.Errorf("normalised: %+v", e)
		}
		_, _, err := s.Provision(ctx, s.c, domain.Provision{ExternalID: " ", Email: "x", Name: text})
		s.refuses("provision", err, domain.CodeInvalid)
		_, err = s.Join(ctx, s.c, domain.Newcomer{Email: "x"})
		s.refuses("join", err, domain.CodeInvalid)
		_, err = s.PatchEmployee(ctx, s.c, "E1", domain.EmployeePatch{Name: &text})
		s.refuses("patch", err, domain.CodeInvalid)
		_, err = s.Assign(ctx, s.c, domain.NewAssignment{ExternalID: text, EmployeeExternalID: "E1", CourseID: 1})
		s.refuses("assign", err, domain.CodeInvalid)
		_, err = s.AddCourse(ctx, s.c, domain.Course{Name: text})
		s.refuses("add a course", err, domain.CodeInvalid)
		_, _, err = s.PutCourse(ctx, s.c.Actor, domain.Course{ExternalID: "P", Name: text})
		s.refuses("put a course", err, domain.CodeInvalid)
		people, err := s.Employees(ctx, s.c, domain.EmployeeFilter{}, domain.PageRequest{Number: 1, Limit: 10})
		if err != nil || people.Total != 1 {
			s.t.Errorf("employees: %d, %v", people.Total, err)
		}
	})
}

func TestCutSlice(t *testing.T) {
	t.Parallel()
	withLearning(t, func(s learningFixture) {
		ctx := s.t.Context()
		whole := s.course(domain.Course{
			ExternalID: "W", Name: "Whole", IsAssessment: true, PassMark: 70_00, AllowedAttempts: 5, Modules: []string{"One", "Two", "Three"},
		})
		id, err := s.CutSlice(ctx, s.c, whole, domain.SliceInput{Name: " Slice ", Modules: []int{3, 1}})
		if err != nil {
			s.t.Fatal(err)
		}
		again, err := s.CutSlice(ctx, s.c, id, domain.SliceInput{Name: "Slice of a slice", Modules: []int{2}})
		if err != nil {
			s.t.Fatal(err)
		}
		list, err := s.Courses(ctx, s.c)
		if err != nil {
			s.t.Fatal(err)
		}
		want := domain.Course{ID: id, OwnerCompanyID: s.c.Company.ID, ParentID: whole, Name: "Slice", IsAssessment: true, PassMark: 70_00, AllowedAttempts: 5}
		if diff := cmp.Diff(want, list[1]); diff != "" || list[0].ID != whole || list[2].ID != again {
			s.t.Errorf("the courses: %+v, %s", list, diff)
		}
		s.enrol("E1")
		a, err := s.Assign(ctx, s.c, domain.NewAssignment{ExternalID: "A1", EmployeeExternalID: "E1", CourseID: again})
		if err != nil || a.CourseName != "Slice of a slice" || a.Rule.PassMark != 70_00 {
			s.t.Errorf("an assigned slice: %+v, %v", a, err)
		}
		for what, modules := range map[string][]int{"no module": nil, "module 0": {0}, "a module past the end": {1, 4}} {
			_, err := s.CutSlice(ctx, s.c, whole, domain.SliceInput{Name: "Bad", Modules: modules})
			s.refuses(what, err, domain.CodeInvalid)
		}
		_, err = s.CutSlice(ctx, s.c, whole, domain.SliceInput{Name: "", Modules: []int{1}})
		s.refuses("no name", err, domain.CodeInvalid)
		_, err = s.CutSlice(ctx, s.c, 1<<40, domain.SliceInput{Name: "None", Modules: []int{1}})
		s.refuses("no course", err, domain.CodeCourseNotFound)
		stranger := domain.Caller{Company: domain.Company{ID: s.c.Company.ID + 1}}
		_, err = s.CutSlice(ctx, stranger, whole, domain.SliceInput{Name: "Theirs", Modules: []int{1}})
		s.refuses("another company's course", err, domain.CodeWrongCompany)
	})
}

func TestBadItemsHarmNoNeighbour(t *testing.T) {
	t.Parallel()
	withLearning(t, func(s learningFixture) {
		ctx := s.t.Context()
		s.enrol("E1")
		course := s.course(domain.Course{Name: "Course"})
		results, err := s.AssignMany(ctx, s.c, []domain.BulkItem{
			{New: domain.NewAssignment{ExternalID: " bad", EmployeeExternalID: "E1", CourseID: course}},
			{New: domain.NewAssignment{ExternalID: "A1", EmployeeExternalID: "E1", CourseID: course}},
			{Err: domain.Errorf(domain.CodeInvalid, "not an object")},
		})
		if err != nil {
			s.t.Fatal(err)
		}
		s.refuses("a bad externalId", results[0].Err, domain.CodeInvalid)
		s.refuses("no object", results[2].Err, domain.CodeInvalid)
		a := results[1].Assignment
		if results[1].Err != nil || a.ID == 0 {
			s.t.Fatalf("the good one: %+v", results[1])
		}
		full := domain.FullPoints
		acts, err := s.RecordActivities(ctx, s.c.Actor, []domain.ActivityItem{
			{Activity: domain.Activity{ID: "1", AssignmentID: a.ID, Type: domain.ActivityProgress}},
			{Activity: domain.Activity{ID: "2", AssignmentID: a.ID, Type: domain.ActivityStarted, OccurredAt: s.Now().Add(48 * time.Hour)}},
			{Activity: domain.Activity{ID: "3", AssignmentID: a.ID, Type: domain.ActivityProgress, Percent: &full}},
		})
		if err != nil {
			s.t.Fatal(err)
		}
		s.refuses("progress of nothing", acts[0].Err, domain.CodeInvalid)
		s.refuses("the day after tomorrow", acts[1].Err, domain.CodeInvalid)
		if acts[2].Status != domain.StatusCompleted || acts[2].Err != nil {
			s.t.Errorf("the good one: %+v", acts[2])
		}
	})
}

// dueStore answers sweeps from a list; nothing else of it is called.
type dueStore struct {
	service.Store

	mu      sync.Mutex
	answers []int // -1 is an error
	calls   int
}

func (d *dueStore) MarkOverdue(_ context.Context, limit int) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if len(d.answers) == 0 {
		return 0, nil
	}
	n := d.answers[0]
	d.answers = d.answers[1:]
	if n < 0 {
		return 0, errors.New("no database")
	}
	return min(n, limit), nil
}

func (*dueStore) OffboardDue(context.Context, int) (int, error) { return 0, nil }

func (d *dueStore) callCount() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

// TestSweepOverdue checks that a sweep repeats until nothing is due, goes on after
// a failure, waits a second between sweeps and ends with its context.
func TestSweepOverdue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		d := &dueStore{answers: []int{1 << 20, 1 << 20, 3, -1, 1}}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			service.NewLearning(d, nil).Run(ctx, slog.New(slog.DiscardHandler))
		}()
		calls := []int{}
		for range 4 {
			synctest.Wait()
			calls = append(calls, d.callCount())
			time.Sleep(time.Second) // of the bubble's clock
		}
		if diff := cmp.Diff([]int{3, 4, 5, 6}, calls); diff != "" {
			t.Errorf("calls at the start of each second (-want +got):\n%s", diff)
		}
		stop()
		<-ended
	})
}
