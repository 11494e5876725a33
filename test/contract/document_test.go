package contract_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

type object = map[string]any

// document is a contract whose schemas are compiled.
type document struct {
	name        string
	base        string
	root        object // the contract as closeObjects changes it
	compiler    *jsonschema.Compiler
	operations  []*operation
	errorSchema *jsonschema.Schema
	events      map[string]*jsonschema.Schema
}

type operation struct {
	id       string
	method   string
	path     string
	scopes   []string
	body     string // an example of a request, empty where none is sent
	segments []string
	answers  map[int]shape
}

// shape describes the answers of one status.
type shape struct {
	media   map[string]*jsonschema.Schema // nil for what is not JSON
	headers map[string]header
}

type header struct {
	required bool
	schema   *jsonschema.Schema
	number   bool
}

// The formats of date-times and scores in answers.
var (
	instant = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?\+00:00$`)
	points  = regexp.MustCompile(`^\d+(\.\d{1,2})?$`)
)

// formats check what the descriptions of the contract promise beyond its types.
var formats = []*jsonschema.Format{
	{Name: "date-time", Validate: func(v any) error {
		if s, ok := v.(string); ok && !instant.MatchString(s) {
			return errors.New("is not in UTC with a numeric offset and at most milliseconds")
		}
		return nil
	}},
	{Name: "email", Validate: func(v any) error {
		// An address may be internationalised; maxLength counts its characters.
		if name, host, ok := strings.Cut(v.(string), "@"); !ok || name == "" || host == "" || strings.Contains(host, "@") {
			return errors.New("is not one address with one @")
		}
		return nil
	}},
	{Name: "double", Validate: func(v any) error {
		if n, ok := v.(json.Number); ok && !points.MatchString(n.String()) {
			return errors.New("has more than two decimals, or an exponent")
		}
		return nil
	}},
}

func newDocument(name string, text []byte) (*document, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	root := closeObjects(parsed, false).(object)
	open := object{} // the schemas as parts of an allOf, which may have other properties too
	for key, schema := range lookup(parsed, "components", "schemas").(object) {
		open[key] = closeObjects(schema, true)
	}
	root["components"].(object)["open"] = open
	d := &document{name: name, root: root, compiler: jsonschema.NewCompiler(), events: map[string]*jsonschema.Schema{}}
	d.base = lookup(root, "servers").([]any)[0].(object)["url"].(string)
	d.compiler.AssertFormat()
	for _, f := range formats {
		d.compiler.RegisterFormat(f)
	}
	if err := d.compiler.AddResource(d.address(), root); err != nil {
		return nil, err
	}
	if d.errorSchema, err = d.compile("components", "schemas", "ErrorResponse"); err != nil {
		return nil, err
	}
	return d, errors.Join(d.readOperations(), d.readEvents())
}

func (d *document) address() string { return "contract:///" + d.name + ".json" }

// openEnum is the list of values that later versions may extend.
const openEnum = "x-extensible-enum"

// closeObjects forbids properties and values that this version of the contract does
// not describe. The parts of an allOf stay open; the allOf as a whole is closed.
func closeObjects(node any, open bool) any {
	switch node := node.(type) {
	case []any:
		out := make([]any, len(node))
		for i, item := range node {
			out[i] = closeObjects(item, open)
		}
		return out
	case object:
		out := object{}
		for key, value := range node {
			out[key] = closeObjects(value, key == "allOf")
		}
		if values := node[openEnum]; values != nil {
			out["enum"] = values
		}
		if ref, ok := node["$ref"].(string); ok && open {
			out["$ref"] = strings.Replace(ref, "#/components/schemas/", "#/components/open/", 1)
		}
		if !open && (node["properties"] != nil && node["type"] == "object" || node["allOf"] != nil) {
			out["unevaluatedProperties"] = false
		}
		return out
	}
	return node
}

func lookup(node any, path ...string) any {
	for _, key := range path {
		m, _ := node.(object)
		node = m[key]
	}
	return node
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

func (d *document) compile(path ...string) (*jsonschema.Schema, error) {
	at := "#"
	for _, key := range path {
		at += "/" + pointer.Replace(key)
	}
	schema, err := d.compiler.Compile(d.address() + at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return schema, nil
}

// resolvePath returns the path of a part of the document after following its $ref.
func (d *document) resolvePath(path ...string) []string {
	ref, ok := lookup(d.root, path...).(object)["$ref"].(string)
	if !ok {
		return path
	}
	return strings.Split(strings.TrimPrefix(ref, "#/"), "/")
}

var methods = []string{"get", "put", "post", "delete", "patch"}

func (d *document) readOperations() error {
	for path, item := range d.root["paths"].(object) {
		for _, method := range methods {
			if lookup(item, method) == nil {
				continue
			}
			op := &operation{
				id: lookup(item, method, "operationId").(string), method: strings.ToUpper(method), path: path,
				segments: strings.Split(path, "/"), answers: map[int]shape{}, body: exampleOf(lookup(item, method)),
			}
			requirements, _ := lookup(item, method, "security").([]any)
			for _, requirement := range requirements {
				for _, scope := range lookup(requirement, "bearerAuth").([]any) {
					op.scopes = append(op.scopes, scope.(string))
				}
			}
			for status := range lookup(item, method, "responses").(object) {
				code, err := strconv.Atoi(status)
				if err != nil {
					return fmt.Errorf("%s: status %s", op.id, status)
				}
				if op.answers[code], err = d.readShape("paths", path, method, "responses", status); err != nil {
					return err
				}
			}
			d.operations = append(d.operations, op)
		}
	}
	slices.SortFunc(d.operations, func(a, b *operation) int { return strings.Compare(a.id, b.id) })
	return nil
}

func exampleOf(op any) string {
	examples, _ := lookup(op, "requestBody", "content", "application/json", "examples").(object)
	for _, example := range examples {
		text, _ := json.Marshal(lookup(example, "value"))
		return string(text)
	}
	return ""
}

func (d *document) readShape(path ...string) (shape, error) {
	at := d.resolvePath(path...)
	s := shape{media: map[string]*jsonschema.Schema{}, headers: map[string]header{}}
	content, _ := lookup(d.root, append(at, "content")...).(object)
	for media := range content {
		s.media[media] = nil
		if media != "application/json" {
			continue
		}
		var err error
		if s.media[media], err = d.compile(append(slices.Clone(at), "content", media, "schema")...); err != nil {
			return s, err
		}
	}
	headers, _ := lookup(d.root, append(at, "headers")...).(object)
	for name := range headers {
		where := d.resolvePath(append(slices.Clone(at), "headers", name)...)
		schema, err := d.compile(append(slices.Clone(where), "schema")...)
		if err != nil {
			return s, err
		}
		h := lookup(d.root, where...)
		required, _ := lookup(h, "required").(bool)
		s.headers[http.CanonicalHeaderKey(name)] = header{
			required: required, schema: schema, number: lookup(h, "schema", "type") == "integer",
		}
	}
	return s, nil
}

func (d *document) readEvents() error {
	kinds, _ := d.root["webhooks"].(object)
	for kind := range kinds {
		schema, err := d.compile("webhooks", kind, "post", "requestBody", "content", "application/json", "schema")
		if err != nil {
			return err
		}
		d.events[kind] = schema
	}
	return nil
}

// find returns the operation of a request, nil if there is none. A path without
// parameters takes precedence over one with, except that "provision" may also be
// the identifier of an employee; and "by-external-id" is not an id.
func (d *document) find(method, path string) *operation {
	path, _, _ = strings.Cut(strings.TrimPrefix(path, d.base), "?")
	given := strings.Split(path, "/")
	var exact, pattern *operation
	hidden := false // a plain path has no operation of this method, and hides those with parameters
	for _, op := range d.operations {
		switch plain := !strings.Contains(op.path, "{"); {
		case !matches(op.segments, given):
		case plain && op.method == method:
			exact = op
		case plain:
			hidden = hidden || op.id != "provisionEmployee"
		case op.method == method && (pattern == nil || slices.Index(op.segments, "by-external-id") > 0):
			pattern = op
		}
	}
	if exact == nil && !hidden {
		return pattern
	}
	return exact
}

func matches(pattern, given []string) bool {
	return slices.EqualFunc(pattern, given, func(want, got string) bool {
		return want == got || strings.HasPrefix(want, "{") && got != ""
	})
}
