package contract_test

import "testing"

// employeePatch changes employees field by field.
func employeePatch(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.subscribe(t)
	f.sendRows(t, []row{
		{do: provisionPath, body: `{"externalId":"E1","email":"<@ann>","name":"Ann"}`, save: "ann", events: "employee.joined"},
		{do: provisionPath, body: `{"externalId":"E2","email":"<@bob>","name":"Bob"}`, save: "bob", events: "employee.joined"},
		{do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1"}`, events: "assignment.created"},
	})
	f.vars["joined"] = f.send(t, "GET", "/employees/E1", "").str("joinedAt")
	const unchanged = `{"id":<ann>,"externalId":"E1","email":"<@ann>","name":"Ann","role":"employee","tags":[],"joinedAt":"<joined>"}`
	f.sendRows(t, []row{
		{name: "no body", do: "PATCH /employees/E1", has: unchanged},
		{name: "an empty object", do: "PATCH /employees/E1", body: `{}`, has: unchanged},
		{name: "blanks", do: "PATCH /employees/E1", body: " \n", has: unchanged},
		{name: "unknown fields", do: "PATCH /employees/E1", body: `{"externalId":"E9","role":"admin","id":7}`, has: unchanged},
		{name: "present is present", do: "PATCH /employees/E1", body: `{"active":true}`, has: unchanged},
		{name: "name", do: "PATCH /employees/E1", body: `{"name":" Ann Lee "}`, has: `{"id":<ann>,"name":"Ann Lee","tags":[],"email":"<@ann>"}`},
		{name: "tags", do: "PATCH /employees/E1", body: `{"tags":["a","b"]}`, has: `{"name":"Ann Lee","tags":["a","b"]}`},
		{name: "tags as a whole", do: "PATCH /employees/E1", body: `{"tags":["c"]}`, has: `{"tags":["c"]}`},
		{name: "all at once", do: "PATCH /employees/E1", body: `{"name":"Ann","tags":[],"email":"<@ann.lee>","active":true}`,
			has: `{"id":<ann>,"name":"Ann","tags":[],"email":"<@ann.lee>","joinedAt":"<joined>"}`},
		{name: "assignments carry the address", do: "GET /assignments/by-external-id/A1", has: `{"employeeEmail":"<@ann.lee>"}`},
		{name: "the old address is free", do: provisionPath, body: `{"externalId":"E3","email":"<@ann>","name":"New"}`, has: `{"status":"created"}`, events: "employee.joined"},
		{name: "the own address in capitals", do: "PATCH /employees/E1", body: `{"email":"<@Ann.Lee>"}`, has: `{"email":"<@Ann.Lee>"}`},
		{name: "another's address", do: "PATCH /employees/E1", body: `{"email":"<@bob>","name":"X"}`, status: 409, code: "email_taken"},
		{name: "another's address in capitals", do: "PATCH /employees/E1", body: `{"email":"<@BOB>"}`, status: 409, code: "email_taken"},
		{name: "another's address on leaving", do: "PATCH /employees/E1", body: `{"email":"<@bob>","active":false}`, status: 409, code: "email_taken"},
		{name: "nothing of a conflict stays", do: "GET /employees/E1", has: `{"name":"Ann","email":"<@Ann.Lee>"}`},
		{name: "null name", do: "PATCH /employees/E1", body: `{"name":null}`, status: 400, code: "invalid_request", fields: "name"},
		{name: "null tags", do: "PATCH /employees/E1", body: `{"tags":null}`, status: 400, code: "invalid_request", fields: "tags"},
		{name: "null email", do: "PATCH /employees/E1", body: `{"email":null}`, status: 400, code: "invalid_request", fields: "email"},
		{name: "null active", do: "PATCH /employees/E1", body: `{"active":null}`, status: 400, code: "invalid_request", fields: "active"},
		{name: "active as text", do: "PATCH /employees/E1", body: `{"active":"false"}`, status: 400, code: "invalid_request", fields: "active"},
		{name: "active as a number", do: "PATCH /employees/E1", body: `{"active":0}`, status: 400, code: "invalid_request", fields: "active"},
		{name: "one wrong field stops all", do: "PATCH /employees/E1", body: `{"active":false,"name":""}`, status: 400, code: "invalid_request", fields: "name"},
		{name: "everything wrong", do: "PATCH /employees/E1", body: `{"name":"","tags":[""],"email":"x","active":1}`, status: 400, code: "invalid_request", fields: "active name tags email"},
		{name: "still there", do: "GET /employees/E1", has: `{"id":<ann>,"name":"Ann","tags":[]}`},
		{name: "nobody", do: "PATCH /employees/E9", body: `{"name":"X"}`, status: 404, code: "employee_not_found"},
		{name: "nobody, with no body", do: "PATCH /employees/E9", status: 404, code: "employee_not_found"},
		{name: "nobody to offboard", do: "PATCH /employees/E9", body: `{"active":false}`, status: 404, code: "employee_not_found"},
		{name: "nobody to bring back", do: "PATCH /employees/E9", body: `{"active":true}`, status: 404, code: "employee_not_found"},
		{name: "nobody, and a wrong body", do: "PATCH /employees/E9", body: `{"name":7}`, status: 400, code: "invalid_request", fields: "name"},
	})
}

// offboard offboards employees and brings them back.
func offboard(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.subscribe(t)
	f.sendRows(t, []row{
		{do: provisionPath, body: `{"externalId":"E1","email":"<@ann>","name":"Ann"}`, save: "ann", events: "employee.joined"},
		{do: "PATCH /employees/E1", body: `{"tags":["a"]}`},
		{do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1"}`, save: "a1", events: "assignment.created"},
		{do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<exam>,"externalId":"A2"}`, save: "a2", events: "assignment.created"},
	})
	first := f.send(t, "GET", "/employees/E1", "").str("joinedAt")
	f.sendRows(t, []row{
		{name: "offboarded, with another name", do: "PATCH /employees/E1", body: `{"active":false,"name":"Ann Lee"}`,
			has: `{"externalId":"E1","status":"offboarded"}`, events: "employee.removed"},
		{name: "again", do: "PATCH /employees/E1", body: `{"active":false}`, has: `{"externalId":"E1","status":"offboarded"}`},
		{name: "gone", do: "GET /employees/E1", status: 404, code: "employee_offboarded"},
		{name: "gone from the list", do: "GET /employees", has: `{"items":[],"pagination":{"total":0}}`},
		{name: "the assignment too", do: "GET /assignments/<a1>", status: 404, code: "assignment_revoked"},
		{name: "by its other id", do: "GET /assignments/by-external-id/A2", status: 404, code: "assignment_revoked"},
		{name: "its progress", do: "GET /assignments/<a2>/progress", status: 404, code: "assignment_revoked"},
		{name: "its results", do: "GET /assignments/by-external-id/A1/results", status: 404, code: "assignment_revoked"},
		{name: "no list has it", do: "GET /assignments", has: `{"items":[],"pagination":{"total":0}}`},
		{name: "of the person neither", do: "GET /assignments?employeeExternalId=E1", has: `{"items":[]}`},
		{name: "revoking again", do: "DELETE /assignments/<a1>", has: `{"id":<a1>,"revoked":true}`},
		{name: "nothing to change", do: "PATCH /employees/E1", body: `{"name":"X"}`, status: 404, code: "employee_offboarded"},
		{name: "not even with nothing", do: "PATCH /employees/E1", status: 404, code: "employee_offboarded"},
		{name: "nothing to assign to", do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A3"}`,
			status: 404, code: "employee_offboarded"},
		{name: "back", do: "PATCH /employees/E1", body: `{"active":true}`,
			has: `{"id":<ann>,"externalId":"E1","email":"<@ann>","name":"Ann Lee"}`, events: "employee.joined"},
		{name: "without assignments", do: "GET /employees/E1", has: `{"id":<ann>,"assignments":[]}`},
		{name: "those stay revoked", do: "GET /assignments/<a1>", status: 404, code: "assignment_revoked"},
		{name: "their ids are free", do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<exam>,"externalId":"A1"}`,
			save: "a3", events: "assignment.created"},
		{name: "the live one is preferred", do: "GET /assignments/by-external-id/A1", has: `{"id":<a3>,"courseId":<exam>}`},
	})
	if again := f.send(t, "GET", "/employees/E1", "").str("joinedAt"); again <= first {
		t.Errorf("joined at %s, and back at %s", first, again)
	}
	f.sendRows(t, []row{
		{do: "PATCH /employees/E1", body: `{"active":false}`, events: "employee.removed"},
		{name: "the address is taken meanwhile", do: provisionPath, body: `{"externalId":"E5","email":"<@eve>","name":"Eve"}`, events: "employee.joined"},
		{do: "PATCH /employees/E5", body: `{"email":"<@ann>"}`, has: `{"email":"<@ann>"}`},
		{name: "so nobody comes back with it", do: "PATCH /employees/E1", body: `{"active":true}`, status: 409, code: "email_taken"},
		{name: "but with another one", do: "PATCH /employees/E1", body: `{"active":true,"email":"<@ann2>","name":"Ann","tags":["x"]}`,
			has: `{"id":<ann>,"email":"<@ann2>","name":"Ann","tags":["x"]}`, events: "employee.joined"},
	})
}

// erase deletes employees and former employees.
func erase(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.subscribe(t)
	f.sendRows(t, []row{
		{do: provisionPath, body: `{"externalId":"E1","email":"<@ann>","name":"Ann"}`, save: "ann", events: "employee.joined"},
		{do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1"}`, save: "a1", events: "assignment.created"},
		{name: "deleted", do: "DELETE /employees/E1", has: `{"externalId":"E1","status":"deleted"}`, events: "employee.removed"},
		{name: "again", do: "DELETE /employees/E1", status: 404, code: "employee_not_found"},
		{do: "GET /employees/E1", status: 404, code: "employee_not_found"},
		{do: "PATCH /employees/E1", body: `{"active":true}`, status: 404, code: "employee_not_found"},
		{do: "GET /employees", has: `{"items":[]}`},
		{do: "GET /assignments", has: `{"items":[]}`},
		{name: "the assignment's id is free", do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1"}`,
			status: 404, code: "employee_not_found"},
		{do: provisionPath, body: `{"externalId":"E2","email":"<@bob>","name":"Bob"}`, events: "employee.joined"},
		{do: "POST /assignments", body: `{"employeeExternalId":"E2","courseId":<course>,"externalId":"A1"}`, events: "assignment.created"},
		{do: "PATCH /employees/E2", body: `{"active":false}`, events: "employee.removed"},
		{name: "a former employee", do: "DELETE /employees/E2", has: `{"externalId":"E2","status":"deleted"}`, events: "employee.removed"},
		{do: "GET /employees/E2", status: 404, code: "employee_not_found"},
		{do: "DELETE /employees/nobody", status: 404, code: "employee_not_found"},
	})
	for _, path := range []string{"/assignments/" + f.vars["a1"], "/assignments/" + f.vars["a1"] + "/results", "/assignments/by-external-id/A1/progress"} {
		if a := f.send(t, "GET", path, ""); a.status != 404 {
			t.Errorf("GET %s of an erased person: %d %s", path, a.status, a.text)
		}
	}
}
