package publicapi_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/api"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi"
)

func withHeader(h http.Handler, name, value string) *httptest.ResponseRecorder {
	return withHeaders(h, map[string]string{name: value})
}

func withHeaders(h http.Handler, headers map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/courses", nil)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{})
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "", 404, ""},
		{"GET", "/", 404, ""},
		{"GET", "/nothing", 404, ""},
		{"GET", "/courses/", 404, ""},
		{"GET", "/courses/7", 404, ""},
		{"GET", "//courses", 404, ""},
		{"GET", "/employees/", 404, ""},
		{"GET", "/employees//", 404, ""},
		{"GET", "/employees/a/b", 404, ""},
		{"GET", "/assignments//progress", 404, ""},
		{"GET", "/assignments/by-external-id/", 404, ""},
		{"GET", "/assignments/by-external-id//results", 404, ""},
		{"GET", "/employees/../courses", 404, ""},
		{"POST", "/employees-provision", 404, ""},
		{"GET", "/employees-provision", 404, ""},
		{"POST", "/employees%2Dprovision", 404, ""},
		{"POST", "/employees%2Fprovision", 404, ""},
		{"POST", "/courses", 405, "GET"},
		{"HEAD", "/courses", 405, "GET"},
		{"OPTIONS", "/employees/7", 405, "DELETE, GET, PATCH"},
		{"POST", "/employees/7", 405, "DELETE, GET, PATCH"},
		{"PUT", "/employees/provision", 405, "DELETE, GET, PATCH, POST"},
		{"OPTIONS", "/employees/provision", 405, "DELETE, GET, PATCH, POST"},
		{"POST", "/employees", 405, "GET"},
		{"PATCH", "/assignments/7", 405, "DELETE, GET"},
		{"GET", "/assignments/bulk", 405, "POST"},
		{"BREW", "/assignments", 405, "GET, POST"},
		{"DELETE", "/openapi.json", 405, "GET, HEAD"},
	} {
		for _, token := range []string{"", "nobody", allToken} {
			rec := h.ask(token, c.method, c.path, "")
			if rec.Code != c.status || rec.Header().Get("Allow") != c.allow {
				t.Errorf("%s %s with %q: %d %q, want %d %q", c.method, c.path, token, rec.Code, rec.Header().Get("Allow"), c.status, c.allow)
			}
			if want := map[int]string{404: "not_found", 405: "method_not_allowed"}[c.status]; c.method != "HEAD" && failureOf(t, rec).Code != want {
				t.Errorf("%s %s: %s", c.method, c.path, rec.Body)
			}
			for name := range rec.Header() {
				if strings.HasPrefix(name, "Access-Control-") || strings.HasPrefix(name, "Accept-") {
					t.Errorf("%s %s: header %s", c.method, c.path, name)
				}
			}
		}
	}
}

// Whatever can be percent-encoded is an identifier, "provision" not excepted.
func TestIdentifiersInPaths(t *testing.T) {
	t.Parallel()
	for encoded, want := range map[string]string{
		"HR-1": "HR-1", "dept%2F7%20%E2%84%963": "dept/7 №3", "provision": "provision", "%2E%2E": "..", "a%2F..%2Fb": "a/../b",
		"100%25": "100%", "%252F": "%2F", "c++": "c++", "c%2B": "c+", "a%3Fb%23c": "a?b#c", "%F0%9F%A6%8A": "🦊", "results": "results",
	} {
		for _, c := range []struct{ method, before, after string }{
			{"GET", "/employees/", ""}, {"PATCH", "/employees/", ""}, {"DELETE", "/employees/", ""},
			{"GET", "/assignments/by-external-id/", ""},
			{"GET", "/assignments/by-external-id/", "/progress"},
			{"GET", "/assignments/by-external-id/", "/results"},
		} {
			f := &fake{}
			rec := newAPI(t, f, publicapi.Options{}).ask(allToken, c.method, c.before+encoded+c.after, "")
			if rec.Code != 200 || len(f.called) == 0 || f.called[0] != want {
				t.Errorf("%s %s%s%s: %d, asked for %v", c.method, c.before, encoded, c.after, rec.Code, f.called)
			}
		}
	}
}

func TestInvalidIdentifiersInPaths(t *testing.T) {
	t.Parallel()
	f := &fake{}
	h := newAPI(t, f, publicapi.Options{})
	for _, bad := range []string{"%FF", "a%00b", "%20a", "a%0A", strings.Repeat("a", 256)} {
		for _, path := range []string{"/employees/" + bad, "/assignments/by-external-id/" + bad + "/results"} {
			rec := h.ask(allToken, "GET", path, "")
			if got := failureOf(t, rec); rec.Code != 400 || got.fields() != "externalId" {
				t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
			}
		}
	}
	for _, bad := range []string{"seven", "7.0", "99999999999999999999", "0x7", "%207", "bulk2"} {
		for _, c := range []struct{ method, after string }{{"GET", ""}, {"DELETE", ""}, {"GET", "/progress"}, {"GET", "/results"}} {
			rec := h.ask(allToken, c.method, "/assignments/"+bad+c.after, "")
			if got := failureOf(t, rec); rec.Code != 400 || got.fields() != "id" {
				t.Errorf("%s %s%s: %d %s", c.method, bad, c.after, rec.Code, rec.Body)
			}
		}
	}
	if f.called != nil {
		t.Errorf("the service was asked for %v", f.called)
	}
}

