package view_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/coursebridge/coursebridge/internal/cabinet/snippets"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

var (
	now   = time.Date(2026, 11, 14, 10, 30, 5, 0, time.UTC)
	riga  = zone("Europe/Riga")
	clock = view.Clock{Now: now, Zone: riga}
)

const longName = "Vereinigte Nordostdeutsche Wasserwirtschafts- und Energieversorgungsgesellschaft mbH & Co. KG"

func zone(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return loc
}

func ago(d time.Duration) time.Time { return now.Add(-d) }

func ptr[T any](v T) *T { return &v }

// sample is a page with something on it.
type sample struct {
	name string
	page templ.Component
}

func shell(path string) view.Shell {
	return view.Shell{
		Clock: clock, Path: path, Company: "Baltic Freight",
		Person: view.Person{Name: "Anna Bērziņa", Email: "anna.berzina@baltic-freight.example"},
	}
}

// longShell has long names, every section and messages.
func longShell(path string) view.Shell {
	s := shell(path)
	s.Company, s.Companies = longName, []view.CompanyChoice{{ID: 1, Name: longName, Current: true}, {ID: 2, Name: "Baltic Freight"}}
	s.Person = view.Person{Email: "maximiliane.von-hohenstein-oberdorf@vereinigte-wasserwirtschaft.example"}
	s.Sections = view.Sections{Employees: true, Courses: true, Assignments: true, Reports: true}
	return s
}

func bare() view.Bare { return view.Bare{Clock: clock} }

// samples are all pages, with many rows, with none, with long names and with
// errors.
func samples() []sample {
	groups := [][]sample{
		signInSamples(), homeSamples(), courseSamples(), overviewSamples(), tokenSamples(), endpointSamples(), deliverySamples(),
		auditSamples(), settingsSamples(), accountSamples(), failureSamples(), peopleSamples(), reportSamples(),
	}
	var all []sample
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}

func signInSamples() []sample {
	several := view.Companies{List: []view.CompanyChoice{
		{ID: 1, Name: "Baltic Freight", Current: true}, {ID: 2, Name: longName}, {ID: 3, Name: "Ø"},
	}}
	return []sample{
		{"sign-in", view.SignInPage(bare(), view.SignIn{})},
		{"sign-in-wrong", view.SignInPage(bare(), view.SignIn{
			Email: "anna@baltic-freight.example", Problem: "The e-mail or the password is not right. Check both and try again.",
		})},
		{"sign-in-throttled", view.SignInPage(bare(), view.SignIn{
			Email: "anna@baltic-freight.example", RetryAt: ptr(now.Add(4 * time.Minute)),
		})},
		{"sign-in-code", view.SecondFactorPage(bare(), view.SecondFactor{})},
		{"sign-in-recovery", view.SecondFactorPage(bare(), view.SecondFactor{Recovery: true, Problem: "This code is not right, or was used before."})},
		{"enter", view.SetPasswordPage(bare(), view.SetPassword{
			Email: "anna@baltic-freight.example", Company: "Baltic Freight", New: true, Action: view.PathSignInLink("s3cret"),
			Errors: view.Errors{"password": "Use at least 12 characters."},
		})},
		{"enter-expired", view.SetPasswordPage(bare(), view.SetPassword{Expired: true})},
		{"signed-out", view.SignedOutPage(bare())},
		{"companies", view.CompaniesPage(bare(), several)},
	}
}

func overviewSamples() []sample {
	steps := []view.Step{
		{Kind: view.StepToken, Done: true, At: ptr(ago(26 * time.Hour))},
		{Kind: view.StepCall, Done: true, At: ptr(ago(25 * time.Hour))},
		{Kind: view.StepWebhook, Path: view.PathWebhookNew},
		{Kind: view.StepEvent},
	}
	fresh := []view.Step{
		{Kind: view.StepToken, Path: view.PathTokenNew},
		{Kind: view.StepCall, Path: view.PathDocs},
		{Kind: view.StepWebhook, Path: view.PathWebhookNew},
		{Kind: view.StepEvent},
	}
	done := view.Overview{
		Endpoints: endpoints(), Day: view.Health{Delivered: 18412, Retrying: 27, Failed: 3, Held: 140}, Chart: chart(),
	}
	withFlash := shell("/cabinet")
	withFlash.Flashes = []view.Flash{
		{Kind: view.FlashDone, Text: "The webhook was enabled. 140 held events wait to be redelivered."},
		{Kind: view.FlashProblem, Text: "The test event could not be sent. Try again in a moment."},
	}
	started := done
	started.Steps, started.Endpoints = steps, endpoints()[:1]
	return []sample{
		{"overview-new", view.OverviewPage(shell(view.PathOverview), view.Overview{Steps: fresh})},
		{"overview-started", view.OverviewPage(withFlash, started)},
		{"overview", view.OverviewPage(longShell(view.PathOverview), done)},
	}
}

