package service_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// reads are the use cases on a company that everybody may call, also while it is
// suspended. Whatever is not listed here changes something or shows a secret.
var reads = map[string][]string{
	"Learning": {
		"Assignment", "AssignmentByExternalID", "Assignments", "CountTabs", "Course", "CourseMedianDays", "CourseOverviews", "Courses", "Employee", "EmployeeOverviews", "EmployeePages", "EmployeeRecord",
		"Employees", "ErasureEffects", "FindPeople", "HomeFigures", "ListAssignments", "Tags",
	},
	"Jobs":           {"Get", "Recent"},
	"PeopleActions":  {"Count"},
	"BulkActions":    {"Count"},
	"Assigning":      {"Count"},
	"Imports":        {"Check", "Get", "Missing"},
	"Companies":      {},
	"Administrators": {"List"},
	"Tokens":         {"Get"},
	"Webhooks":       {"CountRedeliver", "Deliveries", "Delivery", "Get", "Health", "List", "Overviews", "RedeliveryJob", "SampleBody", "Waiting"},
	"Audit":          {"List"},
	"SavedViews":     {"Get", "List"},
	"Requests":       {"Find", "Hours", "List"},
	"Reports": {
		"Compliance", "CompletionByCourse", "CompletionByTag", "Lateness", "Matrix", "UsedCourses",
		"WriteAPIRequests", "WriteAssignmentList", "WriteAssignments", "WriteAuditLog", "WriteCompliance", "WriteCourseCompletion", "WriteCourses", "WriteDeliveries",
		"WriteEmployeeList", "WriteEmployees", "WriteMatrix", "WriteTagCompletion", "WriteTokens", "WriteWebhooks",
	},
}

// ownerActs are the use cases that take an owner.
var ownerActs = map[string][]string{
	"Companies":      {"UpdateSettings"},
	"Administrators": {"Invite", "Remove", "SetRole", "Uninvite"},
}

// TestEveryActIsAuthorized calls every use case that takes a domain.Caller with
// callers who may not do it. A use case that is neither listed as a read nor refuses
// them, such as a new one that forgot to ask, fails.
func TestEveryActIsAuthorized(t *testing.T) {
	t.Parallel()
	suspendedAt := time.Now()
	person := domain.Actor{Kind: domain.ActorPerson, ID: 1}
	suspended := domain.Company{ID: 1, SuspendedAt: &suspendedAt}
	checked := 0
	for _, useCases := range []any{
		&service.Learning{}, &service.Companies{}, &service.Administrators{}, &service.Tokens{}, &service.Webhooks{}, &service.Audit{},
		&service.Reports{}, &service.Requests{}, &service.Jobs{}, &service.PeopleActions{}, &service.BulkActions{},
		&service.Assigning{}, &service.Imports{}, &service.SavedViews{},
	} {
		value := reflect.ValueOf(useCases)
		name := value.Type().Elem().Name()
		for i := range value.NumMethod() {
			method := value.Type().Method(i)
			at := slices.Index(parameters(method), reflect.TypeFor[domain.Caller]())
			if at < 0 || slices.Contains(reads[name], method.Name) {
				continue
			}
			checked++
			call := func(c domain.Caller) error { return callWith(value.Method(i), at, c) }
			must := func(what string, c domain.Caller, want error) {
				t.Helper()
				if err := call(c); !errors.Is(err, want) {
					t.Errorf("%s.%s by %s: %v, want %v", name, method.Name, what, err, want)
				}
			}
			denied := domain.ErrViewerOnly
			if slices.Contains(ownerActs[name], method.Name) {
				denied = domain.ErrOwnersOnly
				must("an administrator", domain.Caller{Company: domain.Company{ID: 1}, Actor: person, Role: domain.CabinetAdministrator}, denied)
			}
			must("a viewer", domain.Caller{Company: domain.Company{ID: 1}, Actor: person, Role: domain.CabinetViewer}, denied)
			must("someone without a role", domain.Caller{Company: domain.Company{ID: 1}, Actor: person}, denied)
			must("an owner of a suspended company", domain.Caller{Company: suspended, Actor: person, Role: domain.CabinetOwner}, domain.ErrCompanyReadOnly)
		}
	}
	if checked < 25 {
		t.Errorf("only %d acts were found", checked)
	}
}

func parameters(m reflect.Method) (out []reflect.Type) {
	for i := 1; i < m.Type.NumIn(); i++ {
		out = append(out, m.Type.In(i))
	}
	return out
}

// callWith calls a use case with zero values and the caller, and returns its error.
// A use case that goes on instead of refusing meets a store that is not there.
func callWith(method reflect.Value, at int, c domain.Caller) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = domain.Errorf(domain.CodeInternal, "not refused")
		}
	}()
	in := make([]reflect.Value, method.Type().NumIn())
	for i := range in {
		in[i] = reflect.Zero(method.Type().In(i))
		if method.Type().In(i) == reflect.TypeFor[context.Context]() {
			in[i] = reflect.ValueOf(context.Background())
		}
	}
	in[at] = reflect.ValueOf(c)
	out := method.Call(in)
	if last, ok := out[len(out)-1].Interface().(error); ok {
		err = last
	}
	return err
}
