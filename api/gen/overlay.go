package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-faster/yaml"
)

// An overlay turns a published document into the one that code is generated
// from. The published document tells an integrating developer everything; the
// generated code shall route, check scopes and encode answers, and leave
// judging input to the domain, whose messages name the field and say what
// would be right. So, for generation only:
//
//   - request bodies are opaque streams and parameters are strings;
//   - the statuses of errors are one default response, which gives NewError;
//   - date-times are strings, since ogen has one form for them and it is not ours;
//   - files are raw responses, since they are streamed;
//   - names of scalars and of lists are dissolved, and limits are dropped.
type overlay struct {
	Rename  map[string]string // published path to generated path
	Headers []string          // success headers that handlers set; others belong to the middleware
}

var methods = []string{"get", "put", "post", "delete", "patch"}

func (o overlay) apply(document []byte) ([]byte, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(document, &file); err != nil {
		return nil, err
	}
	if len(file.Content) != 1 {
		return nil, errors.New("want one document")
	}
	doc := file.Content[0]
	remove(doc, "webhooks")
	paths, components := get(doc, "paths"), get(doc, "components")
	if paths == nil || components == nil {
		return nil, errors.New("want paths and components")
	}
	for i := 0; i < len(paths.Content); i += 2 {
		if to, ok := o.Rename[paths.Content[i].Value]; ok {
			paths.Content[i].Value = to
		}
		if err := o.path(doc, paths.Content[i+1]); err != nil {
			return nil, fmt.Errorf("%s: %w", paths.Content[i].Value, err)
		}
	}
	for _, name := range []string{"parameters", "headers", "examples"} {
		remove(components, name)
	}
	set(components, "responses", parse(failure))
	schemas := get(components, "schemas")
	if err := dissolve(doc, doc); err != nil {
		return nil, err
	}
	for i := 1; i < len(schemas.Content); i += 2 {
		loosen(schemas.Content[i])
	}
	return yaml.Marshal(&file)
}

// failure is the one error answer. Its headers are typed, so that the mapping
// of errors to answers needs no access to the response writer.
const failure = `
Failure:
  description: Any error.
  headers:
    WWW-Authenticate: {schema: {type: string}}
    Retry-After: {schema: {type: integer}}
  content:
    application/json:
      schema: {$ref: "#/components/schemas/Error"}
`

const stream = `{schema: {type: string, format: binary}}`

func (o overlay) path(doc, path *yaml.Node) error {
	shared, err := parameters(doc, get(path, "parameters"))
	if err != nil {
		return err
	}
	remove(path, "parameters")
	for _, method := range methods {
		op := get(path, method)
		if op == nil {
			continue
		}
		own, err := parameters(doc, get(op, "parameters"))
		if err != nil {
			return err
		}
		remove(op, "parameters")
		if all := slices.Concat(shared, own); len(all) > 0 {
			set(op, "parameters", &yaml.Node{Kind: yaml.SequenceNode, Content: all})
		}
		if get(op, "requestBody") != nil {
			set(op, "requestBody", parse(`{required: true, content: {application/octet-stream: `+stream+`}}`))
		}
		if err := o.responses(doc, op); err != nil {
			return err
		}
	}
	return nil
}

// parameters reduces path and query parameters to strings and drops headers,
// which the middleware reads.
func parameters(doc, list *yaml.Node) ([]*yaml.Node, error) {
	if list == nil {
		return nil, nil
	}
	var kept []*yaml.Node
	for _, p := range list.Content {
		p, err := resolve(doc, p)
		if err != nil {
			return nil, err
		}
		in := get(p, "in").Value
		if in == "header" {
			continue
		}
		kept = append(kept, parse(fmt.Sprintf(
			"{name: %s, in: %s, required: %t, schema: {type: string}}",
			get(p, "name").Value, in, in == "path")))
	}
	return kept, nil
}

func (o overlay) responses(doc, op *yaml.Node) error {
	ok, err := resolve(doc, get(get(op, "responses"), "200"))
	if err != nil {
		return err
	}
	if headers := get(ok, "headers"); headers != nil {
		kept := &yaml.Node{Kind: yaml.MappingNode}
		for i := 0; i < len(headers.Content); i += 2 {
			if slices.Contains(o.Headers, headers.Content[i].Value) {
				set(kept, headers.Content[i].Value, parse(`{schema: {type: string}}`))
			}
		}
		remove(ok, "headers")
		if len(kept.Content) > 0 {
			set(ok, "headers", kept)
		}
	}
	if media := get(get(ok, "content"), "application/json"); media != nil {
		remove(media, "examples")
	} else {
		raw := parse(stream)
		set(raw, "x-ogen-raw-response", parse("true"))
		content := &yaml.Node{Kind: yaml.MappingNode}
		set(content, "application/octet-stream", raw)
		set(ok, "content", content)
	}
	responses := &yaml.Node{Kind: yaml.MappingNode}
	set(responses, "200", ok)
	set(responses, "default", parse(`{$ref: "#/components/responses/Failure"}`))
	set(op, "responses", responses)
	return nil
}

// dissolve puts scalars without an enum, and lists, in the place of references
// to them: a named string type per field would only be converted away again.
func dissolve(doc, n *yaml.Node) error {
	if ref := get(n, "$ref"); ref != nil && strings.HasPrefix(ref.Value, "#/components/schemas/") {
		target, err := resolve(doc, n)
		if err != nil {
			return err
		}
		kind := get(target, "type")
		if kind != nil && kind.Value != "object" && get(target, "enum") == nil {
			*n = *clone(target)
		}
	}
	for _, child := range n.Content {
		if err := dissolve(doc, child); err != nil {
			return err
		}
	}
	return nil
}

// loosen drops what ogen would check or reformat.
func loosen(schema *yaml.Node) {
	for _, limit := range []string{
		"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern", "default", "examples",
	} {
		remove(schema, limit)
	}
	if f := get(schema, "format"); f != nil && f.Value != "int64" && f.Value != "double" {
		remove(schema, "format")
	}
	if properties := get(schema, "properties"); properties != nil {
		for i := 1; i < len(properties.Content); i += 2 {
			loosen(properties.Content[i])
		}
	}
	if items := get(schema, "items"); items != nil {
		loosen(items)
	}
	for _, key := range []string{"allOf", "oneOf"} {
		if list := get(schema, key); list != nil {
			for _, s := range list.Content {
				loosen(s)
			}
		}
	}
}
