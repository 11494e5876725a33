package apicheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Object is a JSON object.
type Object = map[string]any

// Document is a contract whose schemas are compiled.
type Document struct {
	Base        string // the path that the paths of the operations follow
	Operations  []*Operation
	Events      map[string]*jsonschema.Schema // of webhooks, by kind
	name        string
	root        Object // the contract as closeObjects changes it
	compiler    *jsonschema.Compiler
	errorSchema *jsonschema.Schema
}

// Operation is a method of a path of the document.
type Operation struct {
	ID       string
	Method   string
	Path     string
	Scopes   []string
	Body     string // an example of a request, empty where none is sent
	answers  map[int]shape
	segments []string
}

// Statuses returns the statuses that the document declares for the operation.
func (op *Operation) Statuses() []int { return slices.Sorted(maps.Keys(op.answers)) }

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

// Parse reads a document that is JSON. The name is for messages.
func Parse(name string, text []byte) (*Document, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	root := closeObjects(parsed, false).(Object)
	open := Object{} // the schemas as parts of an allOf, which may have other properties too
	for key, schema := range Lookup(parsed, "components", "schemas").(Object) {
		open[key] = closeObjects(schema, true)
	}
	root["components"].(Object)["open"] = open
	d := &Document{name: name, root: root, compiler: jsonschema.NewCompiler(), Events: map[string]*jsonschema.Schema{}}
	d.Base = Lookup(root, "servers").([]any)[0].(Object)["url"].(string)
	d.compiler.AssertFormat()
	for _, f := range formats {
		d.compiler.RegisterFormat(f)
	}
	if err := d.compiler.AddResource(d.address(), root); err != nil {
		return nil, err
	}
	if d.errorSchema, err = d.Compile("components", "schemas", "ErrorResponse"); err != nil {
		return nil, err
	}
	return d, errors.Join(d.readOperations(), d.readEvents())
}

// ErrorCodes returns the codes that errors may have.
func (d *Document) ErrorCodes() (out []string) {
	codes, _ := Lookup(d.root, "components", "schemas", "ErrorCode", OpenEnum).([]any)
	for _, code := range codes {
		out = append(out, code.(string))
	}
	return out
}

func (d *Document) address() string { return "contract:///" + d.name + ".json" }

// OpenEnum is the list of values that later versions may extend.
const OpenEnum = "x-extensible-enum"

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
	case Object:
		out := Object{}
		for key, value := range node {
			out[key] = closeObjects(value, key == "allOf")
		}
		if values := node[OpenEnum]; values != nil {
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

// Lookup returns what a document has at a path of names, nil if it has nothing there.
func Lookup(node any, path ...string) any {
	for _, key := range path {
		m, _ := node.(Object)
		node = m[key]
	}
	return node
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// Compile returns the schema at a path of names.
func (d *Document) Compile(path ...string) (*jsonschema.Schema, error) {
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
func (d *Document) resolvePath(path ...string) []string {
	ref, ok := Lookup(d.root, path...).(Object)["$ref"].(string)
	if !ok {
		return path
	}
	return strings.Split(strings.TrimPrefix(ref, "#/"), "/")
}

// Methods are the methods that operations may have.
var Methods = []string{"get", "put", "post", "delete", "patch"}

func (d *Document) readOperations() error {
	for path, item := range d.root["paths"].(Object) {
		for _, method := range Methods {
			if Lookup(item, method) == nil {
				continue
			}
			op := &Operation{
				ID: Lookup(item, method, "operationId").(string), Method: strings.ToUpper(method), Path: path,
				segments: strings.Split(path, "/"), answers: map[int]shape{}, Body: exampleOf(Lookup(item, method)),
			}
			requirements, _ := Lookup(item, method, "security").([]any)
			for _, requirement := range requirements {
				for _, scope := range Lookup(requirement, "bearerAuth").([]any) {
					op.Scopes = append(op.Scopes, scope.(string))
				}
			}
			for status := range Lookup(item, method, "responses").(Object) {
				code, err := strconv.Atoi(status)
				if err != nil {
					return fmt.Errorf("%s: status %s", op.ID, status)
				}
				if op.answers[code], err = d.readShape("paths", path, method, "responses", status); err != nil {
					return err
				}
			}
			d.Operations = append(d.Operations, op)
		}
	}
	slices.SortFunc(d.Operations, func(a, b *Operation) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

func exampleOf(op any) string {
	examples, _ := Lookup(op, "requestBody", "content", "application/json", "examples").(Object)
	for _, example := range examples {
		text, _ := json.Marshal(Lookup(example, "value"))
		return string(text)
	}
	return ""
}

func (d *Document) readShape(path ...string) (shape, error) {
	at := d.resolvePath(path...)
	s := shape{media: map[string]*jsonschema.Schema{}, headers: map[string]header{}}
	content, _ := Lookup(d.root, append(at, "content")...).(Object)
	for media := range content {
		s.media[media] = nil
		if media != "application/json" {
			continue
		}
		var err error
		if s.media[media], err = d.Compile(append(slices.Clone(at), "content", media, "schema")...); err != nil {
			return s, err
		}
	}
	headers, _ := Lookup(d.root, append(at, "headers")...).(Object)
	for name := range headers {
		where := d.resolvePath(append(slices.Clone(at), "headers", name)...)
		schema, err := d.Compile(append(slices.Clone(where), "schema")...)
		if err != nil {
			return s, err
		}
		h := Lookup(d.root, where...)
		required, _ := Lookup(h, "required").(bool)
		s.headers[http.CanonicalHeaderKey(name)] = header{
			required: required, schema: schema, number: Lookup(h, "schema", "type") == "integer",
		}
	}
	return s, nil
}

func (d *Document) readEvents() error {
	kinds, _ := d.root["webhooks"].(Object)
	for kind := range kinds {
		schema, err := d.Compile("webhooks", kind, "post", "requestBody", "content", "application/json", "schema")
		if err != nil {
			return err
		}
		d.Events[kind] = schema
	}
	return nil
}

// Find returns the operation of a request, nil if there is none. A path without
// parameters takes precedence over one with, except that "provision" may also be
// the identifier of an employee; and "by-external-id" is not an id.
func (d *Document) Find(method, path string) *Operation {
	path, _, _ = strings.Cut(strings.TrimPrefix(path, d.Base), "?")
	given := strings.Split(path, "/")
	var exact, pattern *Operation
	hidden := false // a plain path has no operation of this method, and hides those with parameters
	for _, op := range d.Operations {
		switch plain := !strings.Contains(op.Path, "{"); {
		case !matches(op.segments, given):
		case plain && op.Method == method:
			exact = op
		case plain:
			hidden = hidden || op.ID != "provisionEmployee"
		case op.Method == method && (pattern == nil || slices.Index(op.segments, "by-external-id") > 0):
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
