package contract_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// caller sends requests to one of the two APIs and validates every answer against
// its contract.
type caller struct {
	origin           string
	contract         *document
	coverage         *coverage
	client           *http.Client
	token            string
	mayBeUnavailable bool // whether the program may be unavailable
}

// answer is an answer that was validated against the contract.
type answer struct {
	status int
	header http.Header
	text   string
	body   object
}

// withToken returns the same caller with another token.
func (c caller) withToken(token string) caller {
	c.token = token
	return c
}

// send sends a request to a path below the base address of the contract.
func (c caller) send(t *testing.T, method, path, body string, change ...func(*http.Request)) *answer {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, c.origin+c.contract.base+path, reader)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, change := range change {
		change(r)
	}
	response, err := c.client.Do(r)
	if err != nil {
		t.Fatalf("%s %.200s: %v", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %.200s: read the answer: %v", method, path, err)
	}
	return c.check(t, method, path, response, text)
}

// check validates an answer against the contract and adds it to the coverage.
func (c caller) check(t *testing.T, method, path string, r *http.Response, text []byte) *answer {
	t.Helper()
	a := &answer{status: r.StatusCode, header: r.Header, text: string(text)}
	what := method + " " + path
	if len(what) > 200 {
		what = what[:200] + "…"
	}
	if r.StatusCode >= 500 && (!c.mayBeUnavailable || r.StatusCode != http.StatusServiceUnavailable) {
		t.Fatalf("%s: %d %s", what, r.StatusCode, text)
	}
	if r.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s: no X-Request-Id", what)
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		t.Errorf("%s: %d with Content-Type %q: %v", what, r.StatusCode, r.Header.Get("Content-Type"), err)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		t.Errorf("%s: charset %s", what, charset)
	}
	op := c.contract.find(method, path)
	want, declared := c.expectedShape(op, r.StatusCode)
	if !declared {
		t.Errorf("%s: the contract declares no %d\n%s", what, r.StatusCode, text)
		return a
	}
	schema, known := want.media[media]
	if !known {
		t.Errorf("%s: %d with Content-Type %q", what, r.StatusCode, media)
	}
	checkHeaders(t, what, want, r.Header)
	if schema != nil && method != http.MethodHead {
		a.body = checkBody(t, what, schema, text)
	}
	c.coverage.add(op, a)
	return a
}

// expectedShape returns the shape of an answer. A request that is not an operation
// must be answered 404 or 405.
func (c caller) expectedShape(op *operation, status int) (shape, bool) {
	if op != nil {
		if s, ok := op.answers[status]; ok {
			return s, true
		}
		return shape{}, false
	}
	s := shape{media: map[string]*jsonschema.Schema{"application/json": c.contract.errorSchema}}
	switch status {
	case http.StatusMethodNotAllowed:
		s.headers = map[string]header{"Allow": {required: true}}
		return s, true
	case http.StatusNotFound:
		return s, true
	}
	return s, false
}

func checkHeaders(t *testing.T, what string, want shape, got http.Header) {
	t.Helper()
	for name, h := range want.headers {
		value := got.Get(name)
		if value == "" {
			if h.required {
				t.Errorf("%s: no %s", what, name)
			}
			continue
		}
		var v any = value
		if h.number {
			v = json.Number(value)
			if _, err := strconv.Atoi(value); err != nil {
				t.Errorf("%s: %s is %q", what, name, value)
				continue
			}
		}
		if h.schema != nil {
			if err := h.schema.Validate(v); err != nil {
				t.Errorf("%s: %s is %q: %v", what, name, value, err)
			}
		}
	}
}

func checkBody(t *testing.T, what string, schema *jsonschema.Schema, text []byte) object {
	t.Helper()
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Errorf("%s: %v in %.500s", what, err, text)
		return object{}
	}
	if err := schema.Validate(body); err != nil {
		t.Errorf("%s: %v\n%.2000s", what, err, text)
	}
	o, _ := body.(object)
	return o
}

// get returns a value of the answer's data by its path, such as "items.0.id".
func (a *answer) get(path string) any {
	node := a.body["data"]
	for key := range strings.SplitSeq(path, ".") {
		switch n := node.(type) {
		case object:
			node = n[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(n) {
				return nil
			}
			node = n[i]
		default:
			return nil
		}
	}
	return node
}

// str returns a value as text, numbers included.
func (a *answer) str(path string) string {
	switch v := a.get(path).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// list returns an array of the answer's data.
func (a *answer) list(path string) []any {
	items, _ := a.get(path).([]any)
	return items
}

// code returns the code of an error.
func (a *answer) code() string {
	code, _ := a.body["code"].(string)
	return code
}

// fields returns the names of the wrong fields.
func (a *answer) fields() string {
	var names []string
	list, _ := a.body["fields"].([]any)
	for _, f := range list {
		names = append(names, lookup(f, "field").(string))
	}
	return strings.Join(names, " ")
}
