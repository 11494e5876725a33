package publicapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi"
)

// exhaustedLimiter refuses every request and sets the headers of an exhausted limit.
type exhaustedLimiter struct{}

func (exhaustedLimiter) Admit(answer http.Header, _, _ int64) error {
	answer.Set("RateLimit-Remaining", "0")
	return httpapi.WithRetryAfter(domain.Errorf(domain.CodeRateLimited, "Slow down."), 3e9)
}

func (exhaustedLimiter) Full(answer http.Header) { answer.Set("RateLimit-Remaining", "100") }

// An answer to a request without a valid token has the headers of a full limit.
func TestRateLimitHeadersOnEveryAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		token, method, path string
		status              int
		want                string
	}{
		{"", "GET", "/courses", 401, "100"},
		{"nobody", "GET", "/courses", 401, "100"},
		{"suspended", "GET", "/courses", 403, "100"},
		{allToken, "GET", "/nothing", 404, "100"},
		{allToken, "GET", "/employees/", 404, "100"},
		{allToken, "PUT", "/courses", 405, "100"},
		{"", "GET", "/openapi.json", 200, "100"},
		{"", "GET", "/openapi.yaml", 200, "100"},
		{"", "PUT", "/openapi.json", 405, "100"},
		{allToken, "GET", "/courses", 429, "0"},
	} {
		for limiter, want := range map[publicapi.Limiter]string{nil: "", exhaustedLimiter{}: c.want} {
			rec := newAPI(t, &fake{}, publicapi.Options{Limiter: limiter}).ask(c.token, c.method, c.path, "")
			if got := rec.Header().Get("RateLimit-Remaining"); got != want || limiter != nil && rec.Code != c.status {
				t.Errorf("%s %s with %q: %d, remaining %q, want %q", c.method, c.path, c.token, rec.Code, got, want)
			}
		}
	}
}

// The order of the checks is promised: each row fails in its own way and in all
// the ways of the rows after it.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	limited := publicapi.Options{Limiter: exhaustedLimiter{}}
	for _, c := range []struct {
		name, token, method, path, body string
		opts                            publicapi.Options
		err                             error
		status                          int
		code                            string
	}{
		{"unknown path before token", "", "POST", "/nothing", "x", limited, domain.ErrCourseNotFound, 404, "not_found"},
		{"wrong method before token", "", "PUT", "/assignments", "x", limited, domain.ErrCourseNotFound, 405, "method_not_allowed"},
		{"no token", "", "POST", "/assignments?a=%zz", "x", limited, domain.ErrCourseNotFound, 401, "unauthorized"},
		{"wrong token", "nobody", "POST", "/assignments?a=%zz", "x", limited, domain.ErrCourseNotFound, 401, "unauthorized"},
		{"suspended", "suspended", "POST", "/assignments?a=%zz", "x", limited, domain.ErrCourseNotFound, 403, "company_suspended"},
		{"from elsewhere", "elsewhere", "POST", "/assignments?a=%zz", "x", limited, domain.ErrCourseNotFound, 403, "address_not_allowed"},
		{"missing scope", readToken, "POST", "/assignments?a=%zz", "x", limited, domain.ErrCourseNotFound, 403, "insufficient_scope"},
		{"too fast", writeToken, "POST", "/assignments?a=%zz", "x", limited, domain.ErrCourseNotFound, 429, "rate_limited"},
		{"bad query", writeToken, "POST", "/assignments?a=%zz", "x", publicapi.Options{}, domain.ErrCourseNotFound, 400, "invalid_request"},
		{"bad body", writeToken, "POST", "/assignments", "x", publicapi.Options{}, domain.ErrCourseNotFound, 400, "invalid_request"},
		{"not there", writeToken, "POST", "/assignments", validAssignment, publicapi.Options{}, domain.ErrCourseNotFound, 404, "course_not_found"},
		{"conflict", writeToken, "POST", "/assignments", validAssignment, publicapi.Options{}, domain.Errorf(domain.CodeConflict, "No."), 409, "idempotency_conflict"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rec := newAPI(t, &fake{err: c.err}, c.opts).ask(c.token, c.method, c.path, c.body)
			if f := failureOf(t, rec); rec.Code != c.status || f.Code != c.code {
				t.Errorf("got %d %s, want %d %s", rec.Code, f.Code, c.status, c.code)
			}
		})
	}
}

