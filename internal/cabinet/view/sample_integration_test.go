package view_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func tokens() []view.Token {
	return []view.Token{
		{ID: 7, Name: "HR sync, production", LastFour: "x7Qp", Scopes: []string{"b2b_api", "b2b_read", "b2b_provision", "b2b_assignment"}, CreatedBy: "Anna Bērziņa", CreatedAt: ago(40 * 24 * time.Hour), LastUsedAt: ptr(ago(20 * time.Second)), LastUsedIP: "203.0.113.7", ExpiresAt: ptr(now.Add(9 * 24 * time.Hour)), State: view.TokenActive, Allowed: []string{"203.0.113.0/24", "2001:db8::/32"}},
		{ID: 6, Name: "Reporting for the holding, nightly export into the data warehouse (read only, do not touch)", LastFour: "0aZ9", Scopes: []string{"b2b_api", "b2b_read"}, CreatedBy: "maximiliane.von-hohenstein-oberdorf@vereinigte-wasserwirtschaft.example", CreatedAt: ago(200 * 24 * time.Hour), LastUsedAt: ptr(ago(8 * time.Hour)), LastUsedIP: "2001:db8:85a3::8a2e:370:7334", State: view.TokenActive},
		{ID: 5, Name: "Trial", LastFour: "Bq21", Scopes: []string{"b2b_api"}, CreatedBy: "operator", CreatedAt: ago(3 * time.Hour), ExpiresAt: ptr(now.Add(90 * 24 * time.Hour)), State: view.TokenActive},
		{ID: 4, Name: "Old CRM", LastFour: "ppRt", Scopes: []string{"b2b_api", "b2b_read"}, CreatedBy: "Anna Bērziņa", CreatedAt: ago(400 * 24 * time.Hour), LastUsedAt: ptr(ago(35 * 24 * time.Hour)), LastUsedIP: "198.51.100.14", ExpiresAt: ptr(ago(30 * 24 * time.Hour)), State: view.TokenExpired},
		{ID: 3, Name: "Leaked", LastFour: "9911", Scopes: []string{"b2b_api", "b2b_provision"}, CreatedBy: "Anna Bērziņa", CreatedAt: ago(50 * 24 * time.Hour), RevokedAt: ptr(ago(49 * 24 * time.Hour)), State: view.TokenRevoked},
	}
}

func tokenSamples() []sample {
	all := tokens()
	wrong := view.TokenForm{
		Scopes: []string{"b2b_read"}, Expiry: "date", Date: "2020-01-01", MinDate: "2026-11-15", Allowed: "203.0.113.0/99",
		Errors: view.Errors{
			"name": "Enter a name, so that you recognise the token later.", "date": "Choose a date in the future.",
			"allowed": "“203.0.113.0/99” is neither an address nor a range such as 203.0.113.0/24.",
		},
	}
	return []sample{
		{"tokens", view.TokensPage(longShell("/cabinet/tokens"), view.TokenList{Tokens: all, Revoked: true})},
		{"tokens-none", view.TokensPage(shell("/cabinet/tokens"), view.TokenList{})},
		{"tokens-all-revoked", view.TokensPage(shell("/cabinet/tokens"), view.TokenList{Hidden: 2})},
		{"token", view.TokenPage(shell("/cabinet/tokens/7"), all[0], requestHours())},
		{"requests", view.RequestsPage(longShell("/cabinet/requests"), sampleRequests())},
		{"request", view.RequestPage(longShell("/cabinet/requests/2"), view.RequestDetail{
			Request: sampleRequests().Requests[2], Body: `{"items": [{"employeeExternalId": "•••", "courseId": 7, "externalId": "•••", "deadline": "14.11.2026"}]}`,
		})},
		{"requests-none", view.RequestsPage(shell("/cabinet/requests"), view.RequestList{Hours: requestHours()})},
		{"requests-off", view.RequestsPage(shell("/cabinet/requests"), view.RequestList{Off: true})},
		{"token-new", view.TokenNewPage(shell("/cabinet/tokens/new"), view.TokenForm{Scopes: []string{"b2b_read"}, Expiry: "90"})},
		{"token-new-wrong", view.TokenNewPage(shell("/cabinet/tokens/new"), wrong)},
		{"token-created", view.TokenCreatedPage(shell("/cabinet/tokens/new"), view.TokenCreated{
			Token: all[0], Secret: "cb_4fXq0V9sKz2mNbT7yRw1LpE8uHc3JdGa5QiSo6YtB0x",
			Curl: "curl -H 'Authorization: Bearer cb_4fXq0V9sKz2mNbT7yRw1LpE8uHc3JdGa5QiSo6YtB0x' https://learn.example.com/api/v1/token",
		})},
		{"token-regenerate", view.TokenRegeneratePage(shell("/cabinet/tokens/7/regenerate"), view.TokenRegenerate{Token: all[0], Grace: "24", Form: view.TokenForm{Expiry: "365"}})},
		{"token-rename", view.TokenRenamePage(shell("/cabinet/tokens/7/rename"), view.TokenRename{Token: all[0], Errors: view.Errors{"name": "Enter a name of at most 255 characters."}})},
		{"token-revoke", view.ConfirmPage(shell("/cabinet/tokens/7/revoke"), view.TokenRevoke(clock, all[0]))},
	}
}

