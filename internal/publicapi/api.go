package publicapi

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/coursebridge/coursebridge/api"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

// prefix is the base address of the API.
const prefix = "/api/v1"

// Service is what the API needs done. It checks the values of what it is given
// and answers with errors of the domain; any other error becomes a 500.
type Service interface {
	// Authenticate finds a live token, its company filled in. It gives
	// unauthorized, company_suspended or address_not_allowed.
	Authenticate(ctx context.Context, bearer string, from netip.Addr) (domain.Token, error)

	Provision(ctx context.Context, c domain.Caller, in domain.Provision) (domain.Employee, domain.ProvisionStatus, error)
	Employees(ctx context.Context, c domain.Caller, f domain.EmployeeFilter, p domain.PageRequest) (domain.Page[domain.Employee], error)
	Employee(ctx context.Context, c domain.Caller, externalID string) (domain.Employee, []domain.Assignment, error)
	PatchEmployee(ctx context.Context, c domain.Caller, externalID string, p domain.EmployeePatch) (domain.EmployeePatched, error)
	DeleteEmployee(ctx context.Context, c domain.Caller, externalID string) error

	Courses(ctx context.Context, c domain.Caller) ([]domain.Course, error)

	Assign(ctx context.Context, c domain.Caller, n domain.NewAssignment) (domain.Assignment, error)
	// AssignMany gives one result per item, in the order of the items; an item
	// that carries an error gets it back as its result.
	AssignMany(ctx context.Context, c domain.Caller, items []domain.BulkItem) ([]domain.BulkResult, error)
	Assignments(ctx context.Context, c domain.Caller, f domain.AssignmentFilter, p domain.PageRequest) (domain.AssignmentPage, error)
	Assignment(ctx context.Context, c domain.Caller, id int64) (domain.Assignment, error)
	AssignmentByExternalID(ctx context.Context, c domain.Caller, externalID string) (domain.Assignment, error)
	Revoke(ctx context.Context, c domain.Caller, id int64) error

	// Now is the database's clock, by which answers call an assignment overdue.
	Now() time.Time
}

// Limiter counts a token's requests.
type Limiter interface {
	// Admit writes where the token stands into the answer, and gives rate_limited
	// when its limit is used up.
	Admit(answer http.Header, companyID, tokenID int64) error
	// Full writes where a token stands that has asked nothing.
	Full(answer http.Header)
}

// Options are the parts of the API that can be left out.
type Options struct {
	Limiter Limiter // nil: no limit
}

// handler implements the generated interfaces but for the reports.
type handler struct {
	svc     Service
	limiter Limiter
}

var (
	_ oas.Handler         = (*handler)(nil)
	_ oas.SecurityHandler = (*handler)(nil)
)

// New gives the API with everything below /api/v1, its own description included.
func New(svc Service, reports oas.RawHandler, opts Options) (http.Handler, error) {
	h := &handler{svc: svc, limiter: opts.Limiter}
	server, err := oas.NewServer(h, reports, h,
		oas.WithPathPrefix(prefix),
		oas.WithNotFound(h.notFound),
		oas.WithMethodNotAllowed(h.notAllowed),
		oas.WithErrorHandler(undecodable),
	)
	if err != nil {
		return nil, fmt.Errorf("public API: %w", err)
	}
	return &router{
		handler:    h,
		operations: server,
		documents: map[string]http.Handler{
			prefix + "/openapi.json": httpapi.Document("application/json; charset=utf-8", api.PublicJSON()),
			prefix + "/openapi.yaml": httpapi.Document("application/yaml", api.PublicYAML()),
		},
	}, nil
}
