package publicapi

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/coursebridge/coursebridge/api"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/transfer"
)

// prefix is the base address of the API.
const prefix = "/api/v1"

// Service does what the operations ask for. It checks the values that it is
// given and returns errors of the domain; any other error becomes a 500.
type Service interface {
	// Authenticate returns a live token with its company. Codes: unauthorized,
	// company_suspended, address_not_allowed.
	Authenticate(ctx context.Context, bearer string, from netip.Addr) (domain.Token, error)

	Provision(ctx context.Context, c domain.Caller, in domain.Provision) (domain.Employee, domain.ProvisionStatus, error)
	Employees(ctx context.Context, c domain.Caller, f domain.EmployeeFilter, p domain.PageRequest) (domain.Page[domain.Employee], error)
	// Employee returns domain.ErrLargeEmployee for an employee with so many assignments
	// that EmployeePages has to read them. It reuses the slice that it passes to each.
	Employee(ctx context.Context, c domain.Caller, externalID string) (domain.Employee, []domain.Assignment, error)
	EmployeePages(ctx context.Context, c domain.Caller, externalID string, each func(domain.Employee, []domain.Assignment) error) error
	PatchEmployee(ctx context.Context, c domain.Caller, externalID string, p domain.EmployeePatch) (domain.EmployeePatched, error)
	DeleteEmployee(ctx context.Context, c domain.Caller, externalID string) error

	Courses(ctx context.Context, c domain.Caller) ([]domain.Course, error)

	Assign(ctx context.Context, c domain.Caller, n domain.NewAssignment) (domain.Assignment, error)
	// AssignMany returns one result per item, in the order of the items; an item
	// that carries an error gets it back as its result.
	AssignMany(ctx context.Context, c domain.Caller, items []domain.BulkItem) ([]domain.BulkResult, error)
	Assignments(ctx context.Context, c domain.Caller, f domain.AssignmentFilter, p domain.PageRequest) (domain.AssignmentPage, error)
	Assignment(ctx context.Context, c domain.Caller, id int64) (domain.Assignment, error)
	AssignmentByExternalID(ctx context.Context, c domain.Caller, externalID string) (domain.Assignment, error)
	Revoke(ctx context.Context, c domain.Caller, id int64) error

	// Now returns the database's time, which decides whether an assignment is overdue.
	Now() time.Time
}

// Limiter counts a token's requests.
type Limiter interface {
	// Admit counts a request and writes the state of the token's limit into the
	// answer. Codes: rate_limited.
	Admit(answer http.Header, companyID, tokenID int64) error
	// Full writes the limit of a token that has made no request.
	Full(answer http.Header)
}

// Options are the parts of the API that can be left out.
type Options struct {
	Limiter Limiter       // nil for no limit
	Timeout time.Duration // of one request, httpapi.RequestTimeout if zero
	// PublicURL is the address of the installation without a slash at its end. The
	// contract and the links of lists begin with it; without it they are relative.
	PublicURL string
}

// handler answers the operations.
type handler struct {
	svc     Service
	reports ReportService
	limiter Limiter
	base    string // of the links of lists
	large   *transfer.Queue
}

const (
	// largeAnswers is how many large employees are in memory at once, as 5 MB of text
	// each at most. A free place goes to the company that has the fewest.
	largeAnswers = 16
	// largeAnswerGrace is how long a client may take to read such an answer while
	// others wait for its place.
	largeAnswerGrace = 10 * time.Second
)

// request is a request with a valid token.
type request = httpapi.Request[domain.Token]

// New returns the handler of everything below /api/v1, the contract included.
func New(svc Service, reports ReportService, opts Options) http.Handler {
	h := &handler{svc: svc, reports: reports, limiter: opts.Limiter, base: opts.PublicURL + prefix,
		large: transfer.NewQueue(largeAnswers, largeAnswerGrace)}
	a := h.api()
	a.Documents = documents(opts.PublicURL)
	a.Timeout = opts.Timeout
	if opts.Limiter != nil {
		a.SetDefaultRate = opts.Limiter.Full
	}
	return httpapi.NewRouter(a)
}

// Contracts returns what the operations promise, for the test that holds them
// against the contract.
func Contracts() []httpapi.Contract { return new(handler).api().Contracts() }

func (h *handler) api() httpapi.API[domain.Token] {
	return httpapi.API[domain.Token]{
		Prefix:     prefix,
		Operations: h.operations(),
		Statuses: []int{
			http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed,
			http.StatusTooManyRequests,
			http.StatusInternalServerError, http.StatusServiceUnavailable,
		},
		Admit: h.admit,
	}
}

// documents returns the contract and what is generated from it.
func documents(publicURL string) map[string]http.Handler {
	const json = "application/json; charset=utf-8"
	contract := api.PublicAt(publicURL)
	return map[string]http.Handler{
		"/openapi.json": httpapi.Document(json, contract.JSON),
		"/openapi.yaml": httpapi.Document("application/yaml", contract.YAML),
		"/postman.json": httpapi.Document(json, contract.Postman),
	}
}

// admit checks the token, the scope and the rate; the first of them that fails is
// reported. A valid token is charged even when its scope is refused: otherwise calls
// outside the scope would be unlimited.
func (h *handler) admit(ctx context.Context, info *httpapi.Info, bearer string, scope domain.Scope) (domain.Token, error) {
	if bearer == "" {
		return domain.Token{}, domain.ErrUnauthorized
	}
	token, err := h.svc.Authenticate(ctx, bearer, info.Address)
	if err != nil {
		return domain.Token{}, err
	}
	info.SetCaller(token.CompanyID, token.ID)
	info.RequestBodies = token.Company.RequestBodies
	var limited error
	if h.limiter != nil {
		limited = h.limiter.Admit(info.ResponseHeader, token.CompanyID, token.ID)
	}
	for _, s := range []domain.Scope{domain.ScopeBase, scope} {
		if !token.Has(s) {
			return domain.Token{}, domain.Errorf(domain.CodeInsufficientScope, "The token lacks the scope %s. Create a token with it in the business cabinet under Integrations, Tokens.", s)
		}
	}
	return token, limited
}

// callerOf returns on whose behalf a request is made.
func callerOf(r *request) domain.Caller {
	return domain.Caller{
		Company: r.Caller.Company,
		Actor: domain.Actor{
			Kind: domain.ActorToken, ID: r.Caller.ID, Label: r.Caller.Name,
			RequestID: r.Info.RequestID, Address: r.Info.Remote(),
		},
	}
}
