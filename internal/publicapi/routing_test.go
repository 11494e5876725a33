package publicapi_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi"
)

// routed is where a request went: the pattern and the decoded path argument that
// reached the service, or the status and methods of a refusal.
type routed struct {
	Route  string
	Arg    string
	Allow  string
	Status int
}

// route sends a request with a good token and a body that suits every operation.
func route(t *testing.T, method, path string) routed {
	t.Helper()
	f := &fake{bulk: func([]domain.BulkItem) []domain.BulkResult { return nil }}
	const body = `{"externalId":"a","email":"a@b.c","name":"A","employeeExternalId":"a","courseId":1,"items":[]}`
	rec := httptest.NewRecorder()
	r := httpapi.WithInfo(rec, httptest.NewRequest(method, "/api/v1"+path, strings.NewReader(body)))
	r.Header.Set("Authorization", "Bearer all")
	newAPI(t, f, publicapi.Options{}).ServeHTTP(rec, r)
	got := routed{Route: strings.TrimPrefix(httpapi.InfoFrom(r.Context()).Route, "/api/v1"), Allow: rec.Header().Get("Allow")}
	if rec.Code == 404 || rec.Code == 405 {
		got.Status = rec.Code
	}
	if strings.Contains(got.Route, "{") && len(f.called) > 0 {
		got.Arg = fmt.Sprint(f.called[0])
	}
	return got
}

