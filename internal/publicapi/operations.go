package publicapi

import (
	"net/http"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/service"
)

// operations is the routing table: every operation of the contract with its
// scope and the function that answers it.
func (h *handler) operations() []httpapi.Operation[domain.Token] {
	const (
		get, post, patch, remove = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete

		read, provision, assign = domain.ScopeRead, domain.ScopeProvision, domain.ScopeAssignment

		employee   = "/employees/{externalId}"
		byID       = "/assignments/{id}"
		byExternal = "/assignments/by-external-id/{externalId}"
	)
	var (
		missing  = []int{http.StatusNotFound}
		conflict = []int{http.StatusConflict}
		either   = []int{http.StatusNotFound, http.StatusConflict}

		employees     = []string{"page", "limit", "after", "externalId", "email", "tag"}
		assignments   = []string{"employeeExternalId", "status", "courseId", "updatedSince", "page", "limit", "after"}
		assignmentCSV = []string{"employeeExternalId", "status", "courseId", "updatedSince", "bom"}
		assignmentXLS = []string{"employeeExternalId", "status", "courseId", "updatedSince"}
		employeeCSV   = []string{"tag", "bom"}
		employeeXLS   = []string{"tag"}
	)
	return []httpapi.Operation[domain.Token]{
		{Method: post, Path: "/employees/provision", Scope: provision, Handler: answer(h.provisionEmployee), Body: v1.ProvisionInput{}, Errors: conflict},
		{Method: get, Path: "/employees", Scope: read, Handler: answer(h.listEmployees), Query: employees, Replica: true},
		{Method: get, Path: employee, Scope: read, Handler: answer(h.getEmployee), Errors: missing},
		{Method: patch, Path: employee, Scope: provision, Handler: answer(h.updateEmployee), Body: v1.EmployeeUpdate{}, Errors: either},
		{Method: remove, Path: employee, Scope: provision, Handler: answer(h.deleteEmployee), Errors: missing},

		{Method: get, Path: "/courses", Scope: read, Handler: answer(h.listCourses)},

		{Method: post, Path: "/assignments", Scope: assign, Handler: answer(h.createAssignment), Body: v1.AssignmentInput{}, Errors: either},
		{Method: get, Path: "/assignments", Scope: read, Handler: answer(h.listAssignments), Query: assignments, Replica: true},
		{Method: post, Path: "/assignments/bulk", Scope: assign, Handler: answer(h.createAssignments), Body: v1.BulkInput{}, Exclusive: true},
		{Method: get, Path: byID, Scope: read, Handler: answer(h.getAssignment), Errors: missing},
		{Method: remove, Path: byID, Scope: assign, Handler: answer(h.revokeAssignment), Errors: missing},
		{Method: get, Path: byID + "/progress", Scope: read, Handler: answer(h.getProgress), Errors: missing, Fallback: true},
		{Method: get, Path: byID + "/results", Scope: read, Handler: answer(h.getResults), Errors: missing, Fallback: true},
		{Method: get, Path: byExternal, Scope: read, Handler: answer(h.getAssignment), Errors: missing},
		{Method: get, Path: byExternal + "/progress", Scope: read, Handler: answer(h.getProgress), Errors: missing},
		{Method: get, Path: byExternal + "/results", Scope: read, Handler: answer(h.getResults), Errors: missing},

		{Method: get, Path: "/reports/assignments.csv", Scope: read, Handler: h.reportAssignments(service.ReportCSV), Query: assignmentCSV, Replica: true},
		{Method: get, Path: "/reports/assignments.xlsx", Scope: read, Handler: h.reportAssignments(service.ReportXLSX), Query: assignmentXLS, Replica: true},
		{Method: get, Path: "/reports/employees.csv", Scope: read, Handler: h.reportEmployees(service.ReportCSV), Query: employeeCSV, Replica: true},
		{Method: get, Path: "/reports/employees.xlsx", Scope: read, Handler: h.reportEmployees(service.ReportXLSX), Query: employeeXLS, Replica: true},

		{Method: get, Path: "/token", Scope: domain.ScopeBase, Handler: answer(h.getToken)},
	}
}

// answer is httpapi.Answer, spelled short for the table.
func answer[Data v1.Body](handle httpapi.HandleFunc[domain.Token, Data]) httpapi.Handler[domain.Token] {
	return httpapi.Answer(handle)
}
