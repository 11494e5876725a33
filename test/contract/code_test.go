package contract_test

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/coursebridge/coursebridge/api"
	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/apicheck"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/platformapi"
	"github.com/coursebridge/coursebridge/internal/publicapi"
)

// comparison compares the routing table of one API and the types of api/v1 with
// its document, in both directions.
type comparison struct {
	root        object
	differences []string
}

func (c *comparison) differ(where, format string, args ...any) {
	c.differences = append(c.differences, where+": "+fmt.Sprintf(format, args...))
}

// eventTypes are the types of what webhooks send, by kind.
var eventTypes = map[string]any{
	"employee.joined":      v1.Event[v1.Employee]{},
	"employee.removed":     v1.Event[v1.EmployeeRemoved]{},
	"assignment.created":   v1.Event[v1.Assignment]{},
	"assignment.completed": v1.Event[v1.Assignment]{},
	"assignment.failed":    v1.Event[v1.Assignment]{},
	"assignment.overdue":   v1.Event[v1.Assignment]{},
}

// compare returns what differs between a document, a routing table and the
// types of events.
func compare(root object, table []httpapi.Contract, events map[string]any) []string {
	c := &comparison{root: root}
	documented := map[string]object{}
	for path, item := range root["paths"].(object) {
		for _, method := range apicheck.Methods {
			if op, ok := apicheck.Lookup(item, method).(object); ok {
				op = maps.Clone(op)
				shared, _ := apicheck.Lookup(item, "parameters").([]any)
				own, _ := op["parameters"].([]any)
				op["parameters"] = slices.Concat(shared, own)
				documented[strings.ToUpper(method)+" "+path] = op
			}
		}
	}
	for _, row := range table {
		where := row.Method + " " + row.Path
		if op, ok := documented[where]; ok {
			c.operation(where, op, row)
			delete(documented, where)
		} else {
			c.differ(where, "is in the routing table and not in the document")
		}
	}
	for where := range documented {
		c.differ(where, "is in the document and not in the routing table")
	}
	c.schema("ErrorResponse", apicheck.Lookup(root, "components", "schemas", "ErrorResponse").(object), reflect.TypeFor[v1.Error]())
	webhooks, _ := root["webhooks"].(object)
	c.names("webhooks", slices.Sorted(maps.Keys(webhooks)), slices.Sorted(maps.Keys(events)))
	for kind, webhook := range webhooks {
		if event := events[kind]; event != nil {
			c.schema(kind, bodySchema(apicheck.Lookup(webhook, "post", "requestBody")), reflect.TypeOf(event))
		}
	}
	return c.differences
}

var wildcard = regexp.MustCompile(`\{(\w+)\}`)

// deprecation checks that the document and the answers announce a removal together, and
// at least twelve months before.
func (c *comparison) deprecation(where string, documented bool, d *httpapi.Deprecation) {
	if documented != (d != nil) {
		c.differ(where, "is deprecated in the document: %t, in the routing table: %t", documented, d != nil)
	}
	if d != nil && d.Sunset.Before(d.Since.AddDate(1, 0, 0)) {
		c.differ(where, "ends less than twelve months after it was deprecated")
	}
}

func (c *comparison) operation(where string, op object, row httpapi.Contract) {
	c.deprecation(where, op["deprecated"] == true, row.Deprecated)
	var scopes []string
	security, ok := op["security"].([]any)
	if !ok {
		security = c.root["security"].([]any)
	}
	for _, scope := range slices.Concat(anyList(apicheck.Lookup(security[0], "bearerAuth"))) {
		scopes = append(scopes, scope.(string))
	}
	want := []string{string(domain.ScopeBase), string(row.Scope)}
	switch row.Scope {
	case "":
		want = nil
	case domain.ScopeBase:
		want = want[:1]
	}
	c.names(where+" scopes", scopes, want)

	var inQuery, inPath, patterns []string
	for _, parameter := range op["parameters"].([]any) {
		p := c.resolve(parameter.(object))
		switch p["in"] {
		case "query":
			inQuery = append(inQuery, p["name"].(string))
		case "path":
			inPath = append(inPath, p["name"].(string))
		}
	}
	for _, match := range wildcard.FindAllStringSubmatch(row.Path, -1) {
		patterns = append(patterns, match[1])
	}
	c.names(where+" query", inQuery, row.Query)
	c.names(where+" path", inPath, patterns)

	var statuses []string
	for _, status := range row.Statuses {
		statuses = append(statuses, strconv.Itoa(status))
	}
	responses := op["responses"].(object)
	c.names(where+" statuses", slices.Sorted(maps.Keys(responses)), statuses)
	c.body(where+" request", bodySchema(op["requestBody"]), row.Body)
	var data object
	if success := bodySchema(responses["200"]); success != nil {
		data = c.properties(c.resolve(success))["data"].(object)
	}
	c.body(where+" response", data, row.Data)
}

func (c *comparison) body(where string, schema object, value any) {
	switch {
	case schema == nil && value == nil:
	case schema == nil:
		c.differ(where, "has no JSON in the document and %T in the table", value)
	case value == nil:
		c.differ(where, "has JSON in the document and none in the table")
	default:
		c.schema(where, schema, reflect.TypeOf(value))
	}
}

// bodySchema returns the schema of a JSON body, nil for any other.
func bodySchema(holder any) object {
	schema, _ := apicheck.Lookup(holder, "content", "application/json", "schema").(object)
	return schema
}

func anyList(node any) []any {
	list, _ := node.([]any)
	return list
}

func (c *comparison) resolve(node object) object {
	ref, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	return c.resolve(apicheck.Lookup(c.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(object))
}

// names compares two sets of names.
func (c *comparison) names(where string, document, code []string) {
	for _, name := range document {
		if !slices.Contains(code, name) {
			c.differ(where, "%s is in the document and not in the code", name)
		}
	}
	for _, name := range code {
		if !slices.Contains(document, name) {
			c.differ(where, "%s is in the code and not in the document", name)
		}
	}
}

// parse reads a document into maps and lists.
func parse(t *testing.T, text []byte) object {
	t.Helper()
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return root.(object)
}

func TestCodeIsTheContract(t *testing.T) {
	t.Parallel()
	public, platform := parse(t, api.PublicAt("").JSON), parse(t, api.PlatformJSON())
	for _, difference := range compare(public, publicapi.Contracts(), eventTypes) {
		t.Error(difference)
	}
	for _, difference := range compare(platform, platformapi.Contracts(), nil) {
		t.Error(difference)
	}
	var codes []string
	for _, root := range []object{public, platform} {
		for _, code := range apicheck.Lookup(root, "components", "schemas", "ErrorCode", apicheck.OpenEnum).([]any) {
			codes = append(codes, code.(string))
		}
	}
	c := &comparison{}
	c.names("error codes", codes, v1.ErrorCode("").Values())
	for _, difference := range c.differences {
		t.Error(difference)
	}
}

// The nouns of the domain and the words of the contract are the same.
func TestDomainSpeaksTheContract(t *testing.T) {
	t.Parallel()
	c := &comparison{}
	c.names("scopes", v1.Scope("").Values(), texts(domain.Scopes))
	c.names("statuses", v1.AssignmentStatus("").Values(), texts(domain.Statuses))
	c.names("events", v1.EventKind("").Values(), texts(domain.EventKinds))
	for _, difference := range c.differences {
		t.Error(difference)
	}
}

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
