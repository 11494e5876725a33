package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/app"
)

// activityStep is an activity and the state that the assignment must have after it.
type activityStep struct {
	kind, more string // the type and the JSON that follows it
	at         int    // minutes past nine
	state      string // of the assignment
	results    string // of its results
}

// minuteOf returns a date-time so many minutes after nine on one day.
func minuteOf(minutes int) string { return fmt.Sprintf("2026-03-02T09:%02d:00+00:00", minutes) }

// reportActivities reports activities one by one and checks the state after each.
func (f *company) reportActivities(t *testing.T, name string, course int64, acts []activityStep) {
	t.Helper()
	f.vars["a"] = f.assign(t, "E1", course, name)
	fresh := f.send(t, "GET", "/assignments/"+f.vars["a"], "")
	if fresh.str("lastActivityAt") != fresh.str("assignedAt") {
		t.Errorf("%s: nothing happened yet, and the last activity was at %s", name, fresh.str("lastActivityAt"))
	}
	for i, c := range acts {
		what := fmt.Sprintf("%s, step %d", name, i+1)
		if c.kind != "" {
			more := fmt.Sprintf(`"occurredAt":%q`, minuteOf(c.at))
			if c.more != "" {
				more += "," + c.more
			}
			done := f.reportActivity(t, f.vars["a"], c.kind, more)
			wantData(t, what, fmt.Sprintf(`{"results":[{"index":0,"ok":true,"status":%q}]}`, f.send(t, "GET", "/assignments/"+f.vars["a"], "").str("status")), done.body["data"])
		}
		for m := range 60 {
			c.state = strings.ReplaceAll(c.state, fmt.Sprintf("@%02d", m), minuteOf(m))
			c.results = strings.ReplaceAll(c.results, fmt.Sprintf("@%02d", m), minuteOf(m))
		}
		byID := f.sendRow(t, f.caller, row{name: what, do: "GET /assignments/<a>", has: c.state})
		f.vars["name"] = percentEncode(name)
		f.sendRow(t, f.caller, row{name: what, do: "GET /assignments/by-external-id/<name>", has: c.state})
		for _, of := range []string{"/assignments/" + f.vars["a"], "/assignments/by-external-id/" + percentEncode(name)} {
			progress, results := f.send(t, "GET", of+"/progress", ""), f.send(t, "GET", of+"/results", "")
			for _, key := range []string{"id", "completionPercent", "lastActivityAt", "status", "statusCategory"} {
				if progress.str(key) != byID.str(key) {
					t.Errorf("%s: progress has %s %q, not %q", what, key, progress.str(key), byID.str(key))
				}
			}
			for _, key := range []string{"id", "score", "numberOfAttempts", "status", "statusCategory"} {
				if results.str(key) != byID.str(key) {
					t.Errorf("%s: results have %s %q, not %q", what, key, results.str(key), byID.str(key))
				}
			}
			if results.get("resultSummary.finalScore") != results.get("score") {
				t.Errorf("%s: the final score is not the score: %s", what, results.text)
			}
			wantData(t, what, c.results, results.body["data"])
		}
	}
}

// learning takes assignments through every status.
func learning(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	const none = `{"score":null,"completedAt":null,"resultSummary":{"completionState":"in_progress","isPassed":false,"finalScore":null}}`
	f.reportActivities(t, "a course", f.course, []activityStep{
		{state: `{"status":"assigned","statusCategory":"not_started","completionPercent":0,"score":null,"numberOfAttempts":0,"startedAt":null,"completedAt":null}`,
			results: `{"score":null,"completedAt":null,"resultSummary":{"completionState":"not_started","isPassed":false,"finalScore":null}}`},
		{kind: "started", at: 10, state: `{"status":"started","statusCategory":"in_progress","completionPercent":0,"numberOfAttempts":1,"startedAt":"@10","completedAt":null,"lastActivityAt":"@10"}`, results: none},
		{kind: "progress", more: `"completionPercent":33.33`, at: 20, state: `{"status":"started","completionPercent":33.33,"startedAt":"@10","lastActivityAt":"@20"}`, results: none},
		{kind: "progress", more: `"completionPercent":20`, at: 30, state: `{"completionPercent":33.33,"lastActivityAt":"@30"}`, results: none},
		{kind: "progress", more: `"completionPercent":40`, at: 25, state: `{"completionPercent":40,"lastActivityAt":"@30","numberOfAttempts":1}`, results: none},
		{kind: "started", at: 31, state: `{"status":"started","completionPercent":40,"numberOfAttempts":1,"startedAt":"@10","lastActivityAt":"@31"}`, results: none},
		{kind: "progress", more: `"completionPercent":100`, at: 40, state: `{"status":"completed","statusCategory":"completed","isOverdue":false,"completionPercent":100,"score":100,"numberOfAttempts":1,"startedAt":"@10","completedAt":"@40","lastActivityAt":"@40"}`,
			results: `{"score":100,"completedAt":"@40","resultSummary":{"completionState":"success","isPassed":true,"finalScore":100}}`},
		{kind: "progress", more: `"completionPercent":5`, at: 50, state: `{"status":"completed","completionPercent":100,"lastActivityAt":"@40"}`, results: `{"completedAt":"@40"}`},
		{kind: "attempt_finished", more: `"score":1`, at: 51, state: `{"status":"completed","score":100,"numberOfAttempts":1,"completedAt":"@40"}`, results: `{"score":100}`},
	})
	f.reportActivities(t, "a course at once", f.course, []activityStep{
		{kind: "progress", more: `"completionPercent":100`, at: 5, state: `{"status":"completed","score":100,"numberOfAttempts":1,"startedAt":"@05","completedAt":"@05"}`,
			results: `{"resultSummary":{"completionState":"success","isPassed":true}}`},
	})
	f.reportActivities(t, "a course with a score", f.course, []activityStep{
		{kind: "attempt_finished", more: `"score":88.5,"completionPercent":100`, at: 5, state: `{"status":"completed","score":88.5,"numberOfAttempts":1,"completionPercent":100}`,
			results: `{"score":88.5,"completedAt":"@05","resultSummary":{"completionState":"success","isPassed":true,"finalScore":88.5}}`},
	})
}