func TestRouting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path string
		want         routed
	}{
		{"GET", "/employees", routed{Route: "/employees"}},
		{"GET", "/courses", routed{Route: "/courses"}},
		{"GET", "/token", routed{Route: "/token"}},
		{"GET", "/reports/assignments.csv", routed{Route: "/reports/assignments.csv"}},
		{"GET", "/reports/assignments.xlsx", routed{Route: "/reports/assignments.xlsx"}},
		{"GET", "/reports/employees.csv", routed{Route: "/reports/employees.csv"}},
		{"GET", "/reports/employees.xlsx", routed{Route: "/reports/employees.xlsx"}},

		// An employee may be called "provision", or begin like it.
		{"GET", "/employees/provision", routed{Route: "/employees/{externalId}", Arg: "provision"}},
		{"PATCH", "/employees/provision", routed{Route: "/employees/{externalId}", Arg: "provision"}},
		{"DELETE", "/employees/provision", routed{Route: "/employees/{externalId}", Arg: "provision"}},
		{"GET", "/employees/provisional", routed{Route: "/employees/{externalId}", Arg: "provisional"}},
		{"GET", "/employees/prov", routed{Route: "/employees/{externalId}", Arg: "prov"}},

		{"POST", "/employees/provision", routed{Route: "/employees/provision"}},
		{"POST", "/employees-provision", routed{Status: 404}},

		{"POST", "/assignments", routed{Route: "/assignments"}},
		{"POST", "/assignments/bulk", routed{Route: "/assignments/bulk"}},
		{"GET", "/assignments/bulk", routed{Status: 405, Allow: "POST"}},
		{"GET", "/assignments/bulk2", routed{Route: "/assignments/{id}"}},
		{"GET", "/assignments/7", routed{Route: "/assignments/{id}", Arg: "7"}},
		{"DELETE", "/assignments/7", routed{Route: "/assignments/{id}", Arg: "7"}},
		{"GET", "/assignments/7/progress", routed{Route: "/assignments/{id}/progress", Arg: "7"}},
		{"GET", "/assignments/7/results", routed{Route: "/assignments/{id}/results", Arg: "7"}},
		{"GET", "/assignments/by-external-id", routed{Route: "/assignments/{id}"}},

		// An assignment may be called like a part of a path.
		{"GET", "/assignments/by-external-id/progress", routed{Route: "/assignments/by-external-id/{externalId}", Arg: "progress"}},
		{"GET", "/assignments/by-external-id/results", routed{Route: "/assignments/by-external-id/{externalId}", Arg: "results"}},
		{"GET", "/assignments/by-external-id/bulk", routed{Route: "/assignments/by-external-id/{externalId}", Arg: "bulk"}},
		{"GET", "/assignments/by-external-id/results/results", routed{Route: "/assignments/by-external-id/{externalId}/results", Arg: "results"}},
		{"GET", "/assignments/by-external-id/a%2Fprogress", routed{Route: "/assignments/by-external-id/{externalId}", Arg: "a/progress"}},

		{"PUT", "/employees/7", routed{Status: 405, Allow: "DELETE, GET, PATCH"}},
		{"PUT", "/courses", routed{Status: 405, Allow: "GET"}},
		{"GET", "/nothing", routed{Status: 404}},
		{"GET", "/employees/a/b", routed{Status: 404}},
		{"GET", "/courses/", routed{Status: 404}},
		{"GET", "", routed{Status: 404}},

		{"GET", "/employees/", routed{Status: 404}},
		{"GET", "/assignments//progress", routed{Status: 404}},
		{"GET", "/assignments/by-external-id/", routed{Status: 404}},
		{"GET", "/assignments/by-external-id//results", routed{Status: 404}},

		// Segments of dots are identifiers like any other, and no path is redirected.
		{"GET", "/employees/..", routed{Route: "/employees/{externalId}", Arg: ".."}},
		{"GET", "/employees/.", routed{Route: "/employees/{externalId}", Arg: "."}},
		{"GET", "/employees/.hidden", routed{Route: "/employees/{externalId}", Arg: ".hidden"}},
		{"GET", "/employees/../courses", routed{Status: 404}},
		{"GET", "/./courses", routed{Status: 404}},
		{"GET", "/courses/.", routed{Status: 404}},
		{"GET", "//courses", routed{Status: 404}},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, route(t, c.method, c.path)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Whatever can be percent-encoded is an identifier, in every path that has one.
func TestRoutingOfEncodedIdentifiers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ encoded, want string }{
		{"dept%2F7", "dept/7"},
		{"%2F", "/"},
		{"%2F%2F", "//"},
		{"a%2F..%2Fb", "a/../b"},
		{"%2E%2E", ".."},
		{"100%25", "100%"},
		{"%252F", "%2F"},
		{"a%2Fb%25c", "a/b%c"},
		{"a%2Fb%252Fc", "a/b%2Fc"},
		{"what%3F", "what?"},
		{"a%2Fwhat%3F", "a/what?"},
		{"c%23", "c#"},
		{"a%2Fc%23", "a/c#"},
		{"c%2B%2B", "c++"},
		{"c++", "c++"},
		{"a%2Fc++", "a/c++"},
		{"two%20words", "two words"},
		{"a%2Ftwo%20words", "a/two words"},
		{"%D0%98%D0%B2%D0%B0%D0%BD", "Иван"},
		{"%D0%98%2F%D0%B2", "И/в"},
		{"%F0%9F%A6%8A", "🦊"},
		{"%F0%9F%A6%8A%2F", "🦊/"},
		{"a;b=c,d", "a;b=c,d"},
		{"a%3Bb%2Cc%2Fd", "a;b,c/d"},
		{"a:b@c&d$e!f*g'h(i)", "a:b@c&d$e!f*g'h(i)"},
		{"%22%3C%3E%5C%5E%60%7B%7C%7D", "\"<>\\^`{|}"},
		{"%70rovision", "provision"},
	} {
		t.Run(c.encoded, func(t *testing.T) {
			t.Parallel()
			for _, to := range []struct{ method, before, after, route string }{
				{"GET", "/employees/", "", "/employees/{externalId}"},
				{"PATCH", "/employees/", "", "/employees/{externalId}"},
				{"DELETE", "/employees/", "", "/employees/{externalId}"},
				{"GET", "/assignments/by-external-id/", "", "/assignments/by-external-id/{externalId}"},
				{"GET", "/assignments/by-external-id/", "/progress", "/assignments/by-external-id/{externalId}/progress"},
				{"GET", "/assignments/by-external-id/", "/results", "/assignments/by-external-id/{externalId}/results"},
			} {
				got := route(t, to.method, to.before+c.encoded+to.after)
				if diff := cmp.Diff(routed{Route: to.route, Arg: c.want}, got); diff != "" {
					t.Errorf("%s %s…%s: -want +got:\n%s", to.method, to.before, to.after, diff)
				}
			}
		})
	}
}
