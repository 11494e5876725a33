package domain_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

var (
	noon   = time.Date(2026, 11, 14, 12, 0, 0, 0, time.UTC)
	exam   = domain.CourseRule{IsAssessment: true, PassMark: 80_00, AllowedAttempts: 2}
	course = domain.CourseRule{PassMark: 80_00, AllowedAttempts: 3}
)

func ptr[T any](v T) *T { return &v }

func at(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }

func points(f float64) *domain.Points {
	p, err := domain.ParsePoints(f)
	if err != nil {
		panic(err)
	}
	return &p
}

func started(minute int) domain.Activity {
	return domain.Activity{Type: domain.ActivityStarted, OccurredAt: at(minute)}
}

func progress(minute int, percent float64) domain.Activity {
	return domain.Activity{Type: domain.ActivityProgress, OccurredAt: at(minute), Percent: points(percent)}
}

func ended(minute int, score float64) domain.Activity {
	return domain.Activity{Type: domain.ActivityAttemptFinished, OccurredAt: at(minute), Score: points(score)}
}

func scored(a domain.Activity, score float64) domain.Activity {
	a.Score = points(score)
	return a
}

// outcome is what a reader sees of a story.
type outcome struct {
	status     domain.Status
	percent    float64
	score      string
	attempts   int
	completion domain.CompletionState
	summary    string
}

func look(a domain.Assignment) outcome {
	o := outcome{a.Status, a.Percent.Float(), "", a.Attempts, a.Completion(), a.Summary()}
	if a.Score != nil {
		o.score = a.Score.String()
	}
	return o
}

