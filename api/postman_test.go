package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/api"
)

// The collection has one request for each operation of the contract, with the
// example of its body.
func TestPostmanHasEveryOperation(t *testing.T) {
	t.Parallel()
	var collection struct {
		Item []struct {
			Name string
			Item []struct {
				Request struct {
					Method string
					URL    struct{ Raw string }
					Body   struct{ Raw string }
				}
			}
		}
	}
	if err := json.Unmarshal(api.PublicAt("").Postman, &collection); err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, folder := range collection.Item {
		for _, item := range folder.Item {
			r := item.Request
			got = append(got, r.Method+" "+r.URL.Raw)
			if withBody := r.Method == http.MethodPost || r.Method == http.MethodPatch; withBody != json.Valid([]byte(r.Body.Raw)) {
				t.Errorf("%s %s has the body %q", r.Method, r.URL.Raw, r.Body.Raw)
			}
		}
	}
	for path, item := range load(t, api.PublicAt("").JSON).Paths {
		for method := range item {
			want = append(want, strings.ToUpper(method)+" {{baseUrl}}"+strings.NewReplacer("{", ":", "}", "").Replace(path))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("requests %v\nwant %v", got, want)
	}
}
