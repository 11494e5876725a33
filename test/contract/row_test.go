package contract_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// row is a request and what must come of it. Path, body and has may name values
// in angle brackets: see firm.fill.
type row struct {
	name   string
	do     string // method and path
	body   string
	change func(*http.Request)
	status int    // 200 when absent
	code   string // of an error
	fields string // that the error names
	tells  string // words of the message
	has    string // JSON that the data must contain
	save   string // name under which the data's id is kept
	events string // kinds that the company's webhook is told of
}

// run sends the rows in their order: they tell a story.
func (f *firm) run(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		f.step(t, f.caller, r)
	}
}

// step sends one row as a caller of the firm or of the platform.
func (f *firm) step(t *testing.T, c caller, r row) *answer {
	t.Helper()
	method, path, _ := strings.Cut(f.fill(r.do), " ")
	body := r.body
	if len(body) < 10_000 {
		body = f.fill(body)
	}
	var changes []func(*http.Request)
	if r.change != nil {
		changes = append(changes, r.change)
	}
	a := c.send(t, method, path, body, changes...)
	what := r.name
	if what == "" {
		what = r.do + " " + r.body
	}
	if len(what) > 160 {
		what = what[:160] + "…"
	}
	status := r.status
	if status == 0 {
		status = http.StatusOK
	}
	if a.status != status || a.code() != r.code {
		t.Errorf("%s: got %d %s, want %d %s\n%.500s", what, a.status, a.code(), status, r.code, a.text)
	}
	if got := a.fields(); got != r.fields {
		t.Errorf("%s: the fields at fault are %q, want %q\n%.500s", what, got, r.fields, a.text)
	}
	if message, _ := a.body["message"].(string); !strings.Contains(message, r.tells) {
		t.Errorf("%s: the message does not tell %q: %s", what, r.tells, message)
	}
	if r.has != "" {
		wantData(t, what, f.fill(r.has), a.body["data"])
	}
	if r.save != "" {
		f.vars[r.save] = a.str("id")
	}
	if f.hook != nil {
		f.hook.told(t, what, r.events)
	}
	return a
}

// wantData compares what is wanted with the same parts of what is there.
func wantData(t *testing.T, what, want string, got any) {
	t.Helper()
	wanted, err := jsonschema.UnmarshalJSON(strings.NewReader(want))
	if err != nil {
		t.Fatalf("%s: the row's own JSON: %v\n%s", what, err, want)
	}
	if diff := cmp.Diff(wanted, part(got, wanted)); diff != "" {
		t.Errorf("%s: -want +got:\n%s", what, diff)
	}
}

// part gives of got what want names, so that the two can be compared.
func part(got, want any) any {
	switch w := want.(type) {
	case object:
		g, ok := got.(object)
		if !ok {
			return got
		}
		out := object{}
		for key, value := range w {
			if v, found := g[key]; found {
				out[key] = part(v, value)
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok {
			return got
		}
		out := slices.Clone(g)
		for i := range min(len(g), len(w)) {
			out[i] = part(g[i], w[i])
		}
		return out
	}
	return got
}

// quote writes text as JSON, for bodies.
func quote(text string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // into memory, of a string: can't fail
	return strings.TrimSpace(out.String())
}
