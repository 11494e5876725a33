package main

import (
	"strings"
	"testing"
)

func TestStatusAcrossCompanies(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		newCompany(t, database)
		mustRun(t, database, "company", "create", "--name", "Quiet", "--admin", "q@quiet.example")
		mustRun(t, database, "webhook", "add", "--company", "1", "--url", "https://hooks.example/a", "--event", "employee.joined")
		mustRun(t, database, "webhook", "add", "--company", "1", "--url", "https://hooks.example/b", "--event", "employee.joined")
		mustRun(t, database, "webhook", "disable", "--company", "1", "--id", "2")
		token := mustRun(t, database, "token", "create", "--company", "1", "--name", "x", "--scope", "b2b_provision")["token"].(string)
		s := startServer(t, database, "--no-webhooks")
		provision(t, s, token, "one")
		provision(t, s, token, "two")
		_, metrics := s.get(t, "/metrics")
		for _, want := range []string{
			`coursebridge_webhook_endpoints{state="enabled"} 1`, `coursebridge_webhook_endpoints{state="disabled"} 1`,
			"coursebridge_webhook_endpoints_holding 1", "coursebridge_webhook_oldest_due_seconds 0.", "coursebridge_webhook_queue_due 0",
		} {
			if !strings.Contains(metrics, "\n"+want) {
				t.Errorf("the metrics of a server that sends nothing lack %q", want)
			}
		}
		s.stop()

		status := mustRun(t, database, "status")
		for name, want := range map[string]any{
			"companies": 2.0, "webhooks": 2.0, "disabledWebhooks": 1.0, "pendingDeliveries": 2.0, "dueDeliveries": 2.0, "heldDeliveries": 2.0,
			"restored": false, "rotatingSecretKey": false,
		} {
			if status[name] != want {
				t.Errorf("status has %s = %v, want %v", name, status[name], want)
			}
		}
		stuck := mustRun(t, database, "delivery", "stuck", "--older-than", "0s")["webhooks"].([]any)
		if len(stuck) != 2 {
			t.Fatalf("stuck: %v", stuck)
		}
		first, second := stuck[0].(map[string]any), stuck[1].(map[string]any)
		if first["due"] != 2.0 || first["state"] != "enabled" || second["held"] != 2.0 || second["state"] != "disabled" {
			t.Errorf("stuck: %v", stuck)
		}
		if late := mustRun(t, database, "delivery", "stuck", "--older-than", "1h")["webhooks"].([]any); len(late) != 1 {
			t.Errorf("held for an hour: %v", late)
		}
		top := mustRun(t, database, "company", "top")["companies"].([]any)
		if busy := top[0].(map[string]any); len(top) != 2 || busy["name"] != "Acme" || busy["employees"] != 2.0 || busy["events"] != 2.0 || busy["calls"] != 2.0 {
			t.Errorf("top: %v", top)
		}
		for args, want := range map[string]string{"status": "2 held", "company top": "EMPLOYEES", "delivery stuck": "OLDEST"} {
			got := runCommand(t, append(strings.Fields(args), "--database", database)...)
			if got.code != 0 || !strings.Contains(got.stdout, want) {
				t.Errorf("%s: exit code %d, printed %q", args, got.code, got.stdout)
			}
		}
	})
}

// Deleting one company leaves nothing of it and everything of the other one, also while
// a server runs and when a person works for both.
func TestCompanyDelete(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		newCompany(t, database)
		mustRun(t, database, "company", "create", "--name", "Other", "--admin", "q@other.example")
		for _, company := range []string{"1", "2"} {
			mustRun(t, database, "webhook", "add", "--company", company, "--url", "https://hooks.example/a", "--event", "employee.joined")
			mustRun(t, database, "course", "add", "--company", company, "--name", "Safety", "--module", "One", "--module", "Two")
		}
		mustRun(t, database, "course", "slice", "--company", "1", "--course", "1", "--name", "Part", "--module", "1")
		scopes := []string{"--name", "x", "--scope", "b2b_provision", "--scope", "b2b_assignment", "--scope", "b2b_read"}
		first := mustRun(t, database, append([]string{"token", "create", "--company", "1"}, scopes...)...)["token"].(string)
		second := mustRun(t, database, append([]string{"token", "create", "--company", "2"}, scopes...)...)["token"].(string)
		s := startServer(t, database, "--no-webhooks")
		for _, token := range []string{first, second} {
			provision(t, s, token, "both")
		}
		provision(t, s, first, "alone")
		if status := s.call(t, "POST", "/api/v1/assignments", first,
			`{"externalId": "a1", "employeeExternalId": "both", "courseId": 1, "deadline": "2030-01-01T00:00:00Z"}`); status/100 != 2 {
			t.Errorf("the assignment was refused: %d", status)
		}

		counted := mustRun(t, database, "company", "delete", "--id", "1")
		if rows := counted["rows"].(map[string]any); counted["deleted"] != false || rows["employees"] != 2.0 || rows["events"].(float64) < 2 {
			t.Errorf("counted %v", counted)
		}
		if status := s.call(t, "GET", "/api/v1/employees/alone", first, ""); status != 200 {
			t.Errorf("the company after counting: %d", status)
		}
		if got := mustRun(t, database, "company", "delete", "--id", "1", "--confirm"); got["deleted"] != true {
			t.Errorf("deleted %v", got)
		}
		wantRefused(t, "no company", "company", "delete", "--id", "1", "--confirm", "--database", database)
		if status := s.call(t, "GET", "/api/v1/employees/both", second, ""); status != 200 {
			t.Errorf("the other company's employee: %d", status)
		}
		left := mustRun(t, database, "company", "top")["companies"].([]any)
		if len(left) != 1 || left[0].(map[string]any)["employees"] != 1.0 {
			t.Errorf("left: %v", left)
		}
		s.stop()
		if status := startServer(t, database, "--no-webhooks").call(t, "GET", "/api/v1/employees/both", first, ""); status != 401 {
			t.Errorf("a token of the deleted company: %d", status)
		}
	})
}