func chart() *view.Chart {
	buckets := make([]view.Bucket, 7*24)
	for i := range buckets {
		from := now.Truncate(time.Hour).Add(time.Duration(i-len(buckets)+1) * time.Hour)
		busy := int64(max(0, 12-abs(from.Hour()-12)))
		buckets[i] = view.Bucket{From: from, Delivered: busy*busy*2 + int64(i*7%11)}
		if i > 120 && i < 131 {
			buckets[i].Failed = busy * 3
		}
	}
	return &view.Chart{Title: "Deliveries by hour, last 7 days", Buckets: buckets}
}

func abs(n int) int { return max(n, -n) }

func hours(scale int64) []view.Bucket {
	buckets := make([]view.Bucket, 24)
	for i := range buckets {
		buckets[i] = view.Bucket{From: ago(time.Duration(24-i) * time.Hour), Delivered: scale * int64(i*i%17)}
		if scale > 0 && i%9 == 4 {
			buckets[i].Failed = scale * 3
		}
	}
	return buckets
}

func failureSamples() []sample {
	return []sample{
		{"not-found", view.FailurePage(bare(), view.NotFound())},
		{"forbidden", view.FailurePage(bare(), view.Forbidden())},
		{"broken", view.FailurePage(bare(), view.Broken("01932f1e-7c1a-7f3e-9d34-6a1f0c2b9e77"))},
		{"docs", view.DocsPage(view.Docs{SpecURL: "/api/v1/openapi.json", SignedIn: true})},
	}
}

func auditSamples() []sample {
	entries := []view.AuditEntry{
		{ID: 9, At: ago(20 * time.Second), ActorKind: "person", Actor: "Anna Bērziņa", Action: "token.created", RecordKind: "token", Record: "HR sync, production", RecordPath: view.PathToken(7), Detail: "Scopes read and provision, expires 14 Dec 2026.", RequestID: "01932f1e-7c1a-7f3e-9d34-6a1f0c2b9e77", Address: "203.0.113.7"},
		{ID: 8, At: ago(3 * time.Hour), ActorKind: "token", Actor: "HR sync, production with a rather long name that goes on", Action: "employee.offboarded", RecordKind: "employee", Record: "emp-00412", Detail: "2 assignments revoked.", RequestID: "hr-7781", Address: "2001:0db8:85a3:0000:0000:8a2e:0370:7334"},
		{ID: 7, At: ago(9 * 24 * time.Hour), ActorKind: "operator", Actor: "command line", Action: "company.created", RecordKind: "company", Record: "Baltic Freight"},
		{ID: 6, At: ago(10 * 24 * time.Hour), ActorKind: "system", Actor: "", Action: "endpoint.disabled", RecordKind: "endpoint", Record: "hr.example.com/hooks/coursebridge", RecordPath: view.PathWebhook(1), Detail: "Only failures for 5 days."},
	}
	var many []view.AuditEntry
	for i := range 40 {
		e := entries[i%len(entries)]
		e.ID = int64(100 - i)
		many = append(many, e)
	}
	actions := []view.Option{{Value: "token.created", Label: "Token created"}, {Value: "token.revoked", Label: "Token revoked"}}
	return []sample{
		{"audit", view.AuditPage(longShell("/cabinet/audit"), view.AuditList{Actions: actions, Entries: many, Total: 48211, Pager: view.Pager{Next: "/cabinet/audit?after=x"}})},
		{"audit-none", view.AuditPage(shell("/cabinet/audit"), view.AuditList{Actions: actions})},
		{"audit-filtered", view.AuditPage(shell("/cabinet/audit"), view.AuditList{Actions: actions, Filter: view.AuditFilter{
			Action: "token.revoked", Errors: view.Errors{"to": "“To” must lie after “From”."},
		}})},
	}
}

func programs() []view.Snippet {
	var out []view.Snippet
	for _, s := range snippets.All {
		out = append(out, view.Snippet{ID: s.ID, Label: s.Label, Code: s.Code()})
	}
	return out
}

const body = `{"event":"assignment.completed","companyId":12,"occurredAt":"2026-11-14T10:29:58.113+00:00","data":{"id":90412,"externalId":"asg-2026-000412","employeeExternalId":"emp-00412","employeeEmail":"janis@baltic-freight.example","courseId":31,"courseName":"Fire safety & <evacuation>","status":"completed","statusCategory":"completed","isOverdue":false,"completionPercent":100,"score":92.5,"numberOfAttempts":1,"isRequired":true,"assignedAt":"2026-11-01T08:00:00+00:00","deadline":"2026-12-01T08:00:00+00:00","startedAt":"2026-11-14T09:12:40.002+00:00","completedAt":"2026-11-14T10:29:58.113+00:00","lastActivityAt":"2026-11-14T10:29:58.113+00:00"}}`

func curl() string {
	return strings.Join([]string{
		"curl -X POST https://hr.baltic-freight.example/hooks/coursebridge \\",
		"  -H 'Content-Type: application/json' \\",
		"  -H 'X-Service-Event: assignment.completed' \\",
		"  -H 'X-Service-Signature: sha256=6a1f0c2b9e776a1f0c2b9e776a1f0c2b9e776a1f0c2b9e776a1f0c2b9e776a1f' \\",
		fmt.Sprintf("  --data-binary '%s'", body),
	}, "\n")
}
