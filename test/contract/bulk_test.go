package contract_test

import (
	"fmt"
	"strings"
	"testing"
)

const bulkPath = "POST /assignments/bulk"

// bulk mixes valid items with invalid ones of every kind.
func bulk(t *testing.T, s *suite) {
	f, other := s.newCompany(t), s.newCompany(t)
	f.vars["theirs"] = other.vars["course"]
	f.provision(t, "E1")
	f.provision(t, "E2")
	f.provision(t, "E3")
	f.subscribe(t)
	f.sendRows(t, []row{
		{do: "PATCH /employees/E3", body: `{"active":false}`, events: "employee.removed"},
		{name: "none", do: bulkPath, body: `{"items":[]}`, has: `{"results":[]}`},
		{name: "good and bad", do: bulkPath, body: `{"unknown":1,"items":[
			{"employeeExternalId":"E1","courseId":<course>,"externalId":"B0","deadline":"2099-01-01T00:00:00Z","isRequired":true,"x":1},
			7, null, "text", [], true, {},
			{"employeeExternalId":"E1","courseId":<course>,"externalId":"B7","deadline":"tomorrow"},
			{"employeeExternalId":"E9","courseId":<course>,"externalId":"B8"},
			{"employeeExternalId":"E3","courseId":<course>,"externalId":"B9"},
			{"employeeExternalId":"E1","courseId":999999999,"externalId":"B10"},
			{"employeeExternalId":"E1","courseId":<theirs>,"externalId":"B11"},
			{"employeeExternalId":"E1","courseId":"<course>","externalId":"B12"},
			{"employeeExternalId":"E1","courseId":<course>,"externalId":".."},
			{"employeeExternalId":"E1","courseId":<course>,"externalId":"a\u0000b"},
			{"employeeExternalId":"E2","courseId":<exam>,"externalId":"B15","deadline":null},
			{"employeeExternalId":"E1","courseId":1e400,"externalId":"B16"}]}`,
			has: `{"results":[{"index":0,"ok":true,"status":"assigned"},
				{"index":1,"ok":false,"status":"error","code":"invalid_request"},{"index":2,"ok":false,"code":"invalid_request"},{"index":3,"ok":false,"code":"invalid_request"},
				{"index":4,"ok":false,"code":"invalid_request"},{"index":5,"ok":false,"code":"invalid_request"},{"index":6,"ok":false,"code":"invalid_request"},
				{"index":7,"ok":false,"code":"invalid_request"},{"index":8,"ok":false,"code":"employee_not_found"},{"index":9,"ok":false,"code":"employee_offboarded"},
				{"index":10,"ok":false,"code":"course_not_found"},{"index":11,"ok":false,"code":"wrong_company"},{"index":12,"ok":false,"code":"invalid_request"},
				{"index":13,"ok":false,"code":"invalid_request"},{"index":14,"ok":false,"code":"invalid_request"},{"index":15,"ok":true,"status":"assigned"},
				{"index":16,"ok":false,"code":"invalid_request"}]}`, events: "assignment.created assignment.created"},
		{name: "what came of it", do: "GET /assignments", has: `{"items":[{"externalId":"B0","isRequired":true,"deadline":"2099-01-01T00:00:00+00:00"},{"externalId":"B15","courseId":<exam>}]}`},
		{name: "twice in one request", do: bulkPath, body: `{"items":[
			{"employeeExternalId":"E1","courseId":<course>,"externalId":"T","isRequired":true},
			{"employeeExternalId":"E1","courseId":<course>,"externalId":"T"},
			{"employeeExternalId":"E1","courseId":<exam>,"externalId":"T"},
			{"employeeExternalId":"E1","courseId":<course>,"externalId":"T","isRequired":false},
			{"employeeExternalId":"E1","courseId":<course>,"externalId":"B0"},
			{"employeeExternalId":"E2","courseId":<course>,"externalId":"B0"}]}`,
			has: `{"results":[{"ok":true,"status":"assigned"},{"ok":true},{"ok":false,"status":"error","code":"idempotency_conflict"},
				{"ok":false,"code":"idempotency_conflict"},{"ok":true},{"ok":false,"code":"idempotency_conflict"}]}`, events: "assignment.created"},
		{name: "a bad one first leaves the id to the next", do: bulkPath, body: `{"items":[
			{"employeeExternalId":"E9","courseId":<course>,"externalId":"N"},{"employeeExternalId":"E1","courseId":<course>,"externalId":"N"}]}`,
			has: `{"results":[{"ok":false,"code":"employee_not_found"},{"ok":true}]}`, events: "assignment.created"},
		{name: "no items", do: bulkPath, body: `{}`, status: 400, code: "invalid_request", fields: "items"},
		{name: "null items", do: bulkPath, body: `{"items":null}`, status: 400, code: "invalid_request", fields: "items"},
		{name: "an object of items", do: bulkPath, body: `{"items":{}}`, status: 400, code: "invalid_request", fields: "items"},
		{name: "one item", do: bulkPath, body: `{"items":"x"}`, status: 400, code: "invalid_request", fields: "items"},
	})
	again := f.send(t, "POST", "/assignments/bulk", fmt.Sprintf(`{"items":[{"employeeExternalId":"E1","courseId":%d,"externalId":"T"},{"employeeExternalId":"E1","courseId":%d,"externalId":"T"}]}`, f.course, f.course))
	single := f.send(t, "GET", "/assignments/by-external-id/T", "").str("id")
	if again.str("results.0.assignmentId") != single || again.str("results.1.assignmentId") != single {
		t.Errorf("the assignment is %s, and again %s", single, again.text)
	}
}

// bulkLimit sends 500 items and 501.
func bulkLimit(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	f.subscribe(t)
	items := func(n int, prefix string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`{"employeeExternalId":"E1","courseId":%d,"externalId":"%s%d"}`, f.course, prefix, i)
		}
		return `{"items":[` + strings.Join(list, ",") + `]}`
	}
	f.sendRow(t, f.caller, row{name: "501", do: bulkPath, body: items(501, "x"), status: 400, code: "invalid_request", fields: "items", message: "500"})
	f.sendRow(t, f.caller, row{name: "nothing was done", do: "GET /assignments", has: `{"pagination":{"total":0}}`})
	f.sendRow(t, f.caller, row{name: "501 that are nothing", do: bulkPath, body: `{"items":[` + strings.Repeat("1,", 500) + `1]}`, status: 400, code: "invalid_request", fields: "items"})
	a := f.sendRow(t, f.caller, row{name: "500", do: bulkPath, body: items(500, "y"), events: strings.Repeat("assignment.created ", 500)})
	again := f.sendRow(t, f.caller, row{name: "500 again", do: bulkPath, body: items(500, "y")})
	seen := map[string]bool{}
	for i := range 500 {
		at := fmt.Sprintf("results.%d.", i)
		id := a.str(at + "assignmentId")
		if a.str(at+"index") != fmt.Sprint(i) || a.get(at+"ok") != true || seen[id] || id != again.str(at+"assignmentId") {
			t.Fatalf("item %d: %v, and again %v", i, a.get(fmt.Sprintf("results.%d", i)), again.get(fmt.Sprintf("results.%d", i)))
		}
		seen[id] = true
	}
	f.sendRow(t, f.caller, row{do: "GET /assignments?limit=500", has: `{"pagination":{"page":1,"limit":500,"total":500,"pages":1}}`})
}
