package platformapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/coursebridge/coursebridge/api"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/platformapi"
)

// fake is a service that records its calls and returns the values of its fields.
type fake struct {
	called    []any
	by        domain.Actor
	err       error
	status    string
	companies domain.Page[domain.Company]
	record    func([]domain.ActivityItem) []domain.ActivityResult
	wait      bool // until the request's time is up
}

func (f *fake) AuthenticatePlatform(_ context.Context, bearer string) (domain.PlatformToken, error) {
	switch bearer {
	case "platform":
		return domain.PlatformToken{ID: 9, Name: "LMS"}, nil
	case "broken":
		return domain.PlatformToken{}, errors.New("database is gone")
	}
	return domain.PlatformToken{}, domain.ErrUnauthorized
}

func (f *fake) note(by domain.Actor, args ...any) error {
	f.by, f.called = by, args
	return f.err
}

func (f *fake) RecordActivities(ctx context.Context, by domain.Actor, items []domain.ActivityItem) ([]domain.ActivityResult, error) {
	err := f.note(by, items)
	if f.wait {
		<-ctx.Done()
		return nil, errors.New("conn closed")
	}
	return f.record(items), err
}

func (f *fake) PutCourse(_ context.Context, by domain.Actor, c domain.Course) (int64, string, error) {
	return 310, f.status, f.note(by, c)
}

func (f *fake) GrantCourse(_ context.Context, by domain.Actor, course string, company int64) (int64, error) {
	return 310, f.note(by, "grant", course, company)
}

func (f *fake) WithdrawCourse(_ context.Context, by domain.Actor, course string, company int64) (int64, error) {
	return 310, f.note(by, "withdraw", course, company)
}

func (f *fake) Companies(_ context.Context, p domain.PageRequest) (domain.Page[domain.Company], error) {
	return f.companies, f.note(domain.Actor{}, p)
}

