// Command walk calls every operation of the running program with the client that
// oapi-codegen generates. scripts/contract-clients.sh compiles it next to that client.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"

	"example.com/clients/oapi"
)

func main() {
	course, err := strconv.ParseInt(os.Getenv("COURSEBRIDGE_COURSE"), 10, 64)
	check("COURSEBRIDGE_COURSE", err)
	client, err := oapi.NewClientWithResponses(os.Getenv("COURSEBRIDGE_URL")+"/api/v1", oapi.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("COURSEBRIDGE_TOKEN"))
		return nil
	}))
	check("client", err)
	w := walk{c: client, course: course, called: map[string]bool{}}
	w.people()
	w.assignments()
	w.reports()
	w.leave()
	w.complete()
}

type walk struct {
	c          *oapi.ClientWithResponses
	course     int64
	assignment int64
	called     map[string]bool
}

var ctx = context.Background()

const (
	who  = "go/walk ü"
	task = "go walk"
)

// ok notes that an operation was called and stops unless its answer is a success
// that was decoded.
func (w *walk) ok(operation string, response interface{ StatusCode() int }, err error) {
	check(operation, err)
	if response.StatusCode() != http.StatusOK {
		log.Fatalf("%s: status %d: %s", operation, response.StatusCode(), reflect.ValueOf(response).Elem().FieldByName("Body").Bytes())
	}
	if data := reflect.ValueOf(response).Elem().FieldByName("JSON200"); data.IsValid() && data.IsNil() {
		log.Fatalf("%s: the answer was not decoded", operation)
	}
	w.called[operation] = true
}

func (w *walk) people() {
	token, err := w.c.GetTokenWithResponse(ctx, nil)
	w.ok("GetToken", token, err)
	courses, err := w.c.ListCoursesWithResponse(ctx, nil)
	w.ok("ListCourses", courses, err)
	want("course", courses.JSON200.Data.Items[0].Id, w.course)
	made, err := w.c.ProvisionEmployeeWithResponse(ctx, nil, oapi.ProvisionInput{ExternalId: who, Email: "go@acme.example", Name: "Go"})
	w.ok("ProvisionEmployee", made, err)
	want("provision", string(made.JSON200.Data.Status), "created")
	name := "Gopher"
	changed, err := w.c.UpdateEmployeeWithResponse(ctx, who, nil, oapi.EmployeeUpdate{Name: &name})
	w.ok("UpdateEmployee", changed, err)
	employee, err := changed.JSON200.Data.AsEmployee()
	check("the changed employee", err)
	want("name", employee.Name, name)
	id := who
	list, err := w.c.ListEmployeesWithResponse(ctx, &oapi.ListEmployeesParams{ExternalId: &id})
	w.ok("ListEmployees", list, err)
	want("employees", len(list.JSON200.Data.Items), 1)
}

func (w *walk) assignments() {
	input := oapi.AssignmentInput{EmployeeExternalId: who, CourseId: w.course, ExternalId: task}
	made, err := w.c.CreateAssignmentWithResponse(ctx, nil, input)
	w.ok("CreateAssignment", made, err)
	w.assignment = made.JSON200.Data.Id
	bad := input
	bad.CourseId = 999_999
	bulk, err := w.c.CreateAssignmentsBulkWithResponse(ctx, nil, oapi.BulkInput{Items: []oapi.AssignmentInput{input, bad}})
	w.ok("CreateAssignmentsBulk", bulk, err)
	done, err := bulk.JSON200.Data.Results[0].AsBulkDone()
	check("the first item", err)
	failed, err := bulk.JSON200.Data.Results[1].AsBulkFailed()
	check("the second item", err)
	want("the bulk's assignment", done.AssignmentId, w.assignment)
	want("the bulk's error", failed.Code, "course_not_found")
	person := who
	list, err := w.c.ListAssignmentsWithResponse(ctx, &oapi.ListAssignmentsParams{EmployeeExternalId: &person})
	w.ok("ListAssignments", list, err)
	want("assignments", len(list.JSON200.Data.Items), 1)
	employee, err := w.c.GetEmployeeWithResponse(ctx, who, nil)
	w.ok("GetEmployee", employee, err)
	want("assignments of the employee", len(employee.JSON200.Data.Assignments), 1)
	one, err := w.c.GetAssignmentWithResponse(ctx, w.assignment, nil)
	w.ok("GetAssignment", one, err)
	progress, err := w.c.GetAssignmentProgressWithResponse(ctx, w.assignment, nil)
	w.ok("GetAssignmentProgress", progress, err)
	results, err := w.c.GetAssignmentResultsWithResponse(ctx, w.assignment, nil)
	w.ok("GetAssignmentResults", results, err)
	twin, err := w.c.GetAssignmentByExternalIdWithResponse(ctx, task, nil)
	w.ok("GetAssignmentByExternalId", twin, err)
	want("the assignment by external id", twin.JSON200.Data.Id, w.assignment)
	progressTwin, err := w.c.GetAssignmentProgressByExternalIdWithResponse(ctx, task, nil)
	w.ok("GetAssignmentProgressByExternalId", progressTwin, err)
	resultsTwin, err := w.c.GetAssignmentResultsByExternalIdWithResponse(ctx, task, nil)
	w.ok("GetAssignmentResultsByExternalId", resultsTwin, err)
}

func (w *walk) reports() {
	assignments, err := w.c.ReportAssignmentsCsvWithResponse(ctx, nil)
	w.ok("ReportAssignmentsCsv", assignments, err)
	want("the header of the report", strings.HasPrefix(string(assignments.Body), "id,externalId,"), true)
	assignmentBook, err := w.c.ReportAssignmentsXlsxWithResponse(ctx, nil)
	w.ok("ReportAssignmentsXlsx", assignmentBook, err)
	employees, err := w.c.ReportEmployeesCsvWithResponse(ctx, nil)
	w.ok("ReportEmployeesCsv", employees, err)
	employeeBook, err := w.c.ReportEmployeesXlsxWithResponse(ctx, nil)
	w.ok("ReportEmployeesXlsx", employeeBook, err)
	want("the spreadsheet's first bytes", string(employeeBook.Body[:2]), "PK")
}

// leave takes back what the walk made, and meets a documented error.
func (w *walk) leave() {
	revoked, err := w.c.RevokeAssignmentWithResponse(ctx, w.assignment, nil)
	w.ok("RevokeAssignment", revoked, err)
	deleted, err := w.c.DeleteEmployeeWithResponse(ctx, who, nil)
	w.ok("DeleteEmployee", deleted, err)
	gone, err := w.c.GetEmployeeWithResponse(ctx, who, nil)
	check("GetEmployee", err)
	want("the status of a deleted employee", gone.StatusCode(), http.StatusNotFound)
	want("its code", gone.JSON404.Code, "employee_not_found")
}

// complete stops unless the walk has called everything that the client can call.
func (w *walk) complete() {
	all := reflect.TypeFor[oapi.ClientWithResponsesInterface]()
	for i := range all.NumMethod() {
		operation := strings.TrimSuffix(all.Method(i).Name, "WithResponse")
		if !strings.HasSuffix(operation, "WithBody") && !w.called[operation] {
			log.Fatalf("%s was not called", operation)
		}
	}
	fmt.Printf("oapi-codegen: %d operations\n", len(w.called))
}

func want[T comparable](what string, got, expected T) {
	if got != expected {
		log.Fatalf("%s: got %v, want %v", what, got, expected)
	}
}

func check(what string, err error) {
	if err != nil {
		log.Fatalf("%s: %v", what, err)
	}
}
