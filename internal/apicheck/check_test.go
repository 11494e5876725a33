package apicheck_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

const (
	validEmployee = `"id":1,"externalId":"E","email":"a@b.c","name":"A","role":"employee","tags":[],"joinedAt":"2026-11-14T09:30:00.5+00:00"`
	validProgress = `"id":1,"completionPercent":33.33,"lastActivityAt":"2026-11-14T09:30:00+00:00","status":"started","statusCategory":"in_progress","isOverdue":false`
)

// The schemas that answers are validated against must find wrong answers.
func TestSchemasFindWrongBodies(t *testing.T) {
	t.Parallel()
	public, _, err := apicheck.Documents()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		schema, body string
		sound        bool
	}{
		{"EmployeeWithAssignments", `{` + validEmployee + `,"assignments":[]}`, true},
		{"EmployeeWithAssignments", `{` + validEmployee + `,"assignments":[],"extra":1}`, false},
		{"EmployeeWithAssignments", `{` + validEmployee + `}`, false},
		{"Employee", `{` + validEmployee + `}`, true},
		{"Employee", `{` + validEmployee + `,"assignments":[]}`, false},
		{"Employee", strings.Replace(`{`+validEmployee+`}`, `.5+00:00`, `Z`, 1), false},
		{"Employee", strings.Replace(`{`+validEmployee+`}`, `.5+00:00`, `.0005+00:00`, 1), false},
		{"Employee", strings.Replace(`{`+validEmployee+`}`, `"employee"`, `"boss"`, 1), false},
		{"Employee", strings.Replace(`{`+validEmployee+`}`, `[]`, `null`, 1), false},
		{"ProgressResponse", `{"result":"success","data":{` + validProgress + `}}`, true},
		{"ProgressResponse", `{"result":"success","data":{` + validProgress + `},"extra":1}`, false},
		{"ProgressResponse", `{"result":"error","data":{` + validProgress + `}}`, false},
		{"ProgressResponse", strings.Replace(`{"result":"success","data":{`+validProgress+`}}`, `33.33`, `33.333`, 1), false},
		{"ProgressResponse", strings.Replace(`{"result":"success","data":{`+validProgress+`}}`, `33.33`, `"33.33"`, 1), false},
		{"EmployeeUpdateResponse", `{"result":"success","data":{"externalId":"E","status":"offboarded"}}`, true},
		{"EmployeeUpdateResponse", `{"result":"success","data":{"externalId":"E","status":"offboarded","id":1}}`, false},
		{"BulkResult", `{"index":0,"ok":false,"status":"error","code":"invalid_request","message":"m"}`, true},
		{"BulkResult", `{"index":0,"ok":false,"status":"error","code":"invalid_request","message":"m","assignmentId":1}`, false},
		{"ErrorResponse", `{"result":"error","message":"m","code":"invalid_request","fields":[{"field":"a","message":"b"}]}`, true},
		{"ErrorResponse", `{"result":"error","message":"m","code":"unheard_of"}`, false},
		{"ErrorResponse", `{"result":"error","message":"m"}`, false},
	} {
		schema, err := public.Compile("components", "schemas", c.schema)
		if err != nil {
			t.Fatal(err)
		}
		body, err := jsonschema.UnmarshalJSON(strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(body); (err == nil) != c.sound {
			t.Errorf("%s %s: %v", c.schema, c.body, err)
		}
	}
}

func TestFindOperation(t *testing.T) {
	t.Parallel()
	public, _, err := apicheck.Documents()
	if err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]string{
		"GET /employees":                                "listEmployees",
		"GET /employees?limit=1":                        "listEmployees",
		"POST /employees/provision":                     "provisionEmployee",
		"GET /employees/provision":                      "getEmployee",
		"GET /assignments/bulk":                         "",
		"POST /assignments/bulk":                        "createAssignmentsBulk",
		"GET /assignments/7/progress":                   "getAssignmentProgress",
		"GET /assignments/by-external-id/progress":      "getAssignmentByExternalId",
		"GET /assignments/by-external-id/a%2Fb/results": "getAssignmentResultsByExternalId",
		"GET /employees/a/b":                            "",
		"GET /employees/":                               "",
		"PUT /employees":                                "",
	} {
		method, path, _ := strings.Cut(request, " ")
		got := ""
		if op := public.Find(method, path); op != nil {
			got = op.ID
		}
		if got != want {
			t.Errorf("%s is %q, want %q", request, got, want)
		}
	}
}

// recorder keeps what is reported to a test.
type recorder struct {
	testing.TB
	reported []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.reported = append(r.reported, fmt.Sprintf(format, args...))
}

// answers is a server that answers every request alike.
type answers struct {
	status int
	header map[string]string
	body   string
}

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body))}
	for name, value := range a.header {
		resp.Header.Set(name, value)
	}
	return resp, nil
}

func TestTransportReportsWhatTheDocumentsDoNotDeclare(t *testing.T) {
	t.Parallel()
	ours := map[string]string{
		"X-Request-Id": "1", "Content-Type": "application/json; charset=utf-8",
		"RateLimit-Limit": "1", "RateLimit-Remaining": "1", "RateLimit-Reset": "1",
	}
	const unknown = `{"result":"error","message":"m","code":"employee_not_found"}`
	for _, c := range []struct {
		request string
		answer  answers
		problem string
	}{
		{"GET /api/v1/employees/E", answers{404, ours, unknown}, ""},
		{"GET /api/v1/employees/E", answers{404, ours, `{"result":"error"}`}, "missing"},
		{"GET /api/v1/employees/E", answers{418, ours, unknown}, "declares no 418"},
		{"GET /api/v1/employees/E", answers{404, map[string]string{"Content-Type": "application/json"}, unknown}, "no X-Request-Id"},
		{"GET /api/v1/nothing", answers{404, ours, `{}`}, "missing"},
		{"GET /api/v1/openapi.json", answers{200, ours, `{}`}, ""},
		{"GET /cabinet/nothing", answers{404, ours, `{}`}, ""},
		{"GET /api/v1/employees/E", answers{503, map[string]string{"Content-Type": "text/html"}, "by a proxy"}, ""},
		{"PUT /platform/v1/courses/X", answers{200, ours, `{"result":"success","data":{}}`}, "missing"},
	} {
		tb := &recorder{TB: t}
		method, path, _ := strings.Cut(c.request, " ")
		resp, err := apicheck.NewTransport(tb, c.answer).RoundTrip(&http.Request{Method: method, URL: &url.URL{Path: path}})
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); string(text) != c.answer.body || err != nil {
			t.Errorf("%s: the client got %q, %v", c.request, text, err)
		}
		all := strings.Join(tb.reported, "\n")
		if (all != "") != (c.problem != "") || !strings.Contains(all, c.problem) {
			t.Errorf("%s with %+v: reported %q, want %q", c.request, c.answer, all, c.problem)
		}
	}
}
