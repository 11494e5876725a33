package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

const activityPath = "POST /activities"

// activity reports valid and invalid items.
func activity(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	f.vars["n"] = fmt.Sprint("act", f.number)
	for _, name := range []string{"a", "b", "revoked"} {
		f.vars[name] = f.assign(t, "E1", f.exam, name)
	}
	f.send(t, "DELETE", "/assignments/"+f.vars["revoked"], "")
	f.subscribe(t)
	platform := s.platformCaller()
	bad := func(item string) row {
		return row{name: item, do: activityPath, body: `{"items":[` + item + `,{"id":"<n>-good","assignmentId":<b>,"type":"started"}]}`,
			has: `{"results":[{"index":0,"ok":false,"code":"invalid_request"},{"index":1,"ok":true,"status":"started"}]}`}
	}
	for _, item := range []string{
		`7`, `null`, `"x"`, `[]`, `{}`, `true`,
		`{"assignmentId":<a>,"type":"started"}`, `{"id":"x","type":"started"}`, `{"id":"x","assignmentId":<a>}`,
		`{"id":"","assignmentId":<a>,"type":"started"}`, `{"id":7,"assignmentId":<a>,"type":"started"}`, `{"id":null,"assignmentId":<a>,"type":"started"}`,
		`{"id":` + quote(wideText(256)) + `,"assignmentId":<a>,"type":"started"}`, `{"id":"a\u0000","assignmentId":<a>,"type":"started"}`,
		`{"id":"x","assignmentId":"<a>","type":"started"}`, `{"id":"x","assignmentId":1.5,"type":"started"}`, `{"id":"x","assignmentId":1e400,"type":"started"}`,
		`{"id":"x","assignmentId":<a>,"type":"finished"}`, `{"id":"x","assignmentId":<a>,"type":"Started"}`, `{"id":"x","assignmentId":<a>,"type":7}`, `{"id":"x","assignmentId":<a>,"type":""}`,
		`{"id":"x","assignmentId":<a>,"type":"progress"}`, `{"id":"x","assignmentId":<a>,"type":"progress","completionPercent":null}`,
		`{"id":"x","assignmentId":<a>,"type":"progress","completionPercent":"50"}`, `{"id":"x","assignmentId":<a>,"type":"progress","completionPercent":100.01}`,
		`{"id":"x","assignmentId":<a>,"type":"progress","completionPercent":-0.01}`, `{"id":"x","assignmentId":<a>,"type":"progress","completionPercent":33.333}`,
		`{"id":"x","assignmentId":<a>,"type":"progress","completionPercent":1e400}`, `{"id":"x","assignmentId":<a>,"type":"progress","score":50}`,
		`{"id":"x","assignmentId":<a>,"type":"attempt_finished"}`, `{"id":"x","assignmentId":<a>,"type":"attempt_finished","completionPercent":100}`,
		`{"id":"x","assignmentId":<a>,"type":"attempt_finished","score":101}`, `{"id":"x","assignmentId":<a>,"type":"attempt_finished","score":"90"}`,
		`{"id":"x","assignmentId":<a>,"type":"attempt_finished","score":-1}`, `{"id":"x","assignmentId":<a>,"type":"attempt_finished","score":true}`,
		`{"id":"x","assignmentId":<a>,"type":"started","occurredAt":"2026-03-02"}`, `{"id":"x","assignmentId":<a>,"type":"started","occurredAt":"2026-03-02T09:00:00"}`,
		`{"id":"x","assignmentId":<a>,"type":"started","occurredAt":1700000000}`,
	} {
		f.sendRow(t, platform, bad(item))
	}
	f.sendRow(t, f.caller, row{name: "bad items did nothing", do: "GET /assignments/<a>", has: `{"status":"assigned","numberOfAttempts":0}`})
	for _, r := range []row{
		{name: "none", body: `{"items":[]}`, has: `{"results":[]}`},
		{name: "unknown and revoked", body: `{"items":[{"id":"<n>1","assignmentId":999999999,"type":"started"},{"id":"<n>2","assignmentId":<revoked>,"type":"started"},{"id":"<n>3","assignmentId":9223372036854775807,"type":"started"}]}`,
			has: `{"results":[{"index":0,"ok":false,"code":"assignment_not_found"},{"index":1,"ok":false,"code":"assignment_revoked"},{"index":2,"ok":false,"code":"assignment_not_found"}]}`},
		{name: "in the order given", body: `{"items":[{"id":"<n>10","assignmentId":<a>,"type":"started"},{"id":"<n>11","assignmentId":<b>,"type":"progress","completionPercent":10},
			{"id":"<n>12","assignmentId":<a>,"type":"attempt_finished","score":10,"extra":1},{"id":"<n>13","assignmentId":<a>,"type":"started"},{"id":"<n>10","assignmentId":<a>,"type":"started"}]}`,
			has: `{"results":[{"status":"started"},{"status":"started"},{"status":"needs_retry"},{"status":"started"},{"index":4,"ok":true,"status":"started"}]}`},
		{name: "again", body: `{"items":[{"id":"<n>12","assignmentId":<a>,"type":"attempt_finished","score":10},{"id":"<n>12","assignmentId":<a>,"type":"attempt_finished","score":99}]}`,
			has: `{"results":[{"ok":true,"status":"started"},{"ok":true,"status":"started"}]}`},
		{name: "the same id about another assignment", body: `{"items":[{"id":"<n>12","assignmentId":<b>,"type":"attempt_finished","score":99}]}`, has: `{"results":[{"ok":true,"status":"started"}]}`},
		{name: "twice in one request", body: `{"items":[{"id":"<n>20","assignmentId":<a>,"type":"attempt_finished","score":10},{"id":"<n>20","assignmentId":<a>,"type":"attempt_finished","score":10}]}`,
			has: `{"results":[{"ok":true,"status":"failed"},{"ok":true,"status":"failed"}]}`, events: "assignment.failed"},
		{name: "on a finished one", body: `{"items":[{"id":"<n>21","assignmentId":<a>,"type":"attempt_finished","score":100}]}`, has: `{"results":[{"ok":true,"status":"failed"}]}`},
		{name: "passed", body: `{"items":[{"id":"<n>30","assignmentId":<b>,"type":"attempt_finished","score":70.00}]}`, has: `{"results":[{"ok":true,"status":"completed"}]}`, events: "assignment.completed"},
		{name: "no items", body: `{}`, status: 400, code: "invalid_request", fields: "items"},
		{name: "items that are none", body: `{"items":{"0":{}}}`, status: 400, code: "invalid_request", fields: "items"},
		{name: "1001", body: `{"items":[` + strings.Repeat("1,", 1000) + `1]}`, status: 400, code: "invalid_request", fields: "items", message: "1000"},
	} {
		r.do = activityPath
		f.sendRow(t, platform, r)
	}
	f.sendRow(t, f.caller, row{do: "GET /assignments/<a>", has: `{"status":"failed","numberOfAttempts":2,"score":10}`})
}

// manyActivities sends a thousand items.
func manyActivities(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	var ids, items []string
	for i := range 10 {
		ids = append(ids, f.assign(t, "E1", f.course, fmt.Sprint("M", i)))
	}
	for i := range 1000 {
		items = append(items, fmt.Sprintf(`{"id":"many-%d-%d","assignmentId":%s,"type":"progress","completionPercent":%.1f}`, f.number, i, ids[i%10], float64(i)/10))
	}
	for range 2 {
		a := s.platformCaller().send(t, "POST", "/activities", `{"items":[`+strings.Join(items, ",")+`]}`)
		if a.status != 200 || len(a.list("results")) != 1000 {
			t.Fatalf("%d with %d results", a.status, len(a.list("results")))
		}
		for i, r := range a.list("results") {
			if apicheck.Lookup(r, "ok") != true || fmt.Sprint(apicheck.Lookup(r, "index")) != fmt.Sprint(i) {
				t.Fatalf("item %d: %v", i, r)
			}
		}
		wantData(t, "progress", `{"completionPercent":99.9,"status":"started","numberOfAttempts":1}`, f.send(t, "GET", "/assignments/"+ids[9], "").body["data"])
	}
}
