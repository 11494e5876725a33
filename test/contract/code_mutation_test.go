package contract_test

import (
	"slices"
	"testing"

	"github.com/coursebridge/coursebridge/api"
	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/apicheck"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi"
)

// The comparison must find every way in which document and code can part: each
// row changes one thing in one of them.
func TestComparisonFindsEveryDifference(t *testing.T) {
	t.Parallel()
	const employee, list = "/employees/{externalId}", "/assignments"
	for name, change := range documentMutations(employee, list) {
		t.Run("document/"+name, func(t *testing.T) {
			t.Parallel()
			root := parse(t, api.PublicAt("").JSON)
			change(root)
			if len(compare(root, publicapi.Contracts(), eventTypes)) == 0 {
				t.Error("the comparison found nothing")
			}
		})
	}
	for name, change := range codeMutations(employee, list) {
		t.Run("code/"+name, func(t *testing.T) {
			t.Parallel()
			table := change(publicapi.Contracts())
			if len(compare(parse(t, api.PublicAt("").JSON), table, eventTypes)) == 0 {
				t.Error("the comparison found nothing")
			}
		})
	}
	t.Run("code/an event is gone", func(t *testing.T) {
		t.Parallel()
		some := map[string]any{"employee.joined": v1.Event[v1.Employee]{}}
		if len(compare(parse(t, api.PublicAt("").JSON), publicapi.Contracts(), some)) == 0 {
			t.Error("the comparison found nothing")
		}
	})
}

func documentMutations(employee, list string) map[string]func(root object) {
	schema := func(root object, name string) object {
		return apicheck.Lookup(root, "components", "schemas", name).(object)
	}
	property := func(root object, name string) object { return schema(root, name)["properties"].(object) }
	operation := func(root object, path, method string) object {
		return apicheck.Lookup(root, "paths", path, method).(object)
	}
	return map[string]func(root object){
		"a path is gone":   func(root object) { delete(root["paths"].(object), "/courses") },
		"a path is new":    func(root object) { root["paths"].(object)["/news"] = apicheck.Lookup(root, "paths", "/courses") },
		"a method is gone": func(root object) { delete(apicheck.Lookup(root, "paths", employee).(object), "delete") },
		"a method is new": func(root object) {
			apicheck.Lookup(root, "paths", "/courses").(object)["post"] = operation(root, "/courses", "get")
		},
		"an operation is deprecated": func(root object) { operation(root, list, "get")["deprecated"] = true },
		"another scope": func(root object) {
			operation(root, list, "get")["security"] = operation(root, list, "post")["security"]
		},
		"a parameter is gone": func(root object) {
			op := operation(root, list, "get")
			op["parameters"] = anyList(op["parameters"])[1:]
		},
		"a parameter is new": func(root object) {
			op := operation(root, "/courses", "get")
			op["parameters"] = []any{object{"name": "tag", "in": "query"}}
		},
		"a path parameter has another name": func(root object) {
			apicheck.Lookup(root, "components", "parameters", "EmployeeExternalIdPath").(object)["name"] = "id"
		},
		"a status is gone":       func(root object) { delete(operation(root, employee, "get")["responses"].(object), "404") },
		"a status is new":        func(root object) { operation(root, list, "get")["responses"].(object)["409"] = object{} },
		"a request body is gone": func(root object) { delete(operation(root, list, "post"), "requestBody") },
		"a request body is new": func(root object) {
			op := operation(root, list, "post")
			operation(root, list, "get")["requestBody"] = op["requestBody"]
		},
		"a field is gone":            func(root object) { delete(property(root, "Assignment"), "deadline") },
		"a field is new":             func(root object) { property(root, "Assignment")["comment"] = object{"type": "string"} },
		"a field of an allOf is new": func(root object) { property(root, "Employee")["phone"] = object{"type": "string"} },
		"a field of a oneOf is new":  func(root object) { property(root, "BulkFailed")["hint"] = object{"type": "string"} },
		"an alternative is new": func(root object) {
			data := schema(root, "EmployeeUpdateResult")
			data["oneOf"] = append(anyList(data["oneOf"]), object{"$ref": "#/components/schemas/Deleted"})
		},
		"a field of a request is new": func(root object) { property(root, "EmployeeUpdate")["phone"] = object{"type": "string"} },
		"a field of an error is gone": func(root object) { delete(property(root, "ErrorResponse"), "fields") },
		"a field of an event is new":  func(root object) { property(root, "EmployeeRemoved")["at"] = object{"type": "string"} },
		"a field became null":         func(root object) { property(root, "Course")["name"] = object{"type": []any{"string", "null"}} },
		"a field is never null":       func(root object) { property(root, "Course")["externalId"] = object{"type": "string"} },
		"a field has another type":    func(root object) { property(root, "Course")["name"] = object{"type": "integer"} },
		"a field is no longer a list": func(root object) { property(root, "CourseList")["items"] = object{"type": "string"} },
		"a field became a list": func(root object) {
			property(root, "Course")["name"] = object{"type": "array", "items": object{"type": "string"}}
		},
		"a date-time is a text": func(root object) { property(root, "Employee")["joinedAt"] = object{"type": "string"} },
		"a text is a date-time": func(root object) { property(root, "Course")["name"] = object{"type": "string", "format": "date-time"} },
		"a field became optional": func(root object) {
			schema(root, "Course")["required"] = anyList(schema(root, "Course")["required"])[1:]
		},
		"a field became required": func(root object) { schema(root, "EmployeeUpdate")["required"] = []any{"name"} },
		"an enum value is gone":   func(root object) { s := schema(root, "Role"); s["enum"] = anyList(s["enum"])[1:] },
		"an enum value is new": func(root object) {
			s := schema(root, "AssignmentStatus")
			s["enum"] = append(anyList(s["enum"]), "paused")
		},
		"an error code is new": func(root object) {
			s := schema(root, "ErrorCode")
			s[apicheck.OpenEnum] = append(anyList(s[apicheck.OpenEnum]), "teapot")
		},
		"an enum is gone":       func(root object) { delete(schema(root, "Role"), "enum") },
		"a text became an enum": func(root object) { property(root, "Course")["name"] = object{"type": "string", "enum": []any{"a"}} },
		"an event is gone":      func(root object) { delete(root["webhooks"].(object), "employee.joined") },
		"an event is new": func(root object) {
			root["webhooks"].(object)["employee.left"] = apicheck.Lookup(root, "webhooks", "employee.removed")
		},
		"the kind of an event is another": func(root object) {
			property(root, "EmployeeJoinedEvent")["event"] = object{"type": "string", "const": "employee.hired"}
		},
	}
}