func (f *fake) ask(t *testing.T, token, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	h := platformapi.New(f, platformapi.Options{})
	r := httptest.NewRequest(method, "/platform/v1"+path, strings.NewReader(body))
	r.Header.Set("X-Request-Id", "p-1")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

func success(t *testing.T, rec *httptest.ResponseRecorder, data string) {
	t.Helper()
	if want := `{"result":"success","data":` + data + `}`; rec.Code != 200 || rec.Body.String() != want {
		t.Errorf("got %d %s\nwant %s", rec.Code, rec.Body, want)
	}
}

func failure(t *testing.T, rec *httptest.ResponseRecorder, status int, code, fields string) {
	t.Helper()
	var f struct {
		Result, Code, Message string
		Fields                []domain.FieldError
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &f); err != nil {
		t.Fatalf("%d %s: %v", rec.Code, rec.Body, err)
	}
	var names []string
	for _, field := range f.Fields {
		names = append(names, field.Field)
	}
	if rec.Code != status || f.Result != "error" || f.Message == "" || f.Code != code || strings.Join(names, " ") != fields {
		t.Errorf("got %d %s, want %d %s %q", rec.Code, rec.Body, status, code, fields)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		token, method, path string
		status              int
		code                string
	}{
		{"", "GET", "/nothing", 404, "not_found"},
		{"", "GET", "", 404, "not_found"},
		{"", "PUT", "/courses/", 404, "not_found"},
		{"", "PUT", "/courses//companies/7", 404, "not_found"},
		{"", "GET", "/activities", 405, "method_not_allowed"},
		{"", "GET", "/companies?page=x", 401, "unauthorized"},
		{"cb_company", "GET", "/companies?page=x", 401, "unauthorized"},
		{"broken", "GET", "/companies?page=x", 500, "internal"},
		{"platform", "GET", "/companies?page=%zz", 400, "invalid_request"},
		{"platform", "GET", "/companies", 503, "unavailable"},
	} {
		rec := (&fake{err: domain.Errorf(domain.CodeUnavailable, "Later.")}).ask(t, c.token, c.method, c.path, "")
		failure(t, rec, c.status, c.code, "")
	}
	none, wrong := (&fake{}).ask(t, "", "GET", "/companies", ""), (&fake{}).ask(t, "x", "GET", "/companies", "")
	if none.Body.String() != wrong.Body.String() || none.Header().Get("WWW-Authenticate") != "Bearer" || !strings.Contains(none.Body.String(), "platform token") {
		t.Errorf("%s and %s", none.Body, wrong.Body)
	}
	if rec := (&fake{}).ask(t, "", "PATCH", "/courses/a/companies/7", ""); rec.Header().Get("Allow") != "DELETE, PUT" {
		t.Errorf("Allow %q", rec.Header().Get("Allow"))
	}
}

func TestRequestsHaveADeadline(t *testing.T) {
	t.Parallel()
	f := &fake{record: func([]domain.ActivityItem) []domain.ActivityResult { return nil }, wait: true}
	h := platformapi.New(f, platformapi.Options{Timeout: 10 * time.Millisecond})
	r := httptest.NewRequest(http.MethodPost, "/platform/v1/activities", strings.NewReader(`{"items":[]}`))
	r.Header.Set("Authorization", "Bearer platform")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	failure(t, rec, 503, "unavailable", "")
	if rec.Header().Get("Retry-After") != "2" {
		t.Errorf("Retry-After is %q", rec.Header().Get("Retry-After"))
	}
}

func TestActivities(t *testing.T) {
	t.Parallel()
	f := &fake{record: func(items []domain.ActivityItem) []domain.ActivityResult {
		out := make([]domain.ActivityResult, len(items))
		for i, item := range items {
			out[i] = domain.ActivityResult{Status: domain.StatusStarted, Err: item.Err}
		}
		out[2].Err = domain.ErrAssignmentNotFound
		return out
	}}
	rec := f.ask(t, "platform", "POST", "/activities", `{"items":[
		{"id":"a-1","assignmentId":88120,"type":"started","occurredAt":"2026-11-16T08:05:12Z"},
		{"id":"a-2","assignmentId":88120,"type":"attempt_finished","completionPercent":66.67,"score":92},
		{"id":"a-3","assignmentId":1,"type":"started"},
		[],
		{"id":"\ud800","assignmentId":88120,"type":"started"},
		{"id":7,"assignmentId":"x","type":null,"occurredAt":"now","completionPercent":101,"score":"92"}]}`)
	success(t, rec, `{"results":[{"index":0,"ok":true,"status":"started"},{"index":1,"ok":true,"status":"started"},`+
		`{"index":2,"ok":false,"code":"assignment_not_found","message":"There is no assignment with this id or externalId. The list of assignments has those of the company."},`+
		`{"index":3,"ok":false,"code":"invalid_request","message":"The item must be a JSON object, not an array."},`+
		`{"index":4,"ok":false,"code":"invalid_request","message":"id: must not contain half of a surrogate pair; send both halves or the character itself"},`+
		`{"index":5,"ok":false,"code":"invalid_request","message":"id: must be a string, not a number; assignmentId: must be an integer, not a string; `+
		`type: must be a string, not null; completionPercent: must be a number from 0 to 100; score: must be a number, not a string; `+
		`occurredAt: must be a date-time with a zone, such as 2026-11-14T09:30:00Z or 2026-11-14T12:30:00+03:00"}]}`)
	percent, score := domain.Points(66_67), domain.Points(92_00)
	want := []domain.ActivityItem{
		{Activity: domain.Activity{ID: "a-1", AssignmentID: 88120, Type: domain.ActivityStarted, OccurredAt: time.Date(2026, 11, 16, 8, 5, 12, 0, time.UTC)}},
		{Activity: domain.Activity{ID: "a-2", AssignmentID: 88120, Type: domain.ActivityAttemptFinished, Percent: &percent, Score: &score}},
	}
	if diff := cmp.Diff(want, f.called[0].([]domain.ActivityItem)[:2], cmpopts.EquateErrors()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	by := domain.Actor{Kind: domain.ActorPlatform, ID: 9, Label: "LMS", RequestID: "p-1", Address: "192.0.2.1"}
	if diff := cmp.Diff(by, f.by); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestActivitiesRefuse(t *testing.T) {
	t.Parallel()
	f := &fake{record: func(items []domain.ActivityItem) []domain.ActivityResult {
		return make([]domain.ActivityResult, len(items))
	}}
	many := func(n int) string { return `{"items":[` + strings.TrimSuffix(strings.Repeat(`{},`, n), ",") + `]}` }
	if rec := f.ask(t, "platform", "POST", "/activities", many(1000)); rec.Code != 200 {
		t.Errorf("1000 items: %d", rec.Code)
	}
	f.called = nil
	for body, fields := range map[string]string{
		many(1001): "items", `{}`: "items", `{"items":null}`: "items", `{"items":{}}`: "items", ``: "", `[]`: "", `{"items":[}`: "",
	} {
		failure(t, f.ask(t, "platform", "POST", "/activities", body), 400, "invalid_request", fields)
	}
	failure(t, f.ask(t, "platform", "POST", "/activities", strings.Repeat(" ", 1<<20+1)), 413, "payload_too_large", "")
	if f.called != nil {
		t.Error("the service was asked for something")
	}
	f.record = func([]domain.ActivityItem) []domain.ActivityResult { return nil }
	failure(t, f.ask(t, "platform", "POST", "/activities", many(2)), 500, "internal", "")
}

func TestPutCourse(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]domain.Course{
		`{"name":"Forklift"}`: {ExternalID: "a/b", Name: "Forklift", PassMark: 80_00, AllowedAttempts: 3, Modules: []string{}},
		`{"name":"Forklift","isAssessment":true,"passMark":0,"attempts":0,"modules":["One","Two"]}`: {
			ExternalID: "a/b", Name: "Forklift", IsAssessment: true, Modules: []string{"One", "Two"},
		},
	} {
		f := &fake{status: "unchanged"}
		success(t, f.ask(t, "platform", "PUT", "/courses/a%2Fb", body), `{"courseId":310,"status":"unchanged"}`)
		if diff := cmp.Diff([]any{want}, f.called); diff != "" {
			t.Errorf("%s: -want +got:\n%s", body, diff)
		}
	}
	for body, fields := range map[string]string{
		``: "", `{}`: "name", `{"name":null,"isAssessment":null,"passMark":null,"attempts":null,"modules":null}`: "name isAssessment passMark attempts modules",
		`{"name":"x","passMark":100.001}`: "passMark", `{"name":"x","attempts":1.5}`: "attempts", `{"name":"x","modules":["a",1]}`: "modules[1]",
		`{"name":"","passMark":-1,"attempts":1001}`: "passMark name attempts",
	} {
		failure(t, (&fake{}).ask(t, "platform", "PUT", "/courses/a", body), 400, "invalid_request", fields)
	}
	failure(t, (&fake{}).ask(t, "platform", "PUT", "/courses/%FF", `{"name":"x"}`), 400, "invalid_request", "externalId")
}

func TestGrants(t *testing.T) {
	t.Parallel()
	f := &fake{}
	success(t, f.ask(t, "platform", "PUT", "/courses/a%2Fb/companies/12", ""), `{"courseId":310,"companyId":12,"granted":true}`)
	if diff := cmp.Diff([]any{"grant", "a/b", int64(12)}, f.called); diff != "" {
		t.Error(diff)
	}
	success(t, f.ask(t, "platform", "DELETE", "/courses/a/companies/12", "ignored"), `{"courseId":310,"companyId":12,"granted":false}`)
	if diff := cmp.Diff([]any{"withdraw", "a", int64(12)}, f.called); diff != "" {
		t.Error(diff)
	}
	failure(t, f.ask(t, "platform", "PUT", "/courses/%00/companies/x", ""), 400, "invalid_request", "externalId companyId")
	f.err = domain.ErrCompanyNotFound(99)
	failure(t, f.ask(t, "platform", "PUT", "/courses/a/companies/99", ""), 404, "company_not_found", "")
}

func TestCompanies(t *testing.T) {
	t.Parallel()
	then := time.Now()
	f := &fake{companies: domain.Page[domain.Company]{Total: 5, More: true, Items: []domain.Company{
		{ID: 12, Name: "Northwind", TimeZone: "Europe/Warsaw"}, {ID: 15, Name: "Harbour", TimeZone: "UTC", SuspendedAt: &then},
	}}}
	rec := f.ask(t, "platform", "GET", "/companies?page=2&limit=2", "")
	success(t, rec, `{"items":[{"id":12,"name":"Northwind","timeZone":"Europe/Warsaw","suspended":false},`+
		`{"id":15,"name":"Harbour","timeZone":"UTC","suspended":true}],"pagination":{"page":2,"limit":2,"total":5,"pages":3}}`)
	if diff := cmp.Diff([]any{domain.PageRequest{Number: 2, Limit: 2}}, f.called); diff != "" {
		t.Error(diff)
	}
	failure(t, f.ask(t, "platform", "GET", "/companies?page=0&limit=501", ""), 400, "invalid_request", "page limit")
	failure(t, f.ask(t, "platform", "GET", "/companies?limit=1&limit=2", ""), 400, "invalid_request", "limit")
}

// The log and the metrics know every operation by its pattern.
func TestInfoHasTheRoute(t *testing.T) {
	t.Parallel()
	h := platformapi.New(&fake{}, platformapi.Options{})
	for _, c := range []struct{ method, path, route string }{
		{"POST", "/activities", "/activities"},
		{"PUT", "/courses/x", "/courses/{externalId}"},
		{"PUT", "/courses/x/companies/1", "/courses/{externalId}/companies/{companyId}"},
		{"DELETE", "/courses/x/companies/1", "/courses/{externalId}/companies/{companyId}"},
		{"GET", "/companies", "/companies"},
		{"GET", "/openapi.json", "/openapi.json"},
	} {
		rec := httptest.NewRecorder()
		r := httpapi.WithInfo(rec, httptest.NewRequest(c.method, "/platform/v1"+c.path, nil))
		h.ServeHTTP(rec, r)
		if got := httpapi.InfoFrom(r.Context()).Route; got != "/platform/v1"+c.route {
			t.Errorf("%s %s: route %q", c.method, c.path, got)
		}
	}
}

func TestServesItsContract(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]byte{"/openapi.json": api.PlatformJSON(), "/openapi.yaml": api.PlatformYAML()} {
		if rec := (&fake{}).ask(t, "", http.MethodGet, path, ""); rec.Code != 200 || !bytes.Equal(rec.Body.Bytes(), want) {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
}
