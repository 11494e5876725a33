package contract_test

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	validEmployee = `"id":1,"externalId":"E","email":"a@b.c","name":"A","role":"employee","tags":[],"joinedAt":"2026-11-14T09:30:00.5+00:00"`
	validProgress = `"id":1,"completionPercent":33.33,"lastActivityAt":"2026-11-14T09:30:00+00:00","status":"started","statusCategory":"in_progress","isOverdue":false`
)

// The schemas that answers are validated against must find wrong answers.
func TestSchemasFindWrongBodies(t *testing.T) {
	t.Parallel()
	public, _, err := contracts()
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
		schema, err := public.compile("components", "schemas", c.schema)
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
	public, _, err := contracts()
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
		if op := public.find(method, path); op != nil {
			got = op.id
		}
		if got != want {
			t.Errorf("%s is %q, want %q", request, got, want)
		}
	}
}

// The coverage must find what was not met.
func TestCoverageFindsGaps(t *testing.T) {
	t.Parallel()
	public, _, err := contracts()
	if err != nil {
		t.Fatal(err)
	}
	r := newCoverage()
	all := len(r.gaps(public))
	r.add(public.find("GET", "/courses"), &answer{status: 200})
	r.add(public.find("GET", "/courses"), &answer{status: 403, body: object{"code": "insufficient_scope"}})
	if left := len(r.gaps(public)); all < 100 || left != all-3 {
		t.Errorf("%d were missing, then %d", all, left)
	}
}