func codeMutations(employee, list string) map[string]func([]httpapi.Contract) []httpapi.Contract {
	type table = []httpapi.Contract
	edit := func(method, path string, change func(*httpapi.Contract)) func(table) table {
		return func(rows table) table {
			i := slices.IndexFunc(rows, func(c httpapi.Contract) bool { return c.Method == method && c.Path == path })
			change(&rows[i])
			return rows
		}
	}
	return map[string]func(table) table{
		"an operation is gone":             func(rows table) table { return rows[1:] },
		"an operation is new":              func(rows table) table { return append(rows, httpapi.Contract{Method: "GET", Path: "/news"}) },
		"an operation is deprecated":       edit("GET", list, func(c *httpapi.Contract) { c.Deprecated = &httpapi.Deprecation{} }),
		"another method":                   edit("GET", employee, func(c *httpapi.Contract) { c.Method = "PUT" }),
		"another scope":                    edit("GET", employee, func(c *httpapi.Contract) { c.Scope = "b2b_provision" }),
		"the base scope alone":             edit("GET", employee, func(c *httpapi.Contract) { c.Scope = "b2b_api" }),
		"no scope":                         edit("GET", employee, func(c *httpapi.Contract) { c.Scope = "" }),
		"a parameter is gone":              edit("GET", list, func(c *httpapi.Contract) { c.Query = c.Query[1:] }),
		"a parameter is new":               edit("GET", list, func(c *httpapi.Contract) { c.Query = append(slices.Clone(c.Query), "order") }),
		"a status is gone":                 edit("GET", list, func(c *httpapi.Contract) { c.Statuses = c.Statuses[1:] }),
		"a status is new":                  edit("GET", list, func(c *httpapi.Contract) { c.Statuses = append(c.Statuses, 418) }),
		"a request body is gone":           edit("POST", list, func(c *httpapi.Contract) { c.Body = nil }),
		"a request body is new":            edit("GET", list, func(c *httpapi.Contract) { c.Body = v1.AssignmentInput{} }),
		"another request body":             edit("POST", list, func(c *httpapi.Contract) { c.Body = v1.ProvisionInput{} }),
		"a response body is gone":          edit("GET", list, func(c *httpapi.Contract) { c.Data = nil }),
		"a file became JSON":               edit("GET", "/reports/employees.csv", func(c *httpapi.Contract) { c.Data = v1.EmployeeList{} }),
		"another response body":            edit("GET", list, func(c *httpapi.Contract) { c.Data = v1.EmployeeList{} }),
		"a field of a response is new":     edit("GET", "/courses", func(c *httpapi.Contract) { c.Data = extraField{} }),
		"a field of a response is gone":    edit("GET", "/courses", func(c *httpapi.Contract) { c.Data = struct{}{} }),
		"a response that may be left out":  edit("GET", "/courses", func(c *httpapi.Contract) { c.Data = optionalField{} }),
		"a response that may be null":      edit("GET", "/courses", func(c *httpapi.Contract) { c.Data = nullableField{} }),
		"a response of another type":       edit("GET", "/courses", func(c *httpapi.Contract) { c.Data = []v1.Course{} }),
		"an alternative of a oneOf is one": edit("PATCH", employee, func(c *httpapi.Contract) { c.Data = v1.Employee{} }),
	}
}

// Structs that are not quite a v1.CourseList.
type (
	extraField struct {
		Items []v1.Course `json:"items"`
		Count int         `json:"count"`
	}
	optionalField struct {
		Items []v1.Course `json:"items,omitempty"`
	}
	nullableField struct {
		Items *[]v1.Course `json:"items"`
	}
)
