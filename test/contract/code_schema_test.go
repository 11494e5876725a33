package contract_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	v1 "github.com/coursebridge/coursebridge/api/v1"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

// schema compares a schema of the document with a Go type.
func (c *comparison) schema(where string, schema object, typ reflect.Type) {
	if reference, ok := schema["$ref"].(string); ok {
		where += "/" + reference[strings.LastIndex(reference, "/")+1:]
	}
	schema = c.resolve(schema)
	kinds, nullable := kindsOf(schema)
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	} else if nullable {
		c.differ(where, "may be null and is %s", typ)
	}
	if alternatives, ok := schema["oneOf"].([]any); ok {
		c.union(where, alternatives, typ)
		return
	}
	if schema["allOf"] != nil {
		kinds = "object"
	}
	switch kinds {
	case "object":
		c.structure(where, schema, typ)
	case "array":
		if typ.Kind() != reflect.Slice {
			c.differ(where, "is an array and %s", typ)
			return
		}
		c.schema(where+"[]", schema["items"].(object), typ.Elem())
	default:
		c.scalar(where, schema, kinds, typ)
	}
}

// kindsOf returns the type of a schema without null, and whether it has null.
func kindsOf(schema object) (kind string, nullable bool) {
	switch t := schema["type"].(type) {
	case string:
		return t, false
	case []any:
		for _, name := range t {
			if name == "null" {
				nullable = true
			} else {
				kind = name.(string)
			}
		}
	}
	return kind, nullable
}

func (c *comparison) scalar(where string, schema object, kind string, typ reflect.Type) {
	isTime := typ == reflect.TypeFor[v1.DateTime]()
	if isTime != (schema["format"] == "date-time") {
		c.differ(where, "has format %v and is %s", schema["format"], typ)
	}
	goKind := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number", reflect.Int: "integer", reflect.Int64: "integer",
	}[typ.Kind()]
	if !isTime && goKind != kind {
		c.differ(where, "is %s in the document and %s in Go", kind, typ)
	}
	enum, hasValues := reflect.Zero(typ).Interface().(interface{ Values() []string })
	values := schema["enum"]
	if values == nil {
		values = schema[apicheck.OpenEnum]
	}
	if !hasValues && values == nil {
		return
	}
	var documented []string
	for _, value := range anyList(values) {
		documented = append(documented, value.(string))
	}
	if constant, ok := schema["const"].(string); ok && hasValues {
		// One event of several: its kind is one of the values.
		if !slices.Contains(enum.Values(), constant) {
			c.differ(where, "%s is in the document and not in the code", constant)
		}
		return
	}
	var code []string
	if hasValues {
		code = enum.Values()
	}
	if typ == reflect.TypeFor[v1.ErrorCode]() {
		// Each document names the codes that it can meet; together they are the type's.
		code = slices.DeleteFunc(code, func(v string) bool { return !slices.Contains(documented, v) })
	}
	c.names(where, documented, code)
}

// field is one field of a struct as encoding/json sees it.
type field struct {
	typ      reflect.Type
	optional bool
}

func fieldsOf(typ reflect.Type) map[string]field {
	out := map[string]field{}
	for _, f := range reflect.VisibleFields(typ) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		out[name] = field{typ: f.Type, optional: options == "omitempty"}
	}
	return out
}

func (c *comparison) structure(where string, schema object, typ reflect.Type) {
	if typ.Kind() != reflect.Struct {
		c.differ(where, "is an object and %s", typ)
		return
	}
	c.fields(where, c.properties(schema), c.required(schema), fieldsOf(typ))
}

func (c *comparison) fields(where string, properties object, required []string, fields map[string]field) {
	c.names(where, slices.Sorted(maps.Keys(properties)), slices.Sorted(maps.Keys(fields)))
	for name, f := range fields {
		property, ok := properties[name].(object)
		if !ok {
			continue
		}
		if f.optional == slices.Contains(required, name) {
			c.differ(where+"."+name, "required is %t in the document, optional is %t in Go", !f.optional, f.optional)
		}
		if _, nullable := kindsOf(c.resolve(property)); f.typ.Kind() == reflect.Pointer && !nullable && !f.optional {
			c.differ(where+"."+name, "may not be null and is %s", f.typ)
		}
		c.schema(where+"."+name, property, f.typ)
	}
}

// properties returns the properties of an object, those of an allOf together.
func (c *comparison) properties(schema object) object {
	out := object{}
	for _, part := range anyList(schema["allOf"]) {
		maps.Copy(out, c.properties(c.resolve(part.(object))))
	}
	own, _ := schema["properties"].(object)
	maps.Copy(out, own)
	return out
}

func (c *comparison) required(schema object) (names []string) {
	for _, part := range anyList(schema["allOf"]) {
		names = append(names, c.required(c.resolve(part.(object)))...)
	}
	for _, name := range anyList(schema["required"]) {
		names = append(names, name.(string))
	}
	return names
}

// union compares a oneOf with a struct that has either a pointer to each of the
// alternatives, or the fields of all of them.
func (c *comparison) union(where string, alternatives []any, typ reflect.Type) {
	fields := fieldsOf(typ)
	if len(fields) == 0 {
		if typ.NumField() != len(alternatives) {
			c.differ(where, "has %d alternatives in the document and %d in Go", len(alternatives), typ.NumField())
			return
		}
		for i, alternative := range alternatives {
			c.schema(where, alternative.(object), typ.Field(i).Type)
		}
		return
	}
	properties, required := object{}, c.required(c.resolve(alternatives[0].(object)))
	for _, alternative := range alternatives {
		schema := c.resolve(alternative.(object))
		needed := c.required(schema)
		required = slices.DeleteFunc(required, func(name string) bool { return !slices.Contains(needed, name) })
		for name, property := range c.properties(schema) {
			if _, twice := properties[name]; twice {
				kind, _ := kindsOf(c.resolve(property.(object)))
				property = object{"type": kind} // its values differ between the alternatives
			}
			properties[name] = property
		}
	}
	c.fields(where, properties, required, fields)
}
