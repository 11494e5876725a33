package contract_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

// paths uses identifiers that have to be percent-encoded in a path.
func paths(t *testing.T, s *suite) {
	f := s.newCompany(t)
	for i, id := range []string{
		"a/b", "/", "a%2Fb", "%", "100%", "%zz", "a?b=c", "a#b", "a+b", "a b", "a&b=c;d", "Иванов", "日本", "😀", "provision", "bulk",
		"by-external-id", "progress", "results", "...", "a/../b", "./a", "..%2f", "a\\b", `"quoted"`, "a:b@c", "~-_.!*'()", "1", "openapi.json",
	} {
		mail := f.email(fmt.Sprint("path", i))
		f.vars["id"], f.vars["path"] = quote(id), percentEncode(id)
		made := f.send(t, "POST", "/employees/provision", fmt.Sprintf(`{"externalId":%s,"email":%q,"name":"P"}`, quote(id), mail))
		if made.status != 200 {
			t.Errorf("%q: %d %s", id, made.status, made.text)
			continue
		}
		assigned := f.send(t, "POST", "/assignments", fmt.Sprintf(`{"employeeExternalId":%s,"courseId":%d,"externalId":%s}`, quote(id), f.course, quote(id)))
		f.vars["a"], f.vars["e"] = assigned.str("id"), made.str("id")
		f.sendRows(t, []row{
			{do: "GET /employees/<path>", has: `{"id":<e>,"externalId":<id>,"assignments":[{"id":<a>}]}`},
			{do: "PATCH /employees/<path>", body: `{"name":"Q"}`, has: `{"id":<e>,"externalId":<id>}`},
			{do: "GET /employees?externalId=<path>", has: `{"items":[{"id":<e>}]}`},
			{do: "GET /assignments?employeeExternalId=<path>", has: `{"items":[{"id":<a>,"employeeExternalId":<id>}]}`},
			{do: "GET /assignments/by-external-id/<path>", has: `{"id":<a>,"externalId":<id>}`},
			{do: "GET /assignments/by-external-id/<path>/progress", has: `{"id":<a>}`},
			{do: "GET /assignments/by-external-id/<path>/results", has: `{"id":<a>}`},
			{do: "PATCH /employees/<path>", body: `{"active":false}`, has: `{"externalId":<id>,"status":"offboarded"}`},
			{do: "DELETE /employees/<path>", has: `{"externalId":<id>,"status":"deleted"}`},
		})
	}
	// What needs no encoding may come without, and letters may come encoded.
	f.provision(t, "Plain")
	for _, path := range []string{"Plain", "%50lain", "Pl%61in", "%50%6c%61%69%6E"} {
		if a := f.send(t, "GET", "/employees/"+path, ""); a.status != 200 {
			t.Errorf("GET /employees/%s: %d", path, a.status)
		}
	}
}

