package contract_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

type object = apicheck.Object

// caller sends requests to one of the two APIs and validates every answer against
// its contract.
type caller struct {
	origin           string
	contract         *apicheck.Document
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
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, c.origin+c.contract.Base+path, reader)
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
	body, problems := c.contract.Check(apicheck.Answer{Method: method, Path: path, Status: r.StatusCode, Header: r.Header, Text: text})
	for _, problem := range problems {
		t.Errorf("%s: %s", what, problem)
	}
	a.body = body
	c.coverage.add(c.contract.Find(method, path), a)
	return a
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
		names = append(names, apicheck.Lookup(f, "field").(string))
	}
	return strings.Join(names, " ")
}
