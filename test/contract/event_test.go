package contract_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

// events causes every kind of event and compares its data with the API's answers.
func events(t *testing.T, s *suite) {
	f := s.newCompany(t)
	h := f.subscribe(t)
	f.vars["n"] = fmt.Sprint("ev", f.number)
	data := map[string]object{}
	// show notes the record as it is now under the kind of the event about it.
	show := func(kind, path string) {
		d := f.send(t, "GET", path, "").body["data"].(object)
		delete(d, "assignments")
		data[kind] = d
	}
	f.sendRows(t, []row{{do: provisionPath, body: `{"externalId":"E1","email":"<@ann>","name":"Ann <b>"}`, save: "ann", events: "employee.joined"}})
	show("employee.joined", "/employees/E1")
	f.sendRows(t, []row{{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A/1","isRequired":true}`, save: "a", events: "assignment.created"}})
	show("assignment.created", "/assignments/"+f.vars["a"])
	platform := s.platformCaller()
	f.sendRow(t, platform, row{name: "nothing to tell", do: activityPath, body: `{"items":[{"id":"<n>1","assignmentId":<a>,"type":"progress","completionPercent":50}]}`})
	f.sendRow(t, platform, row{do: activityPath, body: `{"items":[{"id":"<n>2","assignmentId":<a>,"type":"progress","completionPercent":100}]}`, events: "assignment.completed"})
	f.sendRow(t, platform, row{name: "again", do: activityPath, body: `{"items":[{"id":"<n>2","assignmentId":<a>,"type":"progress","completionPercent":100},{"id":"<n>3","assignmentId":<a>,"type":"progress","completionPercent":100}]}`})
	show("assignment.completed", "/assignments/"+f.vars["a"])
	f.sendRows(t, []row{
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<exam>,"externalId":"X"}`, save: "x", events: "assignment.created"},
		{name: "revoking sends no event", do: "DELETE /assignments/<a>"},
	})
	f.sendRow(t, platform, row{do: activityPath, body: `{"items":[{"id":"<n>4","assignmentId":<x>,"type":"attempt_finished","score":1}]}`})
	f.sendRow(t, platform, row{do: activityPath, body: `{"items":[{"id":"<n>5","assignmentId":<x>,"type":"attempt_finished","score":2}]}`, events: "assignment.failed"})
	show("assignment.failed", "/assignments/"+f.vars["x"])
	f.sendRows(t, []row{
		{name: "patching sends no event", do: "PATCH /employees/E1", body: `{"name":"Ann","tags":["x"]}`},
		{name: "offboarding sends one event", do: "PATCH /employees/E1", body: `{"active":false}`, events: "employee.removed"},
		{name: "refused", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<exam>,"externalId":"Y"}`, status: 404, code: "employee_offboarded"},
	})
	data["employee.removed"] = object{"id": data["employee.joined"]["id"], "externalId": "E1", "reason": "offboarded"}
	arrived := map[string]bool{}
	for range h.expected {
		d := h.nextDelivery(t)
		id, kind := d.header.Get("X-Service-Delivery"), d.event["event"].(string)
		if arrived[id] || !h.known[id] || kind != d.header.Get("X-Service-Event") || fmt.Sprint(d.event["companyId"]) != f.vars["company"] {
			t.Errorf("%s %s arrived, %s", kind, id, d.body)
		}
		arrived[id] = true
		if want := data[kind]; fmt.Sprint(apicheck.Lookup(d.event, "data", "id")) == fmt.Sprint(want["id"]) {
			wantEvent(t, kind, want, d.event)
			delete(data, kind)
		}
	}
	for kind := range data {
		t.Errorf("no %s arrived for its record", kind)
	}
}

func wantEvent(t *testing.T, kind string, want object, event object) {
	t.Helper()
	if diff := cmp.Diff(any(want), event["data"]); diff != "" {
		t.Errorf("%s: -read +sent:\n%s", kind, diff)
	}
	at, err := time.Parse(time.RFC3339, event["occurredAt"].(string))
	if err != nil || time.Since(at) > time.Minute || time.Until(at) > time.Minute {
		t.Errorf("%s occurred at %v", kind, event["occurredAt"])
	}
}

// overdue checks that a missed deadline is reported once, and not for completed ones.
func overdue(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	h := f.subscribe(t)
	due := time.Now().Add(1500 * time.Millisecond).UTC()
	soon := due.Format("2006-01-02T15:04:05.000Z")
	f.sendRows(t, []row{
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"late","deadline":"` + soon + `"}`, save: "late", has: `{"isOverdue":false,"statusCategory":"not_started"}`, events: "assignment.created"},
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"done","deadline":"` + soon + `"}`, save: "done", events: "assignment.created"},
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"gone","deadline":"` + soon + `"}`, save: "gone", events: "assignment.created"},
		{do: "DELETE /assignments/<gone>"},
		{name: "long past", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"past","deadline":"2020-01-01T00:00:00Z"}`, save: "past", has: `{"isOverdue":true}`, events: "assignment.created"},
	})
	f.reportActivity(t, f.vars["done"], "progress", `"completionPercent":100`)
	mark := f.send(t, "GET", "/assignments?updatedSince=2020-01-01T00:00:00Z", "").header.Get("X-Sync-Watermark")
	received := map[string]int{}
	var at time.Time
	for received[f.vars["late"]] == 0 || received[f.vars["past"]] == 0 {
		d := h.nextDelivery(t)
		if d.event["event"] != "assignment.overdue" {
			continue
		}
		id := fmt.Sprint(apicheck.Lookup(d.event, "data", "id"))
		received[id]++
		wantData(t, "overdue", `{"status":"assigned","statusCategory":"overdue","isOverdue":true}`, d.event["data"])
		if id == f.vars["late"] {
			at = time.Now()
		}
	}
	if at.Before(due) || at.Sub(due) > 5*time.Second {
		t.Errorf("due at %s, sent at %s", due, at)
	}
	if want := map[string]int{f.vars["late"]: 1, f.vars["past"]: 1}; !maps.Equal(received, want) {
		t.Errorf("got events %v, want %v", received, want)
	}
	changed := f.send(t, "GET", "/assignments?updatedSince="+percentEncode(mark), "").ids()
	if !slices.Contains(changed, f.vars["late"]) || slices.Contains(changed, f.vars["gone"]) {
		t.Errorf("changed since %s: %v", mark, changed)
	}
	f.reportActivity(t, f.vars["late"], "started", "")
	f.sendRow(t, f.caller, row{do: "GET /assignments/<late>", has: `{"status":"started","statusCategory":"overdue","isOverdue":true}`, events: "assignment.completed assignment.overdue assignment.overdue"})
}
