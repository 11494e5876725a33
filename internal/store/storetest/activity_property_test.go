package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// model is the state that the store must arrive at: every activity is applied once,
// in the order in which it was first reported.
type model struct {
	progress map[int64]*domain.Progress
	rules    map[int64]domain.CourseRule
	told     map[string]bool
}

func newModel(list []domain.BulkResult) *model {
	m := &model{map[int64]*domain.Progress{}, map[int64]domain.CourseRule{}, map[string]bool{}}
	for _, r := range list {
		m.progress[r.Assignment.ID] = &domain.Progress{Status: domain.StatusAssigned}
		m.rules[r.Assignment.ID] = r.Assignment.Rule
	}
	return m
}

func (m *model) apply(acts []domain.Activity) (statuses []string) {
	for _, a := range acts {
		p := m.progress[a.AssignmentID]
		if !m.told[a.ID] {
			m.told[a.ID] = true
			p.Apply(m.rules[a.AssignmentID], a)
		}
		statuses = append(statuses, string(p.Status))
	}
	return statuses
}

// drawActivities draws a report. It uses few ids, so that many are repeated, and few
// instants, so that many are late.
func drawActivities(t *rapid.T, prefix string, list []domain.BulkResult, noon time.Time) []domain.Activity {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) domain.Activity {
		id := fmt.Sprint(prefix, rapid.IntRange(0, 15).Draw(t, "id"))
		to := rapid.SampledFrom(list).Draw(t, "assignment").Assignment.ID
		at := noon.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "minute")) * time.Minute)
		points := domain.Points(rapid.IntRange(0, 4).Draw(t, "quarter") * 25_00)
		switch rapid.IntRange(0, 2).Draw(t, "type") {
		case 0:
			return started(id, to, at)
		case 1:
			return progress(id, to, at, points)
		}
		return ended(id, to, at, points)
	}), 1, 12).Draw(t, "report")
}

// step holds every change of status that the rules allow an activity to make.
var step = map[string]bool{
	"assigned > started": true, "started > completed": true, "started > needs_retry": true, "started > failed": true, "needs_retry > started": true,
}

func TestActivitiesFollowTheModel(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		exam, course, noon := f.addAssessment(), f.addCourse(domain.Course{Name: "Course"}), before(s, time.Hour)
		round := 0
		rapid.Check(t, func(t *rapid.T) {
			round++
			prefix := fmt.Sprintf("r%d-", round)
			results, err := s.Assign(f.t.Context(), f.c, []domain.BulkItem{
				item(prefix+"a", "E1", exam), item(prefix+"b", "E1", exam), item(prefix+"c", "E1", course),
			})
			if err != nil {
				t.Fatal(err)
			}
			m := newModel(results)
			for range rapid.IntRange(1, 3).Draw(t, "reports") {
				acts := drawActivities(t, prefix, results, noon)
				if diff := difference(m.apply(acts), f.report(acts...)); diff != "" {
					t.Fatalf("the results differ from the model: %s", diff)
				}
			}
			for id, want := range m.progress {
				f.checkProgress(t, id, *want)
			}
		})
	})
}

// checkProgress compares a stored assignment with the model.
func (f testCompany) checkProgress(t *rapid.T, id int64, want domain.Progress) {
	got := f.assignment(id)
	if diff := cmp.Diff(want, got.Progress); diff != "" {
		t.Fatalf("the stored assignment differs from the model: %s", diff)
	}
	if n := len(f.attempts(id)); n != want.Attempts {
		t.Fatalf("%d attempts are stored, %d were begun", n, want.Attempts)
	}
	at := "assigned"
	for _, move := range texts(f.t, f.s, `SELECT from_status || ' > ' || to_status FROM assignment_history WHERE assignment_id = $1 ORDER BY id`, id) {
		var from, to string
		if _, err := fmt.Sscanf(move, "%s > %s", &from, &to); err != nil || from != at || !step[move] {
			t.Fatalf("the status is %s, and the next entry of the history is %s", at, move)
		}
		at = to
	}
	if at != string(want.Status) {
		t.Fatalf("the history ends with %s, but the status is %s", at, want.Status)
	}
	ends := number(f.t, f.s, `SELECT count(*) FROM events WHERE assignment_id = $1 AND kind <> 'assignment.created'`, id)
	if (ends == 1) != (want.CompletedAt != nil) {
		t.Fatalf("there are %d final events of an assignment with the status %s", ends, want.Status)
	}
}