func TestProvisionPathSpellings(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/employees/provision", "/employees/%70rovision", "/employees/provision?x=1"} {
		f := &fake{provision: domain.ProvisionCreated}
		var info *httpapi.Info
		h := newAPI(t, f, publicapi.Options{})
		outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r = httpapi.WithInfo(w, r)
			info = httpapi.InfoFrom(r.Context())
			h.ServeHTTP(w, r)
		})
		rec := testAPI{outer}.ask(allToken, "POST", path, `{"externalId":"a","email":"a@b.c","name":"A"}`)
		if rec.Code != 200 || info.Route != "/api/v1/employees/provision" {
			t.Errorf("%s: %d, route %s", path, rec.Code, info.Route)
		}
	}
}

// The log and the metrics know every operation by its pattern, also when there
// was no token to look at.
func TestInfoHasTheRoute(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{})
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(api.PublicAt("").JSON, &document); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for path, item := range document.Paths {
		for _, method := range slices.Sorted(maps.Keys(item)) {
			if method == "parameters" {
				continue
			}
			seen++
			rec := httptest.NewRecorder()
			target := "/api/v1" + strings.NewReplacer("{externalId}", "x", "{id}", "7").Replace(path)
			r := httpapi.WithInfo(rec, httptest.NewRequest(strings.ToUpper(method), target, nil))
			h.ServeHTTP(rec, r)
			info := httpapi.InfoFrom(r.Context())
			if rec.Code != 401 || info.Route != "/api/v1"+path || info.Code != domain.CodeUnauthorized {
				t.Errorf("%s %s: %d, route %q", method, path, rec.Code, info.Route)
			}
		}
	}
	if seen != 21 {
		t.Errorf("%d operations", seen)
	}
}

func TestServesItsContract(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{})
	for path, want := range map[string][]byte{"/openapi.json": api.PublicAt("").JSON, "/openapi.yaml": api.PublicAt("").YAML} {
		rec := h.ask("", "GET", path, "")
		if rec.Code != 200 || !bytes.Equal(rec.Body.Bytes(), want) || rec.Header().Get("ETag") == "" {
			t.Errorf("%s: %d %v", path, rec.Code, rec.Header())
		}
	}
}

// With a public address the contract, the collection and the links of lists can be
// used by a client that knows nothing else.
func TestPublicURLMakesAddressesAbsolute(t *testing.T) {
	t.Parallel()
	const origin = "https://learn.example"
	f := &fake{}
	f.employees.Items, f.employees.More = []domain.Employee{{ID: 1}}, true
	f.list.Items, f.list.More = []domain.Assignment{{ID: 1}}, true
	h := newAPI(t, f, publicapi.Options{PublicURL: origin})
	for _, path := range []string{"/openapi.json", "/openapi.yaml", "/postman.json"} {
		rec := h.ask("", "GET", path, "")
		if rec.Code != 200 || !strings.Contains(rec.Body.String(), origin+"/api/v1") {
			t.Errorf("%s: %d, and no %s/api/v1", path, rec.Code, origin)
		}
	}
	for _, path := range []string{"/employees", "/assignments"} {
		rec := h.ask(allToken, "GET", path+"?limit=1", "")
		if link := rec.Header().Get("Link"); !strings.HasPrefix(link, "<"+origin+"/api/v1"+path+"?") {
			t.Errorf("%s: Link %q", path, link)
		}
	}
}

func TestQueryStrings(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{})
	for query, fields := range map[string]string{
		"status=%zz": "", "a=1;b=2": "", "page=1&page=2": "page", "status=started&status=failed": "status",
		"page=0&limit=501&status=x&courseId=x&updatedSince=x&employeeExternalId=&after=x": "employeeExternalId status courseId updatedSince page limit after",
	} {
		rec := h.ask(allToken, "GET", "/assignments?"+query, "")
		if got := failureOf(t, rec); rec.Code != 400 || got.Code != "invalid_request" || got.fields() != fields {
			t.Errorf("%s: %d %s", query, rec.Code, rec.Body)
		}
	}
	f := &fake{}
	rec := newAPI(t, f, publicapi.Options{}).ask(allToken, "GET", "/assignments?unknown=1&unknown=2&limit=5", "")
	want := []any{domain.AssignmentFilter{}, domain.PageRequest{Number: 1, Limit: 5}}
	if diff := cmp.Diff(want, f.called); rec.Code != 200 || diff != "" {
		t.Errorf("%d %s", rec.Code, diff)
	}
}
