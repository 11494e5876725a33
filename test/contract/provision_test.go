package contract_test

import (
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const provisionPath = "POST /employees/provision"

// provisionTable goes through the decision table of provisioning.
func provisionTable(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.subscribe(t)
	f.sendRows(t, []row{
		{name: "none of these", do: provisionPath, body: `{"externalId":"E1","email":"<@ann>","name":"Ann"}`,
			has: `{"externalId":"E1","email":"<@ann>","status":"created"}`, save: "ann", events: "employee.joined"},
		{name: "again", do: provisionPath, body: `{"externalId":"E1","email":"<@ann>","name":"Other"}`,
			has: `{"id":<ann>,"externalId":"E1","email":"<@ann>","status":"found"}`},
		{name: "again in capitals", do: provisionPath, body: `{"externalId":"E1","email":" ` + strings.ToUpper(f.email("ann")) + ` ","name":"Other"}`,
			has: `{"id":<ann>,"email":"<@ann>","status":"found"}`},
		{name: "nothing was written", do: "GET /employees/E1", has: `{"id":<ann>,"name":"Ann","email":"<@ann>","role":"employee","tags":[],"assignments":[]}`},
		{name: "its id with another email", do: provisionPath, body: `{"externalId":"E1","email":"<@else>","name":"Ann"}`,
			status: 409, code: "external_id_taken"},
		{name: "its email with another id", do: provisionPath, body: `{"externalId":"E2","email":"<@ann>","name":"Ann"}`,
			status: 409, code: "email_taken"},
		{name: "its email in capitals with another id", do: provisionPath, body: `{"externalId":"E2","email":"` + strings.ToUpper(f.email("ann")) + `","name":"Ann"}`,
			status: 409, code: "email_taken"},
		{name: "nobody came of it", do: "GET /employees", has: `{"items":[{"externalId":"E1"}]}`},
		{name: "ids are told apart by case", do: provisionPath, body: `{"externalId":"e1","email":"<@low>","name":"Low"}`,
			has: `{"externalId":"e1","status":"created"}`, events: "employee.joined"},
		{name: "fields that nobody knows", do: provisionPath, body: `{"externalId":"E3","email":"<@tom>","name":"Tom","role":"admin","id":7,"x":{"y":[]}}`,
			has: `{"status":"created"}`, events: "employee.joined"},
		{name: "only employees are made", do: "GET /employees/E3", has: `{"role":"employee"}`},
	})
}

// provisionCabinet links someone who joined through the cabinet.
func provisionCabinet(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.subscribe(t)
	_, err := s.store.Join(t.Context(), domain.Caller{Company: domain.Company{ID: f.id}}, domain.Newcomer{Email: f.email("Una"), Name: "Una", Role: domain.RoleEmployee})
	if err != nil {
		t.Fatal(err)
	}
	f.webhook.wantEvents(t, "join", "employee.joined")
	a := f.send(t, "GET", "/employees", "")
	wantData(t, "not linked yet", `{"items":[{"externalId":"","name":"Una"}]}`, a.body["data"])
	f.vars["una"] = a.str("items.0.id")
	f.sendRows(t, []row{
		{name: "linked", do: provisionPath, body: `{"externalId":"U1","email":"<@una>","name":"Other"}`,
			has: `{"id":<una>,"externalId":"U1","email":"<@Una>","status":"linked"}`},
		{name: "only the id was set", do: "GET /employees/U1", has: `{"id":<una>,"name":"Una","email":"<@Una>"}`},
		{name: "found from now on", do: provisionPath, body: `{"externalId":"U1","email":"<@una>","name":"Una"}`, has: `{"id":<una>,"status":"found"}`},
	})
}

// provisionFormer brings former employees back and reuses their identifiers.
func provisionFormer(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.subscribe(t)
	f.sendRows(t, []row{
		{do: provisionPath, body: `{"externalId":"E1","email":"<@ann>","name":"Ann"}`, save: "ann", events: "employee.joined"},
		{do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"A1"}`, events: "assignment.created"},
		{do: "PATCH /employees/E1", body: `{"active":false}`, has: `{"externalId":"E1","status":"offboarded"}`, events: "employee.removed"},
		{name: "a former employee's email", do: provisionPath, body: `{"externalId":"E2","email":"<@ANN>","name":"Ann Two"}`,
			has: `{"id":<ann>,"externalId":"E2","status":"linked"}`, events: "employee.joined"},
		{name: "the same person with a new id and name", do: "GET /employees/E2", has: `{"id":<ann>,"name":"Ann Two","assignments":[]}`},
		{name: "the old id is nobody's", do: "GET /employees/E1", status: 404, code: "employee_not_found"},
		{do: "PATCH /employees/E2", body: `{"active":false}`, events: "employee.removed"},
		{name: "a former employee's id is free", do: provisionPath, body: `{"externalId":"E2","email":"<@bob>","name":"Bob"}`,
			has: `{"status":"created"}`, save: "bob", events: "employee.joined"},
		{name: "and belongs to the new one", do: "GET /employees/E2", has: `{"id":<bob>,"name":"Bob"}`},
		{name: "so the former can't have it", do: provisionPath, body: `{"externalId":"E2","email":"<@ann>","name":"Ann"}`, status: 409, code: "external_id_taken"},
		{name: "but another", do: provisionPath, body: `{"externalId":"E4","email":"<@ann>","name":"Ann"}`, has: `{"id":<ann>,"status":"linked"}`, events: "employee.joined"},
	})
	f.sendRows(t, []row{
		{name: "deleted", do: "DELETE /employees/E4", has: `{"externalId":"E4","status":"deleted"}`, events: "employee.removed"},
		{name: "and back as a stranger", do: provisionPath, body: `{"externalId":"E4","email":"<@ann>","name":"Ann"}`,
			has: `{"status":"created"}`, save: "again", events: "employee.joined"},
	})
	if f.vars["again"] == f.vars["ann"] {
		t.Errorf("deleted and provisioned again: the same id %s", f.vars["ann"])
	}
}

// provisionElsewhere links an account that another company has made.
func provisionElsewhere(t *testing.T, s *suite) {
	f, other := s.newCompany(t), s.newCompany(t)
	f.subscribe(t)
	other.subscribe(t)
	f.vars["mail"] = other.email("ann")
	other.sendRows(t, []row{
		{do: provisionPath, body: `{"externalId":"E1","email":"<@ann>","name":"Ann"}`, has: `{"status":"created"}`, save: "ann", events: "employee.joined"},
	})
	f.sendRows(t, []row{
		{do: provisionPath, body: `{"externalId":"E1","email":"<mail>","name":"Ann Here"}`, has: `{"status":"linked"}`, save: "ann", events: "employee.joined"},
		{do: "GET /employees/E1", has: `{"name":"Ann Here","email":"<mail>"}`},
		{name: "erased here", do: "DELETE /employees/E1", events: "employee.removed"},
	})
	other.sendRows(t, []row{{name: "untouched there", do: "GET /employees/E1", has: `{"id":<ann>,"name":"Ann","email":"<@ann>"}`}})
	f.sendRows(t, []row{{name: "the account is still known", do: provisionPath, body: `{"externalId":"E1","email":"<mail>","name":"Ann"}`,
		has: `{"status":"linked"}`, events: "employee.joined"}})
	if f.vars["ann"] == other.vars["ann"] {
		t.Error("two companies share an employee")
	}
}
