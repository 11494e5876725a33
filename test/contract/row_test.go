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

// row is a request and its expected answer. Path, body and has may contain names in
// angle brackets: see company.expand.
type row struct {
	name    string
	do      string // method and path
	body    string
	change  func(*http.Request)
	status  int    // 200 when absent
	code    string // of an error
	fields  string // that the error names
	message string // words that the message must contain
	has     string // JSON that the data must contain
	save    string // name under which the data's id is kept
	events  string // kinds of events that the company's webhook must get
}

// sendRows sends the rows in order; later rows depend on earlier ones.
func (f *company) sendRows(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		f.sendRow(t, f.caller, r)
	}
}

// sendRow sends one row with a company's or the platform's caller.
func (f *company) sendRow(t *testing.T, c caller, r row) *answer {
	t.Helper()
	method, path, _ := strings.Cut(f.expand(r.do), " ")
	body := r.body
	if len(body) < 10_000 {
		body = f.expand(body)
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
	if message, _ := a.body["message"].(string); !strings.Contains(message, r.message) {
		t.Errorf("%s: the message does not contain %q: %s", what, r.message, message)
	}
	if r.has != "" {
		wantData(t, what, f.expand(r.has), a.body["data"])
	}
	if r.save != "" {
		f.vars[r.save] = a.str("id")
	}
	if f.webhook != nil {
		f.webhook.wantEvents(t, what, r.events)
	}
	return a
}

// wantData compares the wanted fields with those of the data.
func wantData(t *testing.T, what, want string, got any) {
	t.Helper()
	wanted, err := jsonschema.UnmarshalJSON(strings.NewReader(want))
	if err != nil {
		t.Fatalf("%s: the row's own JSON: %v\n%s", what, err, want)
	}
	if diff := cmp.Diff(wanted, selectLike(got, wanted)); diff != "" {
		t.Errorf("%s: -want +got:\n%s", what, diff)
	}
}

// selectLike returns the fields of got that want has, so that the two can be compared.
func selectLike(got, want any) any {
	switch w := want.(type) {
	case object:
		g, ok := got.(object)
		if !ok {
			return got
		}
		out := object{}
		for key, value := range w {
			if v, found := g[key]; found {
				out[key] = selectLike(v, value)
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
			out[i] = selectLike(g[i], w[i])
		}
		return out
	}
	return got
}

// quote returns text as a JSON string.
func quote(text string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // into memory, of a string: can't fail
	return strings.TrimSpace(out.String())
}
