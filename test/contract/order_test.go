package contract_test

import (
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
)

// newRateLimitedSuite starts a program that allows each token two requests an hour.
func newRateLimitedSuite(t *testing.T, s *suite) *suite {
	t.Helper()
	o := apptest.Options{Serve: func(c *app.ServeConfig) { c.RateLimit, c.RateBurst = 1.0/3600, 2 }}
	if strings.HasPrefix(s.Database, "postgres") {
		o.Database = s.Database
	}
	return newSuite(t, apptest.Start(t, o), s.coverage)
}

// rateLimit uses up the requests of a token.
func rateLimit(t *testing.T, s *suite) {
	f := newRateLimitedSuite(t, s).newCompany(t)
	for _, a := range []*answer{
		f.withToken("").send(t, "GET", "/token", ""), f.withToken("cb_").send(t, "GET", "/token", ""), f.send(t, "GET", "/nothing", ""), f.send(t, "PUT", "/token", ""),
	} {
		if a.header.Get("RateLimit-Limit") != "2" || a.header.Get("RateLimit-Remaining") != "2" || a.header.Get("RateLimit-Reset") != "0" {
			t.Errorf("where no token is counted: %d %v", a.status, a.header)
		}
	}
	for left, want := range []string{"1", "0"} {
		a := f.send(t, "GET", "/token", "")
		if a.status != 200 || a.header.Get("RateLimit-Limit") != "2" || a.header.Get("RateLimit-Remaining") != want || a.header.Get("RateLimit-Reset") == "" {
			t.Errorf("request %d: %d %v", left+1, a.status, a.header)
		}
	}
	for _, op := range f.suite.public.Operations {
		a := f.sendExample(t, op)
		a.wantFailure(t, op.ID, 429, "rate_limited", "")
		if a.header.Get("Retry-After") == "" || a.header.Get("RateLimit-Limit") != "2" || a.header.Get("RateLimit-Remaining") != "0" || a.header.Get("RateLimit-Reset") == "" {
			t.Errorf("%s: %v", op.ID, a.header)
		}
	}
	other := f.withToken(f.createToken(t, "b2b_read"))
	if a := other.send(t, "GET", "/courses", ""); a.status != 200 {
		t.Errorf("another token of the company: %d %s", a.status, a.text)
	}
	if a := other.send(t, "GET", "/assignments/999999999999", ""); a.status != 404 || a.header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("an error has no rate limit headers: %d %v", a.status, a.header)
	}
}

// orderOfChecks checks the order in which a request is refused: 401, scope 403, 429,
// 400, 404 or company 403, 409.
func orderOfChecks(t *testing.T, s *suite) {
	f := newRateLimitedSuite(t, s).newCompany(t)
	reading := f.withToken(f.createToken(t, "b2b_read"))
	f.withToken("cb_").send(t, "POST", "/employees/provision", "{").wantFailure(t, "unknown before all", 401, "unauthorized", "")
	for range 3 {
		reading.send(t, "POST", "/employees/provision", "{").wantFailure(t, "scope before rate and body", 403, "insufficient_scope", "b2b_provision")
	}
	for range 2 {
		f.send(t, "POST", "/employees/provision", "{").wantFailure(t, "body", 400, "invalid_request", "")
	}
	f.send(t, "POST", "/employees/provision", "{").wantFailure(t, "rate before body", 429, "rate_limited", "")
	f.send(t, "GET", "/employees/nobody", "").wantFailure(t, "rate before existence", 429, "rate_limited", "")

	f, other := s.newCompany(t), s.newCompany(t)
	f.provision(t, "E1")
	f.assign(t, "E1", f.course, "A1")
	f.vars["theirs"] = other.vars["course"]
	f.sendRows(t, []row{
		{name: "body before path", do: "PATCH /employees/nobody", body: `{"tags":7}`, status: 400, code: "invalid_request", fields: "tags"},
		{name: "body before employee", do: "POST /assignments", body: `{"employeeExternalId":"nobody","courseId":0.5,"externalId":"A1"}`, status: 400, code: "invalid_request", fields: "courseId"},
		{name: "body before company", do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<theirs>,"externalId":"A9","deadline":"soon"}`, status: 400, code: "invalid_request", fields: "deadline"},
		{name: "employee before conflict", do: "POST /assignments", body: `{"employeeExternalId":"nobody","courseId":<course>,"externalId":"A1"}`, status: 404, code: "employee_not_found"},
		{name: "course before conflict", do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":999999999,"externalId":"A1"}`, status: 404, code: "course_not_found"},
		{name: "company before conflict", do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<theirs>,"externalId":"A1"}`, status: 403, code: "wrong_company"},
		{name: "conflict", do: "POST /assignments", body: `{"employeeExternalId":"E1","courseId":<exam>,"externalId":"A1"}`, status: 409, code: "idempotency_conflict", fields: "courseId"},
	})
}
