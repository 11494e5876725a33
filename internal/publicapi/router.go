package publicapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/ogen-go/ogen/uri"

	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

// routes are the patterns by which operations appear in the log and the metrics.
var routes = map[oas.OperationName]string{
	oas.ProvisionEmployeeOperation:                 prefix + "/employees/provision",
	oas.ListEmployeesOperation:                     prefix + "/employees",
	oas.GetEmployeeOperation:                       prefix + "/employees/{externalId}",
	oas.UpdateEmployeeOperation:                    prefix + "/employees/{externalId}",
	oas.DeleteEmployeeOperation:                    prefix + "/employees/{externalId}",
	oas.ListCoursesOperation:                       prefix + "/courses",
	oas.CreateAssignmentOperation:                  prefix + "/assignments",
	oas.ListAssignmentsOperation:                   prefix + "/assignments",
	oas.CreateAssignmentsBulkOperation:             prefix + "/assignments/bulk",
	oas.GetAssignmentOperation:                     prefix + "/assignments/{id}",
	oas.RevokeAssignmentOperation:                  prefix + "/assignments/{id}",
	oas.GetAssignmentProgressOperation:             prefix + "/assignments/{id}/progress",
	oas.GetAssignmentResultsOperation:              prefix + "/assignments/{id}/results",
	oas.GetAssignmentByExternalIDOperation:         prefix + "/assignments/by-external-id/{externalId}",
	oas.GetAssignmentProgressByExternalIDOperation: prefix + "/assignments/by-external-id/{externalId}/progress",
	oas.GetAssignmentResultsByExternalIDOperation:  prefix + "/assignments/by-external-id/{externalId}/results",
	oas.ReportAssignmentsCsvOperation:              prefix + "/reports/assignments.csv",
	oas.ReportAssignmentsXlsxOperation:             prefix + "/reports/assignments.xlsx",
	oas.ReportEmployeesCsvOperation:                prefix + "/reports/employees.csv",
	oas.ReportEmployeesXlsxOperation:               prefix + "/reports/employees.xlsx",
	oas.GetTokenOperation:                          prefix + "/token",
}

// Provisioning is generated under a path of its own: the generated router can't
// tell POST /employees/provision from an employee called "provision". Nobody
// outside sees that path.
const (
	provisionPath      = prefix + "/employees/provision"
	provisionGenerated = prefix + "/employees-provision"
)

// router does what the generated router can't.
type router struct {
	handler    *handler
	operations *oas.Server
	documents  map[string]http.Handler
}

// octets is the one content type of the generated interface: bodies are judged
// by what they are, not by what they are called.
var octets = []string{"application/octet-stream"}

func (a *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = httpapi.WithInfo(w, r)
	path := escaped(r.URL)
	if document, ok := a.documents[path]; ok {
		httpapi.InfoFrom(r.Context()).Route = path
		a.handler.uncounted(w.Header())
		document.ServeHTTP(w, r)
		return
	}
	switch {
	// The generated router takes an empty segment for an identifier, and would
	// ask for a token before it finds out.
	case path == provisionGenerated, strings.Contains(path, "//"), strings.HasSuffix(path, "/"):
		a.handler.notFound(w, r)
		return
	case path == provisionPath && r.Method == http.MethodPost:
		moved := *r
		moved.URL = new(url.URL)
		*moved.URL = *r.URL
		moved.URL.Path, moved.URL.RawPath = provisionGenerated, ""
		r = &moved
	}
	r.Header["Content-Type"] = octets
	a.operations.ServeHTTP(w, r)
}

// escaped gives the path as the generated router reads it: an encoded slash is
// not a slash.
func escaped(u *url.URL) string {
	if u.RawPath != "" {
		if path, ok := uri.NormalizeEscapedPath(u.RawPath); ok {
			return path
		}
	}
	return u.Path
}

func (h *handler) notFound(w http.ResponseWriter, r *http.Request) {
	h.uncounted(w.Header())
	httpapi.NotFound(w, r)
}

func (h *handler) notAllowed(w http.ResponseWriter, r *http.Request, allowed string) {
	h.uncounted(w.Header())
	methods := strings.Split(allowed, ",")
	if escaped(r.URL) == provisionPath {
		methods = append(methods, http.MethodPost)
	}
	httpapi.NotAllowed(w, r, methods...)
}
