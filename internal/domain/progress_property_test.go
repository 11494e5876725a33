package domain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// learner is an assignment under test, with every activity it has seen.
type learner struct {
	rule  domain.CourseRule
	p     domain.Progress
	acts  []domain.Activity
	epoch time.Time
}

func drawLearner(t *rapid.T) *learner {
	return &learner{
		rule: domain.CourseRule{
			IsAssessment:    rapid.Bool().Draw(t, "assessment"),
			PassMark:        domain.Points(rapid.Int64Range(0, 100).Draw(t, "pass mark") * 100),
			AllowedAttempts: rapid.IntRange(0, 3).Draw(t, "allowed"),
		},
		p:     domain.Progress{Status: domain.StatusAssigned},
		epoch: time.Date(2026, 11, 14, 9, 0, 0, 0, time.UTC),
	}
}

// draw returns any activity: few instants, so that late, equal and reordered ones are common.
func (l *learner) draw(t *rapid.T) domain.Activity {
	a := domain.Activity{
		ID:           fmt.Sprint(len(l.acts)),
		AssignmentID: 1,
		OccurredAt:   l.epoch.Add(time.Duration(rapid.IntRange(0, 12).Draw(t, "minute")) * time.Minute),
		Type: rapid.SampledFrom([]domain.ActivityType{
			domain.ActivityStarted, domain.ActivityProgress, domain.ActivityAttemptFinished,
		}).Draw(t, "type"),
	}
	points := rapid.Custom(func(t *rapid.T) domain.Points { return domain.Points(rapid.Int64Range(0, 10).Draw(t, "tenth") * 10_00) })
	if a.Type == domain.ActivityProgress || rapid.Bool().Draw(t, "with percent") {
		percent := points.Draw(t, "percent")
		a.Percent = &percent
	}
	if a.Type == domain.ActivityAttemptFinished || rapid.Bool().Draw(t, "with score") {
		score := points.Draw(t, "score")
		a.Score = &score
	}
	return a
}

func (l *learner) apply(t *rapid.T, a domain.Activity) {
	before := l.p
	changed := l.p.Apply(l.rule, a)
	if same := cmp.Equal(before, l.p); same == changed {
		t.Fatalf("Apply said %v, and the change is: %s", changed, cmp.Diff(before, l.p))
	}
	checkMove(t, l.rule, before, l.p)
	checkState(t, l.rule, l.p)
	if before.EndedAt != nil && l.rule.IsAssessment && a.OccurredAt.Before(*before.EndedAt) && changed {
		t.Fatalf("news of an attempt that is over changed: %s", cmp.Diff(before, l.p))
	}
	l.again(t, a)
}

// again holds that an activity told twice equals once. Only the end of an attempt
// can't be told from the end of the next one in the same millisecond: ids do that.
func (l *learner) again(t *rapid.T, a domain.Activity) {
	if l.p.Status == domain.StatusNeedsRetry && a.Type == domain.ActivityAttemptFinished {
		return
	}
	twice := l.p
	if twice.Apply(l.rule, a) {
		t.Fatalf("%s told twice changed: %s", a.Type, cmp.Diff(l.p, twice))
	}
}

// reach holds where one activity may lead, the steps it implies included.
var reach = map[domain.Status][]domain.Status{
	domain.StatusAssigned:   {domain.StatusStarted, domain.StatusCompleted, domain.StatusNeedsRetry, domain.StatusFailed},
	domain.StatusStarted:    {domain.StatusStarted, domain.StatusCompleted, domain.StatusNeedsRetry, domain.StatusFailed},
	domain.StatusNeedsRetry: {domain.StatusNeedsRetry, domain.StatusStarted, domain.StatusCompleted, domain.StatusFailed},
	domain.StatusCompleted:  {domain.StatusCompleted},
	domain.StatusFailed:     {domain.StatusFailed},
}

func checkMove(t *rapid.T, rule domain.CourseRule, from, to domain.Progress) {
	allowed := false
	for _, s := range reach[from.Status] {
		allowed = allowed || s == to.Status
	}
	switch begun := to.Attempts - from.Attempts; {
	case !allowed:
		t.Fatalf("moved from %s to %s", from.Status, to.Status)
	case begun != 0 && begun != 1:
		t.Fatalf("%d attempts became %d", from.Attempts, to.Attempts)
	case begun == 0 && to.Percent < from.Percent:
		t.Fatalf("within attempt %d the percentage fell from %s to %s", to.Attempts, from.Percent, to.Percent)
	case !rule.IsAssessment && to.Percent < from.Percent:
		t.Fatalf("the percentage of a course fell from %s to %s", from.Percent, to.Percent)
	case finished(from.Status) && !cmp.Equal(from, to):
		t.Fatalf("activity after the end changed: %s", cmp.Diff(from, to))
	}
}

