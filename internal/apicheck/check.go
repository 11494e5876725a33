// Package apicheck validates answers of both APIs against their OpenAPI documents. Only
// tests import it: test/contract, and suites of the whole program by a Transport.
package apicheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/coursebridge/coursebridge/api"
)

// Documents returns the documents of the public API and of the platform API. They are
// compiled once in a process.
func Documents() (public, platform *Document, err error) {
	both, err := documents()
	return both.public, both.platform, err
}

type pair struct{ public, platform *Document }

var documents = sync.OnceValues(func() (both pair, err error) {
	if both.public, err = Parse("public", api.PublicAt("").JSON); err != nil {
		return both, err
	}
	both.platform, err = Parse("platform", api.PlatformJSON())
	return both, err
})

// Answer is an answer to check, with its request.
type Answer struct {
	Method, Path string // the path is below the document's base and may have a query
	Status       int
	Header       http.Header
	Text         []byte // of the body, nil if it is not to be checked
}

// Check returns in which ways an answer is not what the document declares, and the
// body if it is a JSON object.
func (d *Document) Check(a Answer) (body Object, problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if a.Header.Get("X-Request-Id") == "" {
		report("no X-Request-Id")
	}
	media, params, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil {
		report("%d with Content-Type %q: %v", a.Status, a.Header.Get("Content-Type"), err)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		report("charset %s", charset)
	}
	want, declared := d.expected(d.Find(a.Method, a.Path), a.Status)
	if !declared {
		report("the contract declares no %d\n%s", a.Status, a.Text)
		return nil, problems
	}
	schema, found := want.media[media]
	if !found {
		report("%d with Content-Type %q", a.Status, media)
	}
	problems = append(problems, want.checkHeaders(a.Header)...)
	if schema == nil || a.Method == http.MethodHead || a.Text == nil {
		return nil, problems
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Text))
	if err != nil {
		report("%v in %.500s", err, a.Text)
		return nil, problems
	}
	if err := schema.Validate(parsed); err != nil {
		report("%v\n%.2000s", err, a.Text)
	}
	body, _ = parsed.(Object)
	return body, problems
}

// expected returns the shape of an answer. A request that is not an operation must be
// answered 404 or 405.
func (d *Document) expected(op *Operation, status int) (shape, bool) {
	if op != nil {
		s, ok := op.answers[status]
		return s, ok
	}
	s := shape{media: map[string]*jsonschema.Schema{"application/json": d.errorSchema}}
	switch status {
	case http.StatusMethodNotAllowed:
		s.headers = map[string]header{"Allow": {required: true}}
		return s, true
	case http.StatusNotFound:
		return s, true
	}
	return s, false
}

func (s shape) checkHeaders(got http.Header) (problems []string) {
	for name, h := range s.headers {
		value := got.Get(name)
		if value == "" {
			if h.required {
				problems = append(problems, "no "+name)
			}
			continue
		}
		var v any = value
		if h.number {
			v = json.Number(value)
			if _, err := strconv.Atoi(value); err != nil {
				problems = append(problems, fmt.Sprintf("%s is %q", name, value))
				continue
			}
		}
		if h.schema != nil {
			if err := h.schema.Validate(v); err != nil {
				problems = append(problems, fmt.Sprintf("%s is %q: %v", name, value, err))
			}
		}
	}
	return problems
}
