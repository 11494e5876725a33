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
		if busy := top[0].(map[string]any); len(top) != 2 || busy["name"] != "Acme" || busy["employees"] != 2.0 || busy["events"] != 2.0 {
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