// exams passes and fails assessments.
func exams(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	f.reportActivities(t, "passed at once", f.exam, []activityStep{
		{kind: "attempt_finished", more: `"score":92`, at: 1, state: `{"status":"completed","statusCategory":"completed","score":92,"numberOfAttempts":1,"startedAt":"@01","completedAt":"@01","lastActivityAt":"@01"}`,
			results: `{"score":92,"completedAt":"@01","resultSummary":{"completionState":"success","isPassed":true,"finalScore":92,"summary":"Passed with 92 on attempt 1 of 2."}}`},
	})
	f.reportActivities(t, "passed at second try", f.exam, []activityStep{
		{kind: "started", at: 1, state: `{"status":"started","numberOfAttempts":1}`, results: `{"resultSummary":{"completionState":"in_progress"}}`},
		{kind: "progress", more: `"completionPercent":100`, at: 2, state: `{"status":"started","completionPercent":100,"score":null}`, results: `{"completedAt":null}`},
		{kind: "attempt_finished", more: `"score":69.99`, at: 3, state: `{"status":"needs_retry","statusCategory":"in_progress","score":69.99,"numberOfAttempts":1,"completedAt":null,"lastActivityAt":"@03"}`,
			results: `{"score":69.99,"completedAt":"@03","resultSummary":{"completionState":"failure","isPassed":false,"finalScore":69.99}}`},
		{kind: "progress", more: `"completionPercent":10`, at: 2, state: `{"status":"needs_retry","numberOfAttempts":1,"lastActivityAt":"@03"}`, results: `{"resultSummary":{"completionState":"failure"}}`},
		{kind: "started", at: 4, state: `{"status":"started","statusCategory":"in_progress","completionPercent":0,"score":69.99,"numberOfAttempts":2,"startedAt":"@01","completedAt":null}`,
			results: `{"score":69.99,"numberOfAttempts":2,"completedAt":"@03","resultSummary":{"completionState":"failure","isPassed":false}}`},
		{kind: "progress", more: `"completionPercent":50`, at: 5, state: `{"status":"started","completionPercent":50,"numberOfAttempts":2}`, results: `{"score":69.99}`},
		{kind: "attempt_finished", more: `"score":70`, at: 6, state: `{"status":"completed","score":70,"numberOfAttempts":2,"completedAt":"@06"}`,
			results: `{"score":70,"completedAt":"@06","resultSummary":{"completionState":"success","isPassed":true,"summary":"Passed with 70 on attempt 2 of 2."}}`},
		{kind: "attempt_finished", more: `"score":10`, at: 7, state: `{"status":"completed","score":70,"numberOfAttempts":2,"lastActivityAt":"@06"}`, results: `{"score":70}`},
	})
	f.reportActivities(t, "failed", f.exam, []activityStep{
		{kind: "attempt_finished", more: `"score":10`, at: 1, state: `{"status":"needs_retry","numberOfAttempts":1}`, results: `{"resultSummary":{"completionState":"failure"}}`},
		{kind: "attempt_finished", more: `"score":0`, at: 2, state: `{"status":"failed","statusCategory":"in_progress","isOverdue":false,"score":0,"numberOfAttempts":2,"completedAt":"@02"}`,
			results: `{"score":0,"completedAt":"@02","status":"failed","resultSummary":{"completionState":"failure","isPassed":false,"finalScore":0}}`},
		{kind: "started", at: 3, state: `{"status":"failed","numberOfAttempts":2,"lastActivityAt":"@02"}`, results: `{"score":0}`},
		{kind: "attempt_finished", more: `"score":100`, at: 4, state: `{"status":"failed","score":0,"numberOfAttempts":2}`, results: `{"score":0}`},
	})
	endless := f.addCourse(t, app.CourseInput{Name: "Endless", Assessment: true, PassMark: 100, Attempts: 0})
	var acts []activityStep
	for i := range 6 {
		acts = append(acts, activityStep{kind: "attempt_finished", more: `"score":99.99`, at: i + 1,
			state: fmt.Sprintf(`{"status":"needs_retry","score":99.99,"numberOfAttempts":%d}`, i+1), results: `{"resultSummary":{"isPassed":false}}`})
	}
	f.reportActivities(t, "without end", endless, append(acts, activityStep{kind: "attempt_finished", more: `"score":100`, at: 10,
		state: `{"status":"completed","score":100,"numberOfAttempts":7}`, results: `{"resultSummary":{"isPassed":true}}`}))
}