const validAssignment = `{"employeeExternalId":"HR-1","courseId":310,"externalId":"A-1"}`

func TestScopes(t *testing.T) {
	t.Parallel()
	f := &fake{provision: domain.ProvisionFound}
	h := newAPI(t, f, publicapi.Options{})
	for _, c := range []struct{ method, path, body, scope string }{
		{"POST", "/employees/provision", `{"externalId":"a","email":"a@b.c","name":"A"}`, "b2b_provision"},
		{"PATCH", "/employees/a", `{}`, "b2b_provision"},
		{"DELETE", "/employees/a", "", "b2b_provision"},
		{"POST", "/assignments", validAssignment, "b2b_assignment"},
		{"POST", "/assignments/bulk", `{"items":[]}`, "b2b_assignment"},
		{"DELETE", "/assignments/7", "", "b2b_assignment"},
		{"GET", "/employees", "", "b2b_read"},
		{"GET", "/employees/a", "", "b2b_read"},
		{"GET", "/courses", "", "b2b_read"},
		{"GET", "/assignments", "", "b2b_read"},
		{"GET", "/assignments/7", "", "b2b_read"},
		{"GET", "/assignments/7/progress", "", "b2b_read"},
		{"GET", "/assignments/7/results", "", "b2b_read"},
		{"GET", "/assignments/by-external-id/a", "", "b2b_read"},
		{"GET", "/assignments/by-external-id/a/progress", "", "b2b_read"},
		{"GET", "/assignments/by-external-id/a/results", "", "b2b_read"},
		{"GET", "/reports/assignments.csv", "", "b2b_read"},
	} {
		f.bulk = func([]domain.BulkItem) []domain.BulkResult { return nil }
		rec := h.ask(bareToken, c.method, c.path, c.body)
		want := "The token lacks the scope " + c.scope + ". Create a token with it in the business cabinet under Integrations, Tokens."
		if got := failureOf(t, rec); rec.Code != 403 || got.Message != want {
			t.Errorf("%s %s without scope: %d %s", c.method, c.path, rec.Code, got.Message)
		}
		if rec := h.ask(allToken, c.method, c.path, c.body); rec.Code != 200 {
			t.Errorf("%s %s with scope: %d %s", c.method, c.path, rec.Code, rec.Body)
		}
	}
	if rec := h.ask(bareToken, "GET", "/token", ""); rec.Code != 200 {
		t.Errorf("GET /token: %d", rec.Code)
	}
}

func TestUnauthorizedAnswersAreEqual(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{})
	first := h.ask("", "GET", "/courses", "")
	for _, header := range []string{"Bearer", "Bearer ", "Bearer  all", "Basic YWxs", "all", "Bearer nobody", "bearer\tall", "Token all"} {
		r := h.ask("", "GET", "/courses", "")
		if header != "" {
			r = withHeader(h, "Authorization", header)
		}
		if r.Code != 401 || r.Header().Get("WWW-Authenticate") != "Bearer" || r.Body.String() != first.Body.String() {
			t.Errorf("%q: %d %v %s", header, r.Code, r.Header(), r.Body)
		}
	}
	if r := withHeader(h, "Authorization", "bEARER all"); r.Code != 200 {
		t.Errorf("the scheme's case matters: %d", r.Code)
	}
}

func TestRateHeadersAndRetryAfter(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{Limiter: exhaustedLimiter{}})
	for token, status := range map[string]int{readToken: 429, bareToken: 403} {
		rec := h.ask(token, "GET", "/courses", "")
		if rec.Code != status || rec.Header().Get("RateLimit-Remaining") != "0" {
			t.Errorf("%s: %d %v", token, rec.Code, rec.Header())
		}
		if want := map[int]string{429: "3", 403: ""}[status]; rec.Header().Get("Retry-After") != want {
			t.Errorf("%s: Retry-After %q", token, rec.Header().Get("Retry-After"))
		}
	}
}

