package contract_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
)

const assignPath = "POST /assignments"

// assignments creates assignments, repeats requests, contradicts them and revokes.
func assignments(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.subscribe(t)
	f.sendRows(t, []row{
		{do: provisionPath, body: `{"externalId":"E1","email":"<@ann>","name":"Ann"}`, events: "employee.joined"},
		{do: provisionPath, body: `{"externalId":"E2","email":"<@bob>","name":"Bob"}`, events: "employee.joined"},
		{name: "new", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1","deadline":"2099-01-01T03:00:00+03:00","isRequired":true}`,
			has: `{"externalId":"A1","status":"assigned","statusCategory":"not_started","isOverdue":false,"deadline":"2099-01-01T00:00:00+00:00"}`, save: "a1", events: "assignment.created"},
		{name: "in full", do: "GET /assignments/<a1>", has: `{"id":<a1>,"externalId":"A1","employeeExternalId":"E1","employeeEmail":"<@ann>","courseId":<course>,"courseName":"Basics",
			"status":"assigned","statusCategory":"not_started","isOverdue":false,"completionPercent":0,"score":null,"numberOfAttempts":0,"isRequired":true,
			"deadline":"2099-01-01T00:00:00+00:00","startedAt":null,"completedAt":null}`},
		{name: "again", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1","deadline":"2099-01-01T00:00:00Z","isRequired":true}`, has: `{"id":<a1>}`},
		{name: "again in another offset", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1","deadline":"2098-12-31T18:30:00.000-05:30"}`, has: `{"id":<a1>}`},
		{name: "again without the rest", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1"}`, has: `{"id":<a1>,"deadline":"2099-01-01T00:00:00+00:00"}`},
		{name: "again with a null", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1","deadline":null}`, has: `{"id":<a1>}`},
		{name: "another employee", do: assignPath, body: `{"employeeExternalId":"E2","courseId":<course>,"externalId":"A1"}`,
			status: 409, code: "idempotency_conflict", fields: "employeeExternalId", message: "employeeExternalId"},
		{name: "everything else", do: assignPath, body: `{"employeeExternalId":"E2","courseId":<exam>,"externalId":"A1","deadline":"2099-01-01T00:00:01Z","isRequired":false}`,
			status: 409, code: "idempotency_conflict", fields: "employeeExternalId courseId deadline isRequired"},
		{name: "a millisecond later", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1","deadline":"2099-01-01T00:00:00.001Z"}`,
			status: 409, code: "idempotency_conflict", fields: "deadline"},
		{name: "nothing changed", do: "GET /assignments/by-external-id/A1", has: `{"id":<a1>,"employeeExternalId":"E1","courseId":<course>,"isRequired":true,"deadline":"2099-01-01T00:00:00+00:00"}`},
		{name: "the same course again", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A2"}`, save: "a2", events: "assignment.created"},
		{name: "required is not the default", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A2","isRequired":false}`, has: `{"id":<a2>}`},
		{name: "required after all", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A2","isRequired":true}`, status: 409, code: "idempotency_conflict", fields: "isRequired"},
		{name: "another case", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"a2"}`, save: "a3", events: "assignment.created"},
		{name: "ascending ids", do: "GET /employees/E1", has: `{"assignments":[{"id":<a1>},{"id":<a2>},{"id":<a3>}]}`},
		{name: "revoked", do: "DELETE /assignments/<a1>", has: `{"id":<a1>,"revoked":true}`},
		{name: "again", do: "DELETE /assignments/<a1>", has: `{"id":<a1>,"revoked":true}`},
		{do: "GET /assignments/<a1>", status: 404, code: "assignment_revoked"},
		{do: "GET /assignments/<a1>/progress", status: 404, code: "assignment_revoked"},
		{do: "GET /assignments/<a1>/results", status: 404, code: "assignment_revoked"},
		{do: "GET /assignments/by-external-id/A1", status: 404, code: "assignment_revoked"},
		{do: "GET /assignments/by-external-id/A1/progress", status: 404, code: "assignment_revoked"},
		{do: "GET /assignments/by-external-id/A1/results", status: 404, code: "assignment_revoked"},
		{do: "GET /assignments", has: `{"items":[{"id":<a2>},{"id":<a3>}],"pagination":{"total":2}}`},
		{do: "GET /employees/E1", has: `{"assignments":[{"id":<a2>},{"id":<a3>}]}`},
		{name: "its id is free", do: assignPath, body: `{"employeeExternalId":"E2","courseId":<exam>,"externalId":"A1"}`, save: "a4", events: "assignment.created"},
		{name: "the old one stays revoked", do: "GET /assignments/<a1>", status: 404, code: "assignment_revoked"},
		{name: "and can be revoked again", do: "DELETE /assignments/<a1>", has: `{"id":<a1>,"revoked":true}`},
		{name: "which is not the new one", do: "GET /assignments/by-external-id/A1", has: `{"id":<a4>,"courseName":"Exam"}`},
		{do: "GET /assignments/by-external-id/nothing", status: 404, code: "assignment_not_found"},
	})
}

// assignmentInput sends invalid assignments.
func assignmentInput(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	f.sendRows(t, []row{
		{do: assignPath, body: `{}`, status: 400, code: "invalid_request", fields: "employeeExternalId courseId externalId"},
		{do: assignPath, body: `{"employeeExternalId":null,"courseId":null,"externalId":null}`, status: 400, code: "invalid_request", fields: "employeeExternalId courseId externalId"},
		{do: assignPath, body: `{"employeeExternalId":7,"courseId":"7","externalId":[]}`, status: 400, code: "invalid_request", fields: "employeeExternalId courseId externalId"},
		{do: assignPath, body: `{"employeeExternalId":"","courseId":<course>,"externalId":""}`, status: 400, code: "invalid_request", fields: "employeeExternalId externalId"},
		{do: assignPath, body: `{"employeeExternalId":" E1","courseId":<course>,"externalId":"A "}`, status: 400, code: "invalid_request", fields: "employeeExternalId externalId"},
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":".."}`, status: 400, code: "invalid_request", fields: "externalId"},
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A\u0000"}`, status: 400, code: "invalid_request", fields: "externalId"},
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":` + quote(wideText(256)) + `}`, status: 400, code: "invalid_request", fields: "externalId"},
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A","isRequired":"yes"}`, status: 400, code: "invalid_request", fields: "isRequired"},
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A","isRequired":null}`, status: 400, code: "invalid_request", fields: "isRequired"},
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A","isRequired":1,"deadline":7}`, status: 400, code: "invalid_request", fields: "deadline isRequired"},
		{do: assignPath, body: `{"employeeExternalId":"E9","courseId":<course>,"externalId":"A"}`, status: 404, code: "employee_not_found"},
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":999999999,"externalId":"A"}`, status: 404, code: "course_not_found"},
		{do: "GET /assignments", has: `{"items":[]}`},
		{name: "255 characters, and fields that nobody knows", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":` + quote(wideText(255)) + `,"id":1,"status":"completed","score":100}`,
			has: `{"status":"assigned","externalId":` + quote(wideText(255)) + `}`},
	})
}

// deadlines checks the default of 30 days and deadlines in the past.
func deadlines(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	before := time.Now().Add(-time.Minute)
	for i, deadline := range []string{"", `,"deadline":null`} {
		a := f.send(t, "POST", "/assignments", fmt.Sprintf(`{"employeeExternalId":"E1","courseId":%d,"externalId":"D%d"%s}`, f.course, i, deadline))
		assigned, err1 := time.Parse(time.RFC3339, a.str("assignedAt"))
		due, err2 := time.Parse(time.RFC3339, a.str("deadline"))
		if err1 != nil || err2 != nil || due.Sub(assigned) != 30*24*time.Hour || assigned.Before(before) || assigned.After(time.Now().Add(time.Minute)) {
			t.Errorf("assigned at %s until %s", a.str("assignedAt"), a.str("deadline"))
		}
	}
	const overdue = `{"status":"assigned","statusCategory":"overdue","isOverdue":true}`
	f.sendRows(t, []row{
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"P1","deadline":"2001-02-03T04:05:06Z"}`,
			has: `{"status":"assigned","statusCategory":"overdue","isOverdue":true,"deadline":"2001-02-03T04:05:06+00:00"}`, save: "p1"},
		{do: "GET /assignments/<p1>", has: overdue},
		{do: "GET /assignments/<p1>/progress", has: overdue},
		{do: "GET /assignments/<p1>/results", has: `{"statusCategory":"overdue","resultSummary":{"completionState":"not_started","isPassed":false,"finalScore":null}}`},
		{do: "GET /assignments?courseId=<course>&status=assigned", has: `{"items":[{"isOverdue":false},{"isOverdue":false},{"id":<p1>,"isOverdue":true}]}`},
		{do: "GET /employees/E1", has: `{"assignments":[{"isOverdue":false},{"isOverdue":false},{"isOverdue":true,"statusCategory":"overdue"}]}`},
	})
	f.reportActivity(t, f.vars["p1"], "started", "")
	f.sendRow(t, f.caller, row{do: "GET /assignments/<p1>", has: `{"status":"started","statusCategory":"overdue","isOverdue":true}`})
	f.reportActivity(t, f.vars["p1"], "progress", `"completionPercent":100`)
	f.sendRow(t, f.caller, row{do: "GET /assignments/<p1>", has: `{"status":"completed","statusCategory":"completed","isOverdue":false}`})
}

// companyIsolation tries to reach the records of another company.
func companyIsolation(t *testing.T, s *suite) {
	f, other := s.newCompany(t), s.newCompany(t)
	other.provision(t, "E1")
	f.provision(t, "E2")
	f.vars["theirs"], f.vars["their course"] = other.assign(t, "E1", other.course, "A1"), other.vars["course"]
	f.sendRows(t, []row{
		{do: "GET /assignments/<theirs>", status: 403, code: "wrong_company"},
		{do: "GET /assignments/<theirs>/progress", status: 403, code: "wrong_company"},
		{do: "GET /assignments/<theirs>/results", status: 403, code: "wrong_company"},
		{do: "DELETE /assignments/<theirs>", status: 403, code: "wrong_company"},
		{do: "GET /assignments/by-external-id/A1", status: 404, code: "assignment_not_found"},
		{do: "GET /assignments/by-external-id/A1/progress", status: 404, code: "assignment_not_found"},
		{do: "GET /assignments/by-external-id/A1/results", status: 404, code: "assignment_not_found"},
		{do: "GET /employees/E1", status: 404, code: "employee_not_found"},
		{do: "PATCH /employees/E1", body: `{"active":false}`, status: 404, code: "employee_not_found"},
		{do: "DELETE /employees/E1", status: 404, code: "employee_not_found"},
		{do: "GET /employees", has: `{"items":[{"externalId":"E2"}]}`},
		{do: "GET /assignments", has: `{"items":[]}`},
		{do: "GET /assignments?courseId=<their course>", has: `{"items":[]}`},
		{do: assignPath, body: `{"employeeExternalId":"E2","courseId":<their course>,"externalId":"A1"}`, status: 403, code: "wrong_company"},
		{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1"}`, status: 404, code: "employee_not_found"},
		{name: "ids are each company's own", do: assignPath, body: `{"employeeExternalId":"E2","courseId":<course>,"externalId":"A1"}`, has: `{"status":"assigned"}`},
	})
	if a := other.send(t, "GET", "/assignments/"+f.vars["theirs"], ""); a.status != 200 {
		t.Errorf("theirs is gone: %d %s", a.status, a.text)
	}
	other.send(t, "DELETE", "/assignments/"+f.vars["theirs"], "")
	f.sendRow(t, f.caller, row{name: "another company's, even if revoked", do: "GET /assignments/<theirs>", status: 403, code: "wrong_company"})
}

// courses lists granted courses and the company's own slices.
func courses(t *testing.T, s *suite) {
	f, other := s.newCompany(t), s.newCompany(t)
	slice, err := s.SliceCourse(t.Context(), f.id, f.course, "Basics, part one", []int{1})
	if err != nil {
		t.Fatal(err)
	}
	f.vars["slice"] = fmt.Sprint(slice.CourseID)
	external := fmt.Sprintf("platform-%d", f.number)
	platform := s.platformCaller()
	f.vars["key"] = external
	granted := f.sendRow(t, platform, row{do: "PUT /courses/<key>", body: `{"name":" Fire safe\u0301ty\u0301 ","isAssessment":true}`, has: `{"status":"created"}`})
	f.vars["granted"] = granted.str("courseId")
	own := `{"id":<course>,"name":"Basics","externalId":"basics","isAssessment":false},{"id":<exam>,"name":"Exam","externalId":null,"isAssessment":true},
		{"id":<slice>,"name":"Basics, part one","externalId":null,"isAssessment":false}`
	f.sendRow(t, f.caller, row{do: "GET /courses", has: `{"items":[` + own + `]}`})
	f.sendRow(t, platform, row{do: "PUT /courses/<key>/companies/<company>", has: `{"courseId":<granted>,"companyId":<company>,"granted":true}`})
	f.sendRow(t, f.caller, row{do: "GET /courses", has: `{"items":[` + own + `,{"id":<granted>,"name":"Fire safétý","externalId":"<key>","isAssessment":true}]}`})
	f.provision(t, "E1")
	other.provision(t, "E1")
	other.vars["slice"], other.vars["granted"] = f.vars["slice"], f.vars["granted"]
	f.sendRows(t, []row{
		{name: "a slice", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<slice>,"externalId":"S"}`},
		{name: "a granted course", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<granted>,"externalId":"G"}`},
	})
	other.sendRows(t, []row{
		{name: "another's slice", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<slice>,"externalId":"S"}`, status: 403, code: "wrong_company"},
		{name: "what others were granted", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<granted>,"externalId":"G"}`, status: 403, code: "wrong_company"},
		{do: "GET /courses", has: `{"items":[{"id":<course>},{"id":<exam>}]}`},
	})
	f.sendRow(t, platform, row{do: "DELETE /courses/<key>/companies/<company>", has: `{"courseId":<granted>,"companyId":<company>,"granted":false}`})
	f.sendRows(t, []row{
		{do: "GET /courses", has: `{"items":[` + own + `]}`},
		{name: "withdrawn", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<granted>,"externalId":"G2"}`, status: 403, code: "wrong_company"},
		{name: "what was assigned stays", do: "GET /assignments/by-external-id/G", has: `{"courseName":"Fire safétý"}`},
		{name: "and can be asked for again", do: assignPath, body: `{"employeeExternalId":"E1","courseId":<granted>,"externalId":"G"}`},
	})
	empty, err := s.CreateCompany(t.Context(), "Empty", f.email("empty"), "UTC")
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.CreateToken(t.Context(), app.TokenInput{Company: empty.CompanyID, Name: "empty", Scopes: []string{"b2b_read"}})
	if err != nil {
		t.Fatal(err)
	}
	wantData(t, "no courses", `{"items":[]}`, f.withToken(token.Token).send(t, "GET", "/courses", "").body["data"])
}