func finished(s domain.Status) bool { return s == domain.StatusCompleted || s == domain.StatusFailed }

func checkState(t *rapid.T, rule domain.CourseRule, p domain.Progress) {
	for broken, is := range map[string]bool{
		"more attempts than allowed and granted": rule.IsAssessment && rule.AllowedAttempts > 0 &&
			p.Attempts > rule.AllowedAttempts+p.GrantedAttempts,
		"a course without a pass mark failed":     !rule.IsAssessment && (p.Status == domain.StatusFailed || p.Status == domain.StatusNeedsRetry),
		"a course was begun twice":                !rule.IsAssessment && p.Attempts > 1,
		"passed below the mark":                   rule.IsAssessment && p.Passed() && *p.Score < rule.PassMark,
		"completed below 100 percent":             p.Passed() && p.Percent != domain.FullPoints,
		"reached 100 percent without completing":  !rule.IsAssessment && p.Percent == domain.FullPoints && !p.Passed(),
		"completedAt goes with a finished status": (p.CompletedAt != nil) != finished(p.Status),
		"a score goes with an ended attempt":      (p.Score != nil) != (p.EndedAt != nil),
		"startedAt goes with attempts":            (p.StartedAt != nil) != (p.Attempts > 0),
		"assigned goes with no attempt":           (p.Status == domain.StatusAssigned) != (p.Attempts == 0),
		"finished at another time than the end":   p.CompletedAt != nil && !p.CompletedAt.Equal(*p.EndedAt),
		"active before the start":                 p.StartedAt != nil && p.LastActivityAt.Before(*p.StartedAt),
		"an attempt before the start":             p.AttemptAt != nil && p.AttemptAt.Before(*p.StartedAt),
		"an attempt ended before it began":        p.EndedAt != nil && p.Status != domain.StatusStarted && p.EndedAt.Before(*p.AttemptAt),
	} {
		if is {
			t.Fatalf("%s: %+v", broken, p)
		}
	}
	a := domain.Assignment{Rule: rule, Progress: p}
	if a.Summary() == "" || a.Completion() == "" {
		t.Fatalf("no summary of %+v", p)
	}
}

func TestStatusMachine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := drawLearner(t)
		t.Repeat(map[string]func(*rapid.T){
			"activity": func(t *rapid.T) {
				a := l.draw(t)
				l.acts = append(l.acts, a)
				l.apply(t, a)
			},
			"repeated": func(t *rapid.T) {
				if len(l.acts) > 0 {
					l.apply(t, rapid.SampledFrom(l.acts).Draw(t, "old"))
				}
			},
			"granted": func(t *rapid.T) {
				before := l.p
				err := l.p.Grant()
				if (err == nil) != (before.Status == domain.StatusFailed) {
					t.Fatalf("granting another attempt when %s: %v", before.Status, err)
				}
				if err == nil && (l.p.Status != domain.StatusNeedsRetry || l.p.Attempts != before.Attempts) {
					t.Fatalf("granted: %s", cmp.Diff(before, l.p))
				}
				checkState(t, l.rule, l.p)
			},
		})
	})
}

// The end of a story does not depend on the order in which its first attempt is
// told, as long as the end comes last.
func TestOrderWithinAnAttempt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := drawLearner(t)
		l.rule.IsAssessment = true
		for range rapid.IntRange(1, 6).Draw(t, "activities") {
			a := l.draw(t)
			if a.Type != domain.ActivityAttemptFinished {
				l.acts = append(l.acts, a)
			}
		}
		one, other := l.p, l.p
		for _, a := range l.acts {
			one.Apply(l.rule, a)
		}
		if len(l.acts) > 0 {
			for _, a := range rapid.Permutation(l.acts).Draw(t, "order") {
				other.Apply(l.rule, a)
			}
		}
		if diff := cmp.Diff(one, other); diff != "" {
			t.Fatalf("another order, another outcome: %s", diff)
		}
	})
}
