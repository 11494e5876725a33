package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-faster/yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/api"
)

type (
	object = map[string]any

	document struct {
		OpenAPI    string                       `json:"openapi"`
		Info       struct{ Version string }     `json:"info"`
		Servers    []struct{ URL string }       `json:"servers"`
		Paths      map[string]map[string]object `json:"-"`
		Webhooks   map[string]object            `json:"webhooks"`
		Components struct {
			Responses map[string]object `json:"responses"`
		} `json:"components"`
	}
)

func load(t *testing.T, data []byte) document {
	t.Helper()
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	var raw struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	doc.Paths = map[string]map[string]object{}
	for path, item := range raw.Paths {
		doc.Paths[path] = map[string]object{}
		for method, text := range item {
			if method == "parameters" {
				continue
			}
			var op object
			if err := json.Unmarshal(text, &op); err != nil {
				t.Fatal(err)
			}
			doc.Paths[path][method] = op
		}
	}
	return doc
}

func TestJSONEqualsYAML(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]struct{ yaml, json []byte }{
		"public":   {api.PublicAt("").YAML, api.PublicAt("").JSON},
		"platform": {api.PlatformYAML(), api.PlatformJSON()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want, got any
			if err := yaml.Unmarshal(doc.yaml, &want); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(doc.json, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the forms differ (-yaml +json):\n%s", diff)
			}
			if !strings.HasPrefix(string(doc.json), `{"openapi":`) {
				t.Errorf("the order of keys is lost: %.40s", doc.json)
			}
		})
	}
}

// scopes is the specification's table of operations, with the twins and the
// additions of this service.
var scopes = map[string]string{
	"POST /employees/provision":                             "b2b_provision",
	"GET /employees":                                        "b2b_read",
	"GET /employees/{externalId}":                           "b2b_read",
	"PATCH /employees/{externalId}":                         "b2b_provision",
	"DELETE /employees/{externalId}":                        "b2b_provision",
	"GET /courses":                                          "b2b_read",
	"POST /assignments":                                     "b2b_assignment",
	"GET /assignments":                                      "b2b_read",
	"POST /assignments/bulk":                                "b2b_assignment",
	"GET /assignments/{id}":                                 "b2b_read",
	"DELETE /assignments/{id}":                              "b2b_assignment",
	"GET /assignments/{id}/progress":                        "b2b_read",
	"GET /assignments/{id}/results":                         "b2b_read",
	"GET /assignments/by-external-id/{externalId}":          "b2b_read",
	"GET /assignments/by-external-id/{externalId}/progress": "b2b_read",
	"GET /assignments/by-external-id/{externalId}/results":  "b2b_read",
	"GET /reports/assignments.csv":                          "b2b_read",
	"GET /reports/assignments.xlsx":                         "b2b_read",
	"GET /reports/employees.csv":                            "b2b_read",
	"GET /reports/employees.xlsx":                           "b2b_read",
	"GET /token":                                            "",
}

func TestPublicOperationsAndScopes(t *testing.T) {
	t.Parallel()
	doc := load(t, api.PublicAt("").JSON)
	if doc.Info.Version != "1.1" || doc.Servers[0].URL != "/api/v1" {
		t.Errorf("version %q at %q, want 1.1 at /api/v1", doc.Info.Version, doc.Servers[0].URL)
	}
	got := map[string]string{}
	for path, item := range doc.Paths {
		for method, op := range item {
			list := op["security"].([]any)[0].(object)["bearerAuth"].([]any)
			if list[0] != "b2b_api" {
				t.Errorf("%s %s does not ask for b2b_api", method, path)
			}
			scope := ""
			if len(list) > 1 {
				scope = list[1].(string)
			}
			got[strings.ToUpper(method)+" "+path] = scope
		}
	}
	if diff := cmp.Diff(scopes, got); diff != "" {
		t.Errorf("operations and scopes (-want +got):\n%s", diff)
	}
}

func TestWebhookEvents(t *testing.T) {
	t.Parallel()
	got := slices.Sorted(maps.Keys(load(t, api.PublicAt("").JSON).Webhooks))
	want := []string{
		"assignment.completed", "assignment.created", "assignment.failed", "assignment.overdue",
		"employee.joined", "employee.removed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// The linter checks that examples fit their schemas; this checks that they are there.
func TestEveryJSONBodyHasAnExample(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{"public": api.PublicAt("").JSON, "platform": api.PlatformJSON()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := load(t, data)
			check := func(where string, holder any) {
				h, _ := holder.(object)
				content, _ := h["content"].(object)
				media, ok := content["application/json"].(object)
				if examples, _ := media["examples"].(object); ok && len(examples) == 0 {
					t.Errorf("%s has no example", where)
				}
			}
			for path, item := range doc.Paths {
				for method, op := range item {
					check("request of "+method+" "+path, op["requestBody"])
					for status, response := range op["responses"].(object) {
						check(status+" of "+method+" "+path, response)
					}
				}
			}
			for event, item := range doc.Webhooks {
				check(event, item["post"].(object)["requestBody"])
			}
			for response, r := range doc.Components.Responses {
				check(response, r)
			}
		})
	}
}