func endpoints() []view.Endpoint {
	every := []string{"assignment.created", "assignment.completed", "assignment.failed", "assignment.overdue", "employee.joined", "employee.removed"}
	return []view.Endpoint{
		{ID: 1, URL: "https://hr.baltic-freight.example/hooks/coursebridge", Description: "HR system, production", Events: every, State: view.EndpointHealthy, CreatedAt: ago(90 * 24 * time.Hour), CreatedBy: "Anna Bērziņa", Day: view.Health{Delivered: 18200, Retrying: 2}, Hours: hours(60), LastDelivery: ptr(ago(12 * time.Second))},
		{ID: 2, URL: "https://integration-gateway.internal-systems.vereinigte-wasserwirtschaft.example/v2/tenants/48211/inbound/learning/coursebridge-events?source=lms", Description: "Enterprise service bus of the holding; ask the integration team before changing anything here", Events: every[:3], State: view.EndpointFailing, FailingSince: ptr(ago(50 * time.Hour)), CreatedAt: ago(30 * 24 * time.Hour), CreatedBy: "maximiliane.von-hohenstein-oberdorf@vereinigte-wasserwirtschaft.example", Day: view.Health{Delivered: 212, Retrying: 25, Failed: 3}, Hours: hours(2), LastDelivery: ptr(ago(4 * time.Minute))},
		{ID: 3, URL: "https://old.example/h", Events: every[:1], State: view.EndpointDisabled, DisabledReason: "failing", DisabledAt: ptr(ago(3 * 24 * time.Hour)), CreatedAt: ago(300 * 24 * time.Hour), CreatedBy: "operator", Day: view.Health{Held: 140}, Hours: hours(0), LastDelivery: ptr(ago(3 * 24 * time.Hour))},
		{ID: 4, URL: "https://new.example/hooks", Description: "Staging", Events: every[4:], State: view.EndpointIdle, CreatedAt: ago(time.Minute), CreatedBy: "Anna Bērziņa", Hours: hours(0)},
	}
}

func choices(checked int) []view.EventChoice {
	var out []view.EventChoice
	for i, kind := range []string{"assignment.created", "assignment.completed", "assignment.failed", "assignment.overdue", "employee.joined", "employee.removed"} {
		out = append(out, view.EventChoice{Kind: kind, Sample: strings.Replace(body, "assignment.completed", kind, 1), Checked: i < checked})
	}
	return out
}

