package platformapi

import (
	"context"
	"net/http"
	"time"

	"github.com/coursebridge/coursebridge/api"
	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// prefix is the base address of the platform's side.
const prefix = "/platform/v1"

// Service does what the operations ask for. It checks the values that it is
// given and returns errors of the domain; any other error becomes a 500.
type Service interface {
	AuthenticatePlatform(ctx context.Context, bearer string) (domain.PlatformToken, error)
	// RecordActivities returns one result per item, in the order of the items; an
	// item that carries an error gets it back as its result.
	RecordActivities(ctx context.Context, by domain.Actor, items []domain.ActivityItem) ([]domain.ActivityResult, error)
	// PutCourse returns the status created, updated or unchanged.
	PutCourse(ctx context.Context, by domain.Actor, c domain.Course) (id int64, status string, err error)
	GrantCourse(ctx context.Context, by domain.Actor, courseExternalID string, companyID int64) (courseID int64, err error)
	WithdrawCourse(ctx context.Context, by domain.Actor, courseExternalID string, companyID int64) (courseID int64, err error)
	Companies(ctx context.Context, p domain.PageRequest) (domain.Page[domain.Company], error)
}

// Options are the parts of the API that can be left out.
type Options struct {
	Timeout time.Duration // of one request, httpapi.RequestTimeout if zero
}

// handler answers the operations.
type handler struct{ svc Service }

// request is a request with a valid token.
type request = httpapi.Request[domain.Actor]

// New returns the handler of everything below /platform/v1, the contract included.
func New(svc Service, opts Options) http.Handler {
	h := &handler{svc: svc}
	a := h.api()
	a.Timeout = opts.Timeout
	return httpapi.NewRouter(a)
}

// Contracts returns what the operations promise, for the test that holds them
// against the contract.
func Contracts() []httpapi.Contract { return new(handler).api().Contracts() }

func (h *handler) api() httpapi.API[domain.Actor] {
	return httpapi.API[domain.Actor]{
		Prefix:     prefix,
		Operations: h.operations(),
		Statuses: []int{
			http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized,
			http.StatusInternalServerError, http.StatusServiceUnavailable,
		},
		Documents: map[string]http.Handler{
			"/openapi.json": httpapi.Document("application/json; charset=utf-8", api.PlatformJSON()),
			"/openapi.yaml": httpapi.Document("application/yaml", api.PlatformYAML()),
		},
		Admit: h.admit,
	}
}

// operations is the routing table: every operation of the contract with the
// function that answers it. A platform token has no scopes.
func (h *handler) operations() []httpapi.Operation[domain.Actor] {
	const course, grant = "/courses/{externalId}", "/courses/{externalId}/companies/{companyId}"
	missing := []int{http.StatusNotFound}
	return []httpapi.Operation[domain.Actor]{
		{Method: http.MethodPost, Path: "/activities", Handler: answer(h.reportActivities), Body: v1.ActivitiesInput{}},
		{Method: http.MethodPut, Path: course, Handler: answer(h.putCourse), Body: v1.CourseInput{}},
		{Method: http.MethodPut, Path: grant, Handler: answer(h.grantCourse), Errors: missing},
		{Method: http.MethodDelete, Path: grant, Handler: answer(h.withdrawCourse), Errors: missing},
		{Method: http.MethodGet, Path: "/companies", Handler: answer(h.listCompanies), Query: []string{"page", "limit"}},
	}
}

// answer is httpapi.Answer, spelled short for the table.
func answer[Data v1.Body](handle httpapi.HandleFunc[domain.Actor, Data]) httpapi.Handler[domain.Actor] {
	return httpapi.Answer(handle)
}

var errUnauthorized = domain.Errorf(domain.CodeUnauthorized, "A valid platform token is required. Send it as \"Authorization: Bearer <PLATFORM_TOKEN>\".")

// admit checks the token and returns who calls.
func (h *handler) admit(ctx context.Context, info *httpapi.Info, bearer string, _ domain.Scope) (domain.Actor, error) {
	if bearer == "" {
		return domain.Actor{}, errUnauthorized
	}
	token, err := h.svc.AuthenticatePlatform(ctx, bearer)
	switch {
	case err != nil && domain.CodeOf(err) == domain.CodeUnauthorized:
		return domain.Actor{}, errUnauthorized // the service's message is about a company's token
	case err != nil:
		return domain.Actor{}, err
	}
	info.SetCaller(0, token.ID)
	return domain.Actor{
		Kind: domain.ActorPlatform, ID: token.ID, Label: token.Name,
		RequestID: info.RequestID, Address: info.Remote(),
	}, nil
}