func TestUnexpectedFailuresLeakNothing(t *testing.T) {
	t.Parallel()
	f := &fake{err: errors.New("pq: password authentication failed for 10.0.0.7")}
	h := newAPI(t, f, publicapi.Options{})
	for _, token := range []string{allToken, "broken"} {
		r := withHeaders(h, map[string]string{"Authorization": "Bearer " + token, "X-Request-Id": "hr-7"})
		got := failureOf(t, r)
		want := failure{"error", "internal", "Something unexpected failed. If it happens again, report the request id hr-7.", nil}
		if diff := cmp.Diff(want, got); r.Code != 500 || diff != "" {
			t.Errorf("%d -want +got:\n%s", r.Code, diff)
		}
	}
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{err: domain.Errorf(domain.CodeUnavailable, "Later.")}, publicapi.Options{})
	rec := h.ask(allToken, "GET", "/courses", "")
	if rec.Code != 503 || rec.Header().Get("Retry-After") != "2" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
}

// A request that takes too long is answered, whatever the error is that the
// interrupted layer makes of it. Errors of the domain stay what they are.
func TestRequestsHaveADeadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{context.DeadlineExceeded, 503, "unavailable"},
		{errors.New("conn closed"), 503, "unavailable"},
		{domain.ErrCourseNotFound, 404, "course_not_found"},
		{nil, 200, ""},
	} {
		f := &fake{err: c.err, onCall: func(ctx context.Context) { <-ctx.Done() }}
		h := newAPI(t, f, publicapi.Options{Timeout: 10 * time.Millisecond})
		rec := h.ask(allToken, "GET", "/courses", "")
		if rec.Code != c.status || c.status != 200 && failureOf(t, rec).Code != c.code || (rec.Header().Get("Retry-After") == "2") != (c.status == 503) {
			t.Errorf("%v: got %d %v %s, want %d %s", c.err, rec.Code, rec.Header(), rec.Body, c.status, c.code)
		}
	}
}

// Reports take as long as they take; the service limits them.
func TestReportsHaveNoDeadlineOfTheAPI(t *testing.T) {
	t.Parallel()
	rec := newAPI(t, &fake{}, publicapi.Options{Timeout: 1}).ask(allToken, "GET", "/reports/assignments.csv", "")
	if rec.Code != 200 {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
}

func TestCallerComesFromTheToken(t *testing.T) {
	t.Parallel()
	f := &fake{}
	withHeaders(newAPI(t, f, publicapi.Options{}), map[string]string{"Authorization": "Bearer read", "X-Request-Id": "hr-7"})
	want := domain.Caller{
		Company: domain.Company{ID: 12, Name: "Northwind"},
		Actor:   domain.Actor{Kind: domain.ActorToken, ID: 1, Label: "HR sync", RequestID: "hr-7", Address: "192.0.2.1"},
	}
	if diff := cmp.Diff(want, f.caller); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReportsAreCheckedLikeOperations(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{})
	if rec := h.ask(allToken, "GET", "/reports/assignments.csv", ""); rec.Code != 200 || rec.Body.String() != "id\r\n" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	rec := h.ask(allToken, "GET", "/reports/employees.csv", "")
	if f := failureOf(t, rec); rec.Code != 429 || f.Code != "too_many_reports" || rec.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
}

func TestMessagesLeakNoInternals(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{})
	for _, path := range []string{"/employees?page=1&page=2", "/employees?tag=%zz", "/nothing", "/employees?after=x"} {
		body := h.ask(allToken, "GET", path, "").Body.String()
		for _, word := range []string{"operation", "decode", "jx", "strconv", "URL escape", ".go"} {
			if strings.Contains(body, word) {
				t.Errorf("%s: %s", path, body)
			}
		}
	}
}