func endpointSamples() []sample {
	list := endpoints()
	healthy := view.EndpointDetail{Endpoint: list[0], Recent: deliveries(5), Snippets: programs(), Chart: chart(), Outcome: &view.TestOutcome{
		OK: true, StatusCode: 204, Took: 182 * time.Millisecond, DeliveryID: "01932f1e-7c1a-7f3e-9d34-6a1f0c2b9e77",
	}}
	failing := view.EndpointDetail{
		Endpoint: list[1], Secret: "whsec_c2VjcmV0IGZvciB0aGUgc2FtcGxlIHBhZ2VzLCAzMiBieXRlcw==", PreviousUntil: ptr(now.Add(20 * time.Hour)),
		Recent: deliveries(4), Snippets: programs(), Outcome: &view.TestOutcome{
			StatusCode: 503, Took: 1243 * time.Millisecond, Error: "The receiver answered 503: it is overloaded or down for maintenance. The delivery is tried again.",
			Response: `{"error":"upstream unavailable","trace":"abc-123"}`, Truncated: true, DeliveryID: "01932f1e-7c1a-7f3e-9d34-6a1f0c2b9e77",
		},
	}
	shown := shell("/cabinet/webhooks/1")
	return []sample{
		{"webhooks", view.WebhooksPage(longShell("/cabinet/webhooks"), view.EndpointList{Endpoints: list})},
		{"webhooks-none", view.WebhooksPage(shell("/cabinet/webhooks"), view.EndpointList{})},
		{"webhook-new", view.WebhookFormPage(shell("/cabinet/webhooks/new"), view.EndpointForm{Kinds: choices(6)})},
		{"webhook-edit-wrong", view.WebhookFormPage(shell("/cabinet/webhooks/1/edit"), view.EndpointForm{
			ID: 1, URL: "https://10.0.0.8/hooks", Kinds: choices(0), Errors: view.Errors{
				"url":    "10.0.0.8 is a private address. Use one that can be reached from the internet.",
				"events": "Choose at least one event.",
			},
		})},
		{"webhook", view.WebhookPage(shown, healthy)},
		{"webhook-failing", view.WebhookPage(longShell("/cabinet/webhooks/2"), failing)},
		{"webhook-disabled", view.WebhookPage(shown, view.EndpointDetail{Endpoint: list[2], Snippets: programs()})},
		{"webhook-remove", view.ConfirmPage(shown, view.EndpointRemove(list[1]))},
		{"webhook-rotate", view.ConfirmPage(shown, view.EndpointRotate(clock, list[0], true))},
		{"webhook-disable", view.ConfirmPage(shown, view.EndpointDisable(list[0]))},
	}
}

func deliveries(n int) []view.Delivery {
	states := []view.DeliveryState{view.DeliveryDelivered, view.DeliveryDelivered, view.DeliveryRetrying, view.DeliveryDelivered, view.DeliveryFailed, view.DeliveryPending, view.DeliveryHeld}
	events := []string{"assignment.completed", "employee.joined", "assignment.overdue", "test"}
	list := endpoints()
	out := make([]view.Delivery, n)
	for i := range out {
		endpoint := list[i%3]
		out[i] = view.Delivery{
			ID: fmt.Sprintf("01932f1e-7c1a-7f3e-9d34-%012x", i+1), State: states[i%len(states)], Event: events[i%len(events)],
			ExternalID: fmt.Sprintf("asg-2026-%06d", 412+i), EndpointID: endpoint.ID, EndpointURL: endpoint.URL, Attempts: 1,
			CreatedAt: ago(time.Duration(i*i)*time.Minute + 3*time.Second),
		}
		switch out[i].State {
		case view.DeliveryRetrying:
			out[i].Attempts, out[i].NextAttempt = 3, ptr(now.Add(11*time.Minute))
			out[i].ExternalID = "HR/Employees/Köln-Ehrenfeld/2026-11-14/00000000000000000412/certification-renewal"
		case view.DeliveryFailed:
			out[i].Attempts = 6
		case view.DeliveryPending:
			out[i].Attempts, out[i].NextAttempt = 0, ptr(now.Add(2*time.Second))
		case view.DeliveryHeld:
			out[i].Attempts, out[i].ExternalID = 0, ""
		}
	}
	return out
}

func options() []view.Option {
	var out []view.Option
	for _, e := range endpoints() {
		out = append(out, view.Option{Value: fmt.Sprint(e.ID), Label: e.URL})
	}
	return out
}

func tries() []view.Attempt {
	request := []view.Header{
		{Name: "Content-Type", Value: "application/json"}, {Name: "User-Agent", Value: "coursebridge/1.0"},
		{Name: "X-Service-Event", Value: "assignment.completed"}, {Name: "X-Service-Delivery", Value: "01932f1e-7c1a-7f3e-9d34-6a1f0c2b9e77"},
		{Name: "X-Service-Signature", Value: "sha256=6a1f0c2b9e776a1f0c2b9e776a1f0c2b9e776a1f0c2b9e776a1f0c2b9e776a1f"},
	}
	response := []view.Header{{Name: "Content-Type", Value: "text/html"}, {Name: "Retry-After", Value: "120"}}
	return []view.Attempt{
		{Number: 4, StartedAt: ago(4 * time.Minute), Took: 210 * time.Millisecond, StatusCode: 503, ErrorKind: "status", Error: "The receiver answered 503: it is overloaded or down for maintenance. It is tried again.", RequestedBy: "Anna Bērziņa", RequestHeaders: request, ResponseHeaders: response, ResponseBody: "<html><body><h1>503 Service Unavailable</h1></body></html>", ResponseCut: true},
		{Number: 3, StartedAt: ago(20 * time.Minute), Took: 10 * time.Second, ErrorKind: "timeout", Error: "hr.baltic-freight.example took the connection but did not answer within 10s; answer 2xx first and do the work afterwards.", RequestHeaders: request},
		{Number: 2, StartedAt: ago(25 * time.Minute), Took: 31 * time.Millisecond, StatusCode: 500, ErrorKind: "status", Error: "The receiver answered 500: look into its log.", RequestHeaders: request, ResponseHeaders: response, ResponseBody: `{"error":"boom"}`},
		{Number: 1, StartedAt: ago(26 * time.Minute), Took: 2 * time.Millisecond, ErrorKind: "connect", Error: "hr.baltic-freight.example:443 refused the connection; check that the receiver runs and listens on this port.", RequestHeaders: request},
	}
}

