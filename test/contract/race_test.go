package contract_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

// runConcurrently calls send n times concurrently and counts the outcomes.
func runConcurrently(n int, send func(i int) string) map[string]int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	start, seen := make(chan struct{}), map[string]int{}
	for i := range n {
		wg.Go(func() {
			<-start
			what := send(i)
			mu.Lock()
			defer mu.Unlock()
			seen[what]++
		})
	}
	close(start)
	wg.Wait()
	return seen
}

func wantOutcomes(t *testing.T, what string, got, want map[string]int) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// races checks that concurrent requests have one winner.
func races(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.subscribe(t)
	provision := func(externalID, email string) string {
		a := f.send(t, "POST", "/employees/provision", fmt.Sprintf(`{"externalId":%q,"email":%q,"name":"R"}`, externalID, f.email(email)))
		return a.str("status") + a.code()
	}
	got := runConcurrently(32, func(int) string { return provision("R1", "r1") })
	wantOutcomes(t, "32 provisions of one id", got, map[string]int{"created": 1, "found": 31})
	f.webhook.wantEvents(t, "32 provisions of one id", "employee.joined")
	got = runConcurrently(16, func(i int) string { return provision(fmt.Sprint("S", i), "s") })
	wantOutcomes(t, "16 provisions of one email", got, map[string]int{"created": 1, "email_taken": 15})
	f.webhook.wantEvents(t, "16 provisions of one email", "employee.joined")
	got = runConcurrently(16, func(i int) string { return provision("T", fmt.Sprint("t", i)) })
	wantOutcomes(t, "16 provisions of one id with different emails", got, map[string]int{"created": 1, "external_id_taken": 15})
	f.webhook.wantEvents(t, "16 provisions of one id with different emails", "employee.joined")

	got = runConcurrently(16, func(int) string {
		return f.send(t, "POST", "/assignments", fmt.Sprintf(`{"employeeExternalId":"R1","courseId":%d,"externalId":"A"}`, f.course)).str("id")
	})
	if len(got) != 1 {
		t.Errorf("16 assignments of one id made %v", got)
	}
	f.webhook.wantEvents(t, "16 assignments of one id", "assignment.created")
	got = runConcurrently(8, func(i int) string {
		items := make([]string, 40)
		for j := range items {
			items[j] = fmt.Sprintf(`{"employeeExternalId":"R1","courseId":%d,"externalId":"B%d"}`, f.course, j)
		}
		if i%2 == 1 {
			slices.Reverse(items)
		}
		a := f.send(t, "POST", "/assignments/bulk", `{"items":[`+strings.Join(items, ",")+`]}`)
		good := 0
		for _, r := range a.list("results") {
			if apicheck.Lookup(r, "ok") == true {
				good++
			}
		}
		return fmt.Sprint(good, " good")
	})
	wantOutcomes(t, "8 bulks over the same ids", got, map[string]int{"40 good": 8})
	f.sendRow(t, f.caller, row{do: "GET /assignments?limit=1", has: `{"pagination":{"total":41}}`, events: strings.Repeat("assignment.created ", 40)})

	got = runConcurrently(16, func(i int) string {
		if i%2 == 0 {
			a := f.send(t, "PATCH", "/employees/R1", `{"active":false}`)
			return a.str("status") + a.code()
		}
		a := f.send(t, "POST", "/assignments", fmt.Sprintf(`{"employeeExternalId":"R1","courseId":%d,"externalId":"C%d"}`, f.course, i))
		if a.status == 404 {
			return a.code()
		}
		return "assigned"
	})
	if got["offboarded"] != 8 || got["assigned"]+got["employee_offboarded"] != 8 {
		t.Errorf("offboarding against assigning: %v", got)
	}
	f.sendRow(t, f.caller, row{name: "nothing is left of it", do: "GET /assignments", has: `{"items":[]}`,
		events: strings.Repeat("assignment.created ", got["assigned"]) + " employee.removed"})
	got = runConcurrently(8, func(i int) string {
		if i == 0 {
			return f.send(t, "DELETE", "/employees/T", "").str("status")
		}
		a := f.send(t, "PATCH", "/employees/T", fmt.Sprintf(`{"name":"T%d","tags":["t"]}`, i))
		if a.status == 200 {
			return "patched"
		}
		return a.code()
	})
	if got["deleted"] != 1 || got["patched"]+got["employee_not_found"] != 7 {
		t.Errorf("deleting against patching: %v", got)
	}
	f.sendRow(t, f.caller, row{do: "GET /employees/T", status: 404, code: "employee_not_found", events: "employee.removed"})
}

// activityRaces reports the same activities concurrently.
func activityRaces(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "R")
	var ids []string
	for i := range 8 {
		ids = append(ids, f.assign(t, "R", f.exam, fmt.Sprint("R", i)))
	}
	f.subscribe(t)
	report := func(items ...string) string {
		a := s.platformCaller().send(t, "POST", "/activities", `{"items":[`+strings.Join(items, ",")+`]}`)
		return fmt.Sprint(a.status, " ", strings.Count(a.text, `"ok":true`))
	}
	item := func(id, assignment, more string) string {
		return fmt.Sprintf(`{"id":"race-%d-%s","assignmentId":%s,%s}`, f.number, id, assignment, more)
	}
	got := runConcurrently(8, func(int) string { return report(item("one", ids[0], `"type":"attempt_finished","score":10`)) })
	wantOutcomes(t, "one activity", got, map[string]int{"200 1": 8})
	wantData(t, "one activity", `{"status":"needs_retry","numberOfAttempts":1}`, f.send(t, "GET", "/assignments/"+ids[0], "").body["data"])

	got = runConcurrently(8, func(i int) string { return report(item("two", ids[i], `"type":"started"`)) })
	wantOutcomes(t, "one id about different assignments", got, map[string]int{"200 1": 8})
	started := 0
	for _, id := range ids {
		if f.send(t, "GET", "/assignments/"+id, "").str("status") == "started" {
			started++
		}
	}
	if started != 1 {
		t.Errorf("one id about different assignments: %d were started", started)
	}

	got = runConcurrently(8, func(i int) string {
		items := make([]string, len(ids))
		for j, id := range ids {
			items[j] = item(fmt.Sprint("three-", j), id, `"type":"attempt_finished","score":99`)
		}
		if i%2 == 1 {
			slices.Reverse(items)
		}
		return report(items...)
	})
	wantOutcomes(t, "the same activities in opposite orders", got, map[string]int{"200 8": 8})
	f.sendRow(t, f.caller, row{do: "GET /assignments?status=completed", has: `{"pagination":{"total":8}}`, events: strings.Repeat("assignment.completed ", 8)})
}
