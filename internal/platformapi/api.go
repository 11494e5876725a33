package platformapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/ogen-go/ogen/uri"

	"github.com/coursebridge/coursebridge/api"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/platformapi/oas"
)

// prefix is the base address of the platform's side.
const prefix = "/platform/v1"

// Service is what the platform's side needs done. It checks the values of what
// it is given and answers with errors of the domain; any other becomes a 500.
type Service interface {
	AuthenticatePlatform(ctx context.Context, bearer string) (domain.PlatformToken, error)
	// RecordActivities gives one result per item, in the order of the items; an
	// item that carries an error gets it back as its result.
	RecordActivities(ctx context.Context, by domain.Actor, items []domain.ActivityItem) ([]domain.ActivityResult, error)
	// PutCourse gives the status created, updated or unchanged.
	PutCourse(ctx context.Context, by domain.Actor, c domain.Course) (id int64, status string, err error)
	GrantCourse(ctx context.Context, by domain.Actor, courseExternalID string, companyID int64) (courseID int64, err error)
	WithdrawCourse(ctx context.Context, by domain.Actor, courseExternalID string, companyID int64) (courseID int64, err error)
	Companies(ctx context.Context, p domain.PageRequest) (domain.Page[domain.Company], error)
}

// handler implements the generated interfaces.
type handler struct{ svc Service }

var (
	_ oas.Handler         = (*handler)(nil)
	_ oas.SecurityHandler = (*handler)(nil)
)

// New gives the platform's side with everything below /platform/v1, its own
// description included.
func New(svc Service) (http.Handler, error) {
	h := &handler{svc: svc}
	server, err := oas.NewServer(h, h,
		oas.WithPathPrefix(prefix),
		oas.WithNotFound(httpapi.NotFound),
		oas.WithMethodNotAllowed(notAllowed),
		oas.WithErrorHandler(undecodable),
	)
	if err != nil {
		return nil, fmt.Errorf("platform API: %w", err)
	}
	return &router{
		operations: server,
		documents: map[string]http.Handler{
			prefix + "/openapi.json": httpapi.Document("application/json; charset=utf-8", api.PlatformJSON()),
			prefix + "/openapi.yaml": httpapi.Document("application/yaml", api.PlatformYAML()),
		},
	}, nil
}

// routes are the patterns by which operations appear in the log and the metrics.
var routes = map[oas.OperationName]string{
	oas.ReportActivitiesOperation: prefix + "/activities",
	oas.PutCourseOperation:        prefix + "/courses/{externalId}",
	oas.GrantCourseOperation:      prefix + "/courses/{externalId}/companies/{companyId}",
	oas.WithdrawCourseOperation:   prefix + "/courses/{externalId}/companies/{companyId}",
	oas.ListCompaniesOperation:    prefix + "/companies",
}

// router does what the generated router can't.
type router struct {
	operations *oas.Server
	documents  map[string]http.Handler
}

// octets is the one content type of the generated interface: bodies are judged
// by what they are, not by what they are called.
var octets = []string{"application/octet-stream"}

func (a *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = httpapi.WithInfo(w, r)
	path := r.URL.Path
	if normal, ok := uri.NormalizeEscapedPath(r.URL.RawPath); ok && normal != "" {
		path = normal
	}
	if document, ok := a.documents[path]; ok {
		httpapi.InfoFrom(r.Context()).Route = path
		document.ServeHTTP(w, r)
		return
	}
	// The generated router takes an empty segment for an identifier, and would
	// ask for a token before it finds out.
	if strings.Contains(path, "//") || strings.HasSuffix(path, "/") {
		httpapi.NotFound(w, r)
		return
	}
	r.Header["Content-Type"] = octets
	a.operations.ServeHTTP(w, r)
}

func notAllowed(w http.ResponseWriter, r *http.Request, allowed string) {
	httpapi.NotAllowed(w, r, strings.Split(allowed, ",")...)
}
