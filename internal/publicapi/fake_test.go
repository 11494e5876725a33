package publicapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi"
	"github.com/coursebridge/coursebridge/internal/service"
)

var now = time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)

// fake is a service that records its calls and returns the values of its fields.
type fake struct {
	mu     sync.Mutex
	called []any // the arguments of the last call, without context and caller

	token      domain.Token
	err        error // of every call but Authenticate
	employee   domain.Employee
	isLarge    bool // the employee
	onPages    func()
	provision  domain.ProvisionStatus
	patched    domain.EmployeePatched
	employees  domain.Page[domain.Employee]
	courses    []domain.Course
	assignment domain.Assignment
	list       domain.AssignmentPage
	bulk       func([]domain.BulkItem) []domain.BulkResult
	caller     domain.Caller
	onCall     func(ctx context.Context)
}

const readToken, writeToken, allToken, bareToken = "read", "write", "all", "bare"

var tokens = map[string]domain.Token{
	readToken:  {ID: 1, Scopes: []domain.Scope{domain.ScopeBase, domain.ScopeRead}},
	writeToken: {ID: 2, Scopes: []domain.Scope{domain.ScopeBase, domain.ScopeProvision, domain.ScopeAssignment}},
	allToken:   {ID: 3, Scopes: domain.Scopes},
	bareToken:  {ID: 4, Scopes: []domain.Scope{domain.ScopeBase}},
}

func (f *fake) Authenticate(_ context.Context, bearer string, from netip.Addr) (domain.Token, error) {
	switch bearer {
	case "suspended":
		return domain.Token{}, domain.Errorf(domain.CodeCompanySuspended, "Suspended.")
	case "elsewhere":
		return domain.Token{}, domain.Errorf(domain.CodeAddressNotAllowed, "Not from %s.", from)
	case "broken":
		return domain.Token{}, io.ErrClosedPipe
	}
	t, ok := tokens[bearer]
	if !ok {
		return domain.Token{}, domain.ErrUnauthorized
	}
	t.Name, t.CompanyID, t.Company = "HR sync", 12, domain.Company{ID: 12, Name: "Northwind"}
	if f.token.ExpiresAt != nil {
		t.ExpiresAt = f.token.ExpiresAt
	}
	return t, nil
}

func (f *fake) record(ctx context.Context, c domain.Caller, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.called, f.caller = args, c
	if f.onCall != nil {
		f.onCall(ctx)
	}
	return f.err
}

func (f *fake) Provision(ctx context.Context, c domain.Caller, in domain.Provision) (domain.Employee, domain.ProvisionStatus, error) {
	return f.employee, f.provision, f.record(ctx, c, in)
}

func (f *fake) Employees(ctx context.Context, c domain.Caller, filter domain.EmployeeFilter, p domain.PageRequest) (domain.Page[domain.Employee], error) {
	return f.employees, f.record(ctx, c, filter, p)
}

func (f *fake) Employee(ctx context.Context, c domain.Caller, externalID string) (domain.Employee, []domain.Assignment, error) {
	if f.isLarge {
		return f.employee, nil, domain.ErrLargeEmployee
	}
	return f.employee, f.list.Items, f.record(ctx, c, externalID)
}

func (f *fake) EmployeePages(ctx context.Context, c domain.Caller, externalID string, each func(domain.Employee, []domain.Assignment) error) error {
	if err := f.record(ctx, c, externalID); err != nil {
		return err
	}
	if f.onPages != nil {
		f.onPages()
	}
	items := f.list.Items
	for ; len(items) > 3; items = items[3:] {
		if err := each(f.employee, items[:3]); err != nil {
			return err
		}
	}
	return each(f.employee, items)
}

func (f *fake) PatchEmployee(ctx context.Context, c domain.Caller, externalID string, p domain.EmployeePatch) (domain.EmployeePatched, error) {
	return f.patched, f.record(ctx, c, externalID, p)
}

func (f *fake) DeleteEmployee(ctx context.Context, c domain.Caller, externalID string) error {
	return f.record(ctx, c, externalID)
}

func (f *fake) Courses(ctx context.Context, c domain.Caller) ([]domain.Course, error) {
	return f.courses, f.record(ctx, c)
}

func (f *fake) Assign(ctx context.Context, c domain.Caller, n domain.NewAssignment) (domain.Assignment, error) {
	return f.assignment, f.record(ctx, c, n)
}

func (f *fake) AssignMany(ctx context.Context, c domain.Caller, items []domain.BulkItem) ([]domain.BulkResult, error) {
	err := f.record(ctx, c, items)
	return f.bulk(items), err
}

func (f *fake) Assignments(ctx context.Context, c domain.Caller, filter domain.AssignmentFilter, p domain.PageRequest) (domain.AssignmentPage, error) {
	return f.list, f.record(ctx, c, filter, p)
}

func (f *fake) Assignment(ctx context.Context, c domain.Caller, id int64) (domain.Assignment, error) {
	return f.assignment, f.record(ctx, c, id)
}

func (f *fake) AssignmentByExternalID(ctx context.Context, c domain.Caller, externalID string) (domain.Assignment, error) {
	return f.assignment, f.record(ctx, c, externalID)
}

func (f *fake) Revoke(ctx context.Context, c domain.Caller, id int64) error {
	return f.record(ctx, c, id)
}

func (f *fake) Now() time.Time { return now }

// fakeReports writes an empty report of assignments, and is too busy for one of employees.
type fakeReports struct{}

func (fakeReports) WriteAssignments(ctx context.Context, _ domain.Caller, _ domain.AssignmentFilter, file service.ReportFile) error {
	_, err := io.WriteString(file.Begin(ctx, "assignments.csv", "text/csv"), "id\r\n")
	return err
}

func (fakeReports) WriteEmployees(context.Context, domain.Caller, domain.EmployeeFilter, service.ReportFile) error {
	return domain.Errorf(domain.CodeTooManyReports, "Too many.")
}

// testAPI is the API over a fake service.
type testAPI struct{ http.Handler }

func newAPI(t testing.TB, f *fake, opts publicapi.Options) testAPI {
	t.Helper()
	return testAPI{publicapi.New(f, fakeReports{}, opts)}
}

// ask sends a request and returns the answer. The token is "all" unless the test
// is about tokens.
func (h testAPI) ask(token, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/api/v1"+path, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequest(method, "/api/v1"+path, nil)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

// failure is an error body.
type failure struct {
	Result, Code, Message string
	Fields                []domain.FieldError
}

func failureOf(t testing.TB, rec *httptest.ResponseRecorder) failure {
	t.Helper()
	var f failure
	if err := json.Unmarshal(rec.Body.Bytes(), &f); err != nil {
		t.Fatalf("%d %q: %v", rec.Code, rec.Body, err)
	}
	if f.Result != "error" || f.Message == "" {
		t.Errorf("not an error body: %s", rec.Body)
	}
	return f
}

func (f failure) fields() string {
	names := make([]string, len(f.Fields))
	for i, field := range f.Fields {
		names[i] = field.Field
	}
	return strings.Join(names, " ")
}