// badPaths sends invalid ids and unknown paths.
func badPaths(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.sendRows(t, []row{
		{do: "GET /employees/%00", status: 400, code: "invalid_request", fields: "externalId"},
		{do: "GET /employees/a%0Ab", status: 400, code: "invalid_request", fields: "externalId"},
		{do: "GET /employees/%FF", status: 400, code: "invalid_request", fields: "externalId"},
		{do: "GET /employees/%20a", status: 400, code: "invalid_request", fields: "externalId"},
		{do: "GET /employees/" + strings.Repeat("a", 256), status: 400, code: "invalid_request", fields: "externalId"},
		{do: "GET /employees/" + percentEncode(strings.Repeat("é", 255)), status: 404, code: "employee_not_found"},
		{do: "GET /employees/%2E%2E", status: 404, code: "employee_not_found"},
		{do: "GET /employees/%2e", status: 404, code: "employee_not_found"},
		{do: "DELETE /employees/%00", status: 400, code: "invalid_request", fields: "externalId"},
		{do: "PATCH /employees/%00", body: `{}`, status: 400, code: "invalid_request", fields: "externalId"},
		{do: "GET /assignments/by-external-id/%00/progress", status: 400, code: "invalid_request", fields: "externalId"},
		{do: "GET /assignments/abc", status: 400, code: "invalid_request", fields: "id"},
		{do: "GET /assignments/1.0", status: 400, code: "invalid_request", fields: "id"},
		{do: "GET /assignments/1e3", status: 400, code: "invalid_request", fields: "id"},
		{do: "GET /assignments/0x10", status: 400, code: "invalid_request", fields: "id"},
		{do: "GET /assignments/%201", status: 400, code: "invalid_request", fields: "id"},
		{do: "GET /assignments/1%00", status: 400, code: "invalid_request", fields: "id"},
		{do: "DELETE /assignments/abc", status: 400, code: "invalid_request", fields: "id"},
		{do: "GET /assignments/abc/results", status: 400, code: "invalid_request", fields: "id"},
		{do: "GET /assignments/0", status: 404, code: "assignment_not_found"},
		{do: "GET /assignments/-1", status: 404, code: "assignment_not_found"},
		{do: "DELETE /assignments/0", status: 404, code: "assignment_not_found"},
		{do: "GET /assignments/9223372036854775807", status: 404, code: "assignment_not_found"},
		{do: "GET /assignments/9223372036854775807/progress", status: 404, code: "assignment_not_found"},
	})
	for _, path := range []string{"/nothing", "/employees/a/b", "/courses/1", "/token/x", "/reports", "/reports/courses.csv", "/", "", "/Employees", "/employees/", "//employees", "/assignments//progress"} {
		for _, c := range []caller{f.caller, f.withToken("")} {
			if a := c.send(t, "GET", path, ""); a.status != 404 || a.code() != "not_found" {
				t.Errorf("GET %q: %d %s", path, a.status, a.text)
			}
		}
	}
}

// wrongMethods tries every method on every path and checks the Allow header.
func wrongMethods(t *testing.T, s *suite) {
	f := s.newCompany(t)
	for _, c := range []caller{f.caller, s.platformCaller()} {
		allowed := map[string][]string{}
		for _, op := range c.contract.Operations {
			allowed[op.Path] = append(allowed[op.Path], op.Method)
		}
		if both := allowed["/employees/{externalId}"]; both != nil {
			// "provision" is also the name that an employee may have.
			allowed["/employees/provision"] = append(allowed["/employees/provision"], both...)
		}
		for path, has := range allowed {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
				if slices.Contains(has, method) {
					continue
				}
				a := c.withToken("").send(t, method, missingPaths.Replace(path), "")
				got := strings.Split(a.header.Get("Allow"), ", ")
				slices.Sort(got)
				slices.Sort(has)
				if a.status != 405 || !slices.Equal(got, has) || method != "HEAD" && a.code() != "method_not_allowed" {
					t.Errorf("%s %s: %d, Allow %v, want %v\n%s", method, path, a.status, got, has, a.text)
				}
			}
		}
	}
}

// documents reads the contracts and the health of the program without a token.
func documents(t *testing.T, s *suite) {
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if status := s.platformCaller().getStatus(t, path); status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
	}
	for _, d := range []*apicheck.Document{s.public, s.platform} {
		for path, kind := range map[string]string{"/openapi.json": "application/json", "/openapi.yaml": "yaml"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+d.Base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := s.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text := readAll(t, response)
			if response.StatusCode != http.StatusOK || !strings.Contains(response.Header.Get("Content-Type"), kind) || response.Header.Get("X-Request-Id") == "" {
				t.Errorf("%s%s: %d %v", d.Base, path, response.StatusCode, response.Header)
			}
			if !strings.Contains(text, "openapi") || !strings.Contains(text, "1.1") {
				t.Errorf("%s%s: %.200s", d.Base, path, text)
			}
			if path == "/openapi.json" {
				if served, err := apicheck.Parse("served", []byte(text)); err != nil || len(served.Operations) != len(d.Operations) {
					t.Errorf("%s%s: %v", d.Base, path, err)
				}
			}
		}
	}
}
