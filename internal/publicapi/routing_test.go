package publicapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ogen-go/ogen/middleware"
	"github.com/ogen-go/ogen/ogenerrors"

	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

// reached says where the generated router sent a request: the operation and its
// decoded path argument, or the methods that the path has instead, or the
// parameter that could not be decoded.
type reached struct {
	Operation string
	Arg       string
	Allow     string
	Status    int
	Bad       string
}

// bare is the generated server with nothing behind it: a middleware notes what
// was routed and ends the request there.
type bare struct {
	oas.Handler
	oas.RawHandler
}

var errRouted = errors.New("routed")

func (bare) HandleBearerAuth(ctx context.Context, _ oas.OperationName, _ oas.BearerAuth) (context.Context, error) {
	return ctx, nil
}

func (bare) NewError(context.Context, error) *oas.FailureStatusCodeWithHeaders {
	return &oas.FailureStatusCodeWithHeaders{StatusCode: http.StatusTeapot}
}

func route(t *testing.T, method, path string) reached {
	t.Helper()
	var got reached
	note := func(req middleware.Request, _ middleware.Next) (middleware.Response, error) {
		got.Operation = req.OperationName
		for key, value := range req.Params {
			if key.In == "path" {
				got.Arg = value.(string)
			}
		}
		return middleware.Response{}, errRouted
	}
	server, err := oas.NewServer(bare{}, bare{}, bare{},
		oas.WithPathPrefix("/api/v1"),
		oas.WithMiddleware(note),
		oas.WithNotFound(func(http.ResponseWriter, *http.Request) { got.Status = http.StatusNotFound }),
		oas.WithMethodNotAllowed(func(_ http.ResponseWriter, _ *http.Request, allowed string) {
			got.Status, got.Allow = http.StatusMethodNotAllowed, allowed
		}),
		oas.WithErrorHandler(func(_ context.Context, _ http.ResponseWriter, _ *http.Request, err error) {
			var param *ogenerrors.DecodeParamError
			if !errors.As(err, &param) {
				t.Errorf("%s %s: the generated code failed: %v", method, path, err)
				return
			}
			got.Bad = string(param.In) + " " + param.Name
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest(method, "/api/v1"+path, nil)
	req.Header.Set("Authorization", "Bearer x")
	req.Header.Set("Content-Type", "application/octet-stream")
	server.ServeHTTP(httptest.NewRecorder(), req)
	return got
}

func TestRouting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path string
		want         reached
	}{
		{"GET", "/employees", reached{Operation: oas.ListEmployeesOperation}},
		{"GET", "/courses", reached{Operation: oas.ListCoursesOperation}},
		{"GET", "/token", reached{Operation: oas.GetTokenOperation}},
		{"GET", "/reports/assignments.csv", reached{Operation: oas.ReportAssignmentsCsvOperation}},
		{"GET", "/reports/assignments.xlsx", reached{Operation: oas.ReportAssignmentsXlsxOperation}},
		{"GET", "/reports/employees.csv", reached{Operation: oas.ReportEmployeesCsvOperation}},
		{"GET", "/reports/employees.xlsx", reached{Operation: oas.ReportEmployeesXlsxOperation}},

		// An employee may be called "provision", or begin like it.
		{"GET", "/employees/provision", reached{Operation: oas.GetEmployeeOperation, Arg: "provision"}},
		{"PATCH", "/employees/provision", reached{Operation: oas.UpdateEmployeeOperation, Arg: "provision"}},
		{"DELETE", "/employees/provision", reached{Operation: oas.DeleteEmployeeOperation, Arg: "provision"}},
		{"GET", "/employees/provisional", reached{Operation: oas.GetEmployeeOperation, Arg: "provisional"}},
		{"GET", "/employees/prov", reached{Operation: oas.GetEmployeeOperation, Arg: "prov"}},

		// Provisioning is generated under another path; see the command in api/gen.
		{"POST", "/employees-provision", reached{Operation: oas.ProvisionEmployeeOperation}},
		{"POST", "/employees/provision", reached{Status: 405, Allow: "DELETE,GET,PATCH"}},

		{"POST", "/assignments", reached{Operation: oas.CreateAssignmentOperation}},
		{"POST", "/assignments/bulk", reached{Operation: oas.CreateAssignmentsBulkOperation}},
		{"GET", "/assignments/bulk", reached{Status: 405, Allow: "POST"}},
		{"GET", "/assignments/bulk2", reached{Operation: oas.GetAssignmentOperation, Arg: "bulk2"}},
		{"GET", "/assignments/7", reached{Operation: oas.GetAssignmentOperation, Arg: "7"}},
		{"DELETE", "/assignments/7", reached{Operation: oas.RevokeAssignmentOperation, Arg: "7"}},
		{"GET", "/assignments/7/progress", reached{Operation: oas.GetAssignmentProgressOperation, Arg: "7"}},
		{"GET", "/assignments/7/results", reached{Operation: oas.GetAssignmentResultsOperation, Arg: "7"}},
		{"GET", "/assignments/by-external-id", reached{Operation: oas.GetAssignmentOperation, Arg: "by-external-id"}},

		// An assignment may be called like a part of a path.
		{"GET", "/assignments/by-external-id/progress", reached{Operation: oas.GetAssignmentByExternalIDOperation, Arg: "progress"}},
		{"GET", "/assignments/by-external-id/results", reached{Operation: oas.GetAssignmentByExternalIDOperation, Arg: "results"}},
		{"GET", "/assignments/by-external-id/bulk", reached{Operation: oas.GetAssignmentByExternalIDOperation, Arg: "bulk"}},
		{"GET", "/assignments/by-external-id/results/results", reached{Operation: oas.GetAssignmentResultsByExternalIDOperation, Arg: "results"}},
		{"GET", "/assignments/by-external-id/a%2Fprogress", reached{Operation: oas.GetAssignmentByExternalIDOperation, Arg: "a/progress"}},

		{"PUT", "/employees/7", reached{Status: 405, Allow: "DELETE,GET,PATCH"}},
		{"PUT", "/courses", reached{Status: 405, Allow: "GET"}},
		{"GET", "/nothing", reached{Status: 404}},
		{"GET", "/employees/a/b", reached{Status: 404}},
		{"GET", "/courses/", reached{Status: 404}},
		{"GET", "", reached{Status: 404}},

		// An empty segment is matched and then refused, which the error handler has to turn into a 404.
		{"GET", "/employees/", reached{Bad: "path externalId"}},
		{"GET", "/assignments//progress", reached{Bad: "path id"}},
		{"GET", "/assignments/by-external-id/", reached{Bad: "path externalId"}},
		{"GET", "/assignments/by-external-id//results", reached{Bad: "path externalId"}},

		// So is a parameter that is given twice, which is a 400.
		{"GET", "/employees?page=1&page=2", reached{Bad: "query page"}},
		{"GET", "/employees?page=", reached{Operation: oas.ListEmployeesOperation}},
		{"GET", "/employees?page=%zz&page[]=1&other=1", reached{Operation: oas.ListEmployeesOperation}},
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
		{"a%00b", "a\x00b"},
		{"%FF", "\xff"},
		{"%2F%FF", "/\xff"},
	} {
		t.Run(c.encoded, func(t *testing.T) {
			t.Parallel()
			for _, to := range []struct{ method, before, after, operation string }{
				{"GET", "/employees/", "", oas.GetEmployeeOperation},
				{"PATCH", "/employees/", "", oas.UpdateEmployeeOperation},
				{"DELETE", "/employees/", "", oas.DeleteEmployeeOperation},
				{"GET", "/assignments/by-external-id/", "", oas.GetAssignmentByExternalIDOperation},
				{"GET", "/assignments/by-external-id/", "/progress", oas.GetAssignmentProgressByExternalIDOperation},
				{"GET", "/assignments/by-external-id/", "/results", oas.GetAssignmentResultsByExternalIDOperation},
			} {
				got := route(t, to.method, to.before+c.encoded+to.after)
				if diff := cmp.Diff(reached{Operation: to.operation, Arg: c.want}, got); diff != "" {
					t.Errorf("%s %s…%s: -want +got:\n%s", to.method, to.before, to.after, diff)
				}
			}
		})
	}
}
