package publicapi_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/publicapi"
)

var pathValues = strings.NewReplacer("{externalId}", "x", "{id}", "7")

// The routing table names the parameters and the fields of every request; this
// shows that each of them is read: a value that cannot be right is refused by name.
func TestEveryParameterAndFieldIsRead(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{})
	for _, c := range publicapi.Contracts() {
		path := pathValues.Replace(c.Path)
		for _, name := range c.Query {
			rec := h.ask(allToken, c.Method, path+"?"+name+"=", "")
			if got := failureOf(t, rec); rec.Code != 400 || got.fields() != name {
				t.Errorf("%s %s?%s=: got %d %s", c.Method, path, name, rec.Code, rec.Body)
			}
		}
		if c.Body == nil {
			continue
		}
		for _, field := range reflect.VisibleFields(reflect.TypeOf(c.Body)) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			rec := h.ask(allToken, c.Method, path, `{"`+name+`":{}}`)
			if got := failureOf(t, rec); rec.Code != 400 || !strings.Contains(got.fields(), name) || !strings.Contains(got.Message, name+": must be") {
				t.Errorf("%s %s with an object as %s: got %d %s", c.Method, path, name, rec.Code, rec.Body)
			}
		}
	}
}