func deliverySamples() []sample {
	retrying := view.DeliveryDetail{Delivery: deliveries(3)[2], Body: body, Tries: tries(), Curl: curl(), CanRedeliver: true}
	erased := view.DeliveryDetail{Delivery: deliveries(7)[6], Erased: true, EndpointGone: true}
	good := view.DeliveryDetail{Delivery: deliveries(1)[0], Body: body, Curl: curl(), CanRedeliver: true, Tries: []view.Attempt{
		{Number: 1, StartedAt: ago(3 * time.Second), Took: 88 * time.Millisecond, StatusCode: 200, OK: true, RequestHeaders: tries()[0].RequestHeaders},
	}}
	form := view.RedeliverForm{Endpoints: options(), Endpoint: "2", State: "failed", Period: view.Period{Choice: "custom", From: "2026-11-13T00:00", To: "2026-11-14T12:30"}}
	counted, nothing, wrong := form, form, form
	counted.Count, nothing.Count = ptr(int64(1284)), ptr(int64(0))
	wrong.Errors = view.Errors{"to": "“To” must lie after “From”."}
	running := view.Redelivery{ID: 4, Total: 1284, Done: 517, RequestedBy: "Anna Bērziņa", StartedAt: ago(40 * time.Second), States: []string{"failed"}, Event: "assignment.completed", Endpoint: "1", EndpointURL: "https://hr.baltic-freight.example/hooks/coursebridge", From: ptr(ago(36 * time.Hour)), To: ago(time.Minute)}
	finished := running
	finished.Done, finished.FinishedAt = 1284, ptr(now)
	at := "/cabinet/deliveries"
	return []sample{
		{"deliveries", view.DeliveriesPage(longShell(at), view.DeliveryList{Endpoints: options(), Deliveries: deliveries(50), Total: 10000, More: true, Live: true, Pager: view.Pager{Next: at + "?after=x"}})},
		{"deliveries-page-2", view.DeliveriesPage(shell(at), view.DeliveryList{Endpoints: options(), Deliveries: deliveries(3), Total: 53, Pager: view.Pager{Previous: at}, Filter: view.DeliveryFilter{State: "retrying", Period: view.Period{Choice: "custom", From: "2026-11-13T00:00"}}})},
		{"deliveries-none", view.DeliveriesPage(shell(at), view.DeliveryList{Live: true})},
		{"deliveries-filtered", view.DeliveriesPage(shell(at), view.DeliveryList{Endpoints: options(), Live: true, Filter: view.DeliveryFilter{Search: "asg-77", Period: view.Period{Choice: "custom", From: "2026-11-20T00:00", To: "2026-11-13T00:00"}, Errors: view.Errors{"to": "“To” must lie after “From”."}}})},
		{"delivery", view.DeliveryPage(longShell(at), retrying)},
		{"delivery-good", view.DeliveryPage(shell(at), good)},
		{"delivery-erased", view.DeliveryPage(shell(at), erased)},
		{"redeliver", view.RedeliverPage(shell(at), form)},
		{"redeliver-counted", view.RedeliverPage(shell(at), counted)},
		{"redeliver-nothing", view.RedeliverPage(shell(at), nothing)},
		{"redeliver-wrong", view.RedeliverPage(shell(at), wrong)},
		{"redelivery", view.RedeliveryPage(shell(at), running)},
		{"redelivery-done", view.RedeliveryPage(shell(at), finished)},
	}
}