func TestStories(t *testing.T) {
	t.Parallel()
	type story struct {
		name string
		rule domain.CourseRule
		acts []domain.Activity
		want outcome
	}
	for _, c := range []story{
		{"nothing yet", exam, nil, outcome{domain.StatusAssigned, 0, "", 0, domain.CompletionNotStarted, "Not started yet."}},
		{"started", exam, []domain.Activity{started(0)},
			outcome{domain.StatusStarted, 0, "", 1, domain.CompletionInProgress, "In progress, 0 percent complete."}},
		{"progress starts it", exam, []domain.Activity{progress(0, 12.5)},
			outcome{domain.StatusStarted, 12.5, "", 1, domain.CompletionInProgress, "In progress, 12.5 percent complete."}},
		{"progress does not pass an assessment", exam, []domain.Activity{progress(0, 100)},
			outcome{domain.StatusStarted, 100, "", 1, domain.CompletionInProgress, "In progress, 100 percent complete."}},
		{"progress never falls", exam, []domain.Activity{progress(0, 60), progress(1, 40)},
			outcome{domain.StatusStarted, 60, "", 1, domain.CompletionInProgress, "In progress, 60 percent complete."}},
		{"an end that never began", exam, []domain.Activity{ended(0, 92)},
			outcome{domain.StatusCompleted, 100, "92", 1, domain.CompletionSuccess, "Passed with 92 on attempt 1 of 2."}},
		{"the pass mark itself passes", exam, []domain.Activity{started(0), ended(1, 80)},
			outcome{domain.StatusCompleted, 100, "80", 1, domain.CompletionSuccess, "Passed with 80 on attempt 1 of 2."}},
		{"a hair below it does not", exam, []domain.Activity{started(0), ended(1, 79.99)},
			outcome{domain.StatusNeedsRetry, 0, "79.99", 1, domain.CompletionFailure, "Not passed yet: 79.99 on attempt 1 of 2, 80 is needed."}},
		{"the next attempt begins at 0", exam, []domain.Activity{progress(0, 90), ended(1, 50), started(2)},
			outcome{domain.StatusStarted, 0, "50", 2, domain.CompletionFailure, "Not passed yet: 50 on attempt 1 of 2, 80 is needed."}},
		{"passed on the second", exam, []domain.Activity{ended(1, 50), started(2), ended(3, 81.5)},
			outcome{domain.StatusCompleted, 100, "81.5", 2, domain.CompletionSuccess, "Passed with 81.5 on attempt 2 of 2."}},
		{"two ends in one millisecond are two attempts", exam, []domain.Activity{ended(1, 50), ended(1, 90)},
			outcome{domain.StatusCompleted, 100, "90", 2, domain.CompletionSuccess, "Passed with 90 on attempt 2 of 2."}},
		{"none left", exam, []domain.Activity{ended(1, 50), ended(2, 60)},
			outcome{domain.StatusFailed, 0, "60", 2, domain.CompletionFailure, "Failed with 60 on attempt 2 of 2."}},
		{"after the failure nothing counts", exam, []domain.Activity{ended(1, 50), ended(2, 60), ended(3, 100), progress(4, 80)},
			outcome{domain.StatusFailed, 0, "60", 2, domain.CompletionFailure, "Failed with 60 on attempt 2 of 2."}},
		{"after the success nothing counts", exam, []domain.Activity{ended(1, 90), ended(2, 10)},
			outcome{domain.StatusCompleted, 100, "90", 1, domain.CompletionSuccess, "Passed with 90 on attempt 1 of 2."}},
		{"late news of a first attempt", exam, []domain.Activity{started(0), ended(5, 50), progress(3, 70), started(0)},
			outcome{domain.StatusNeedsRetry, 0, "50", 1, domain.CompletionFailure, "Not passed yet: 50 on attempt 1 of 2, 80 is needed."}},
		{"late news during the second", exam, []domain.Activity{ended(5, 50), started(7), progress(6, 70), ended(4, 100)},
			outcome{domain.StatusStarted, 0, "50", 2, domain.CompletionFailure, "Not passed yet: 50 on attempt 1 of 2, 80 is needed."}},
		{"without a limit there is always another", domain.CourseRule{IsAssessment: true, PassMark: 80_00},
			[]domain.Activity{ended(1, 1), ended(2, 2), ended(3, 3), ended(4, 4)},
			outcome{domain.StatusNeedsRetry, 0, "4", 4, domain.CompletionFailure, "Not passed yet: 4 on attempt 4, 80 is needed."}},
		{"a pass mark of 0", domain.CourseRule{IsAssessment: true}, []domain.Activity{ended(1, 0)},
			outcome{domain.StatusCompleted, 100, "0", 1, domain.CompletionSuccess, "Passed with 0 on attempt 1."}},

		{"a course at 100 is scored 100", course, []domain.Activity{progress(0, 40), progress(1, 100)},
			outcome{domain.StatusCompleted, 100, "100", 1, domain.CompletionSuccess, "Completed with 100."}},
		{"or what it reports", course, []domain.Activity{scored(progress(0, 100), 55)},
			outcome{domain.StatusCompleted, 100, "55", 1, domain.CompletionSuccess, "Completed with 55."}},
		{"or has reported", course, []domain.Activity{ended(0, 70), progress(1, 100)},
			outcome{domain.StatusCompleted, 100, "70", 1, domain.CompletionSuccess, "Completed with 70."}},
		{"a score alone completes no course", course, []domain.Activity{ended(0, 10), ended(1, 20)},
			outcome{domain.StatusStarted, 0, "20", 1, domain.CompletionInProgress, "In progress, 0 percent complete."}},
		{"99.99 is not 100", course, []domain.Activity{progress(0, 99.99)},
			outcome{domain.StatusStarted, 99.99, "", 1, domain.CompletionInProgress, "In progress, 99.99 percent complete."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := domain.Assignment{Rule: c.rule, Progress: domain.Progress{Status: domain.StatusAssigned}}
			for _, act := range c.acts {
				a.Apply(c.rule, act)
			}
			if diff := cmp.Diff(c.want, look(a), cmp.AllowUnexported(outcome{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTimesOfAStory(t *testing.T) {
	t.Parallel()
	p := domain.Progress{Status: domain.StatusAssigned}
	for _, act := range []domain.Activity{started(3), progress(5, 20), started(1), ended(6, 10), started(8), ended(9, 20)} {
		p.Apply(exam, act)
	}
	want := domain.Progress{
		Status: domain.StatusFailed, Percent: 0, Score: ptr(domain.Points(20_00)), Attempts: 2,
		StartedAt: ptr(at(1)), AttemptAt: ptr(at(8)), EndedAt: ptr(at(9)), CompletedAt: ptr(at(9)), LastActivityAt: ptr(at(9)),
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

func TestGrant(t *testing.T) {
	t.Parallel()
	a := domain.Assignment{Rule: exam, Progress: domain.Progress{Status: domain.StatusAssigned}}
	if code := domain.CodeOf(a.Grant()); code != domain.CodeConflict {
		t.Errorf("granting before a failure: %s", code)
	}
	a.Apply(exam, ended(1, 10))
	a.Apply(exam, ended(2, 20))
	if err := a.Grant(); err != nil {
		t.Fatal(err)
	}
	want := outcome{domain.StatusNeedsRetry, 0, "20", 2, domain.CompletionFailure, "Not passed yet: 20 on attempt 2 of 3, 80 is needed."}
	if diff := cmp.Diff(want, look(a), cmp.AllowUnexported(outcome{})); diff != "" {
		t.Error(diff)
	}
	if a.CompletedAt != nil {
		t.Errorf("completed at %v with an attempt left", a.CompletedAt)
	}
	a.Apply(exam, ended(3, 30))
	if a.Status != domain.StatusFailed || a.Attempts != 3 {
		t.Errorf("after the granted attempt: %s on attempt %d", a.Status, a.Attempts)
	}
	if err := a.Grant(); err != nil {
		t.Error("granting twice:", err)
	}
}

// The platform may turn an assessment into a course whose completion decides. What had
// failed before does not become "in progress" by that.
func TestFailedStaysAFailureWhenTheCourseChanges(t *testing.T) {
	t.Parallel()
	a := domain.Assignment{Rule: exam, Progress: domain.Progress{Status: domain.StatusAssigned}}
	for _, act := range []domain.Activity{ended(1, 50), ended(2, 60)} {
		a.Apply(a.Rule, act)
	}
	a.Rule = course
	want := outcome{domain.StatusFailed, 0, "60", 2, domain.CompletionFailure, "Failed with 60 on attempt 2 of 3."}
	if diff := cmp.Diff(want, look(a), cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
