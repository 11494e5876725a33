package platformapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/ogen-go/ogen/ogenerrors"
	"github.com/ogen-go/ogen/openapi"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/platformapi/oas"
)

var errUnauthorized = domain.Errorf(domain.CodeUnauthorized, "A valid platform token is required. Send it as \"Authorization: Bearer <PLATFORM_TOKEN>\".")

type actorKey struct{}

// actorFrom gives who calls. Every operation needs a token, so in an operation
// there always is one.
func actorFrom(ctx context.Context) domain.Actor { return ctx.Value(actorKey{}).(domain.Actor) }

// HandlePlatformToken lets a request through to its operation.
func (h *handler) HandlePlatformToken(ctx context.Context, op oas.OperationName, t oas.PlatformToken) (context.Context, error) {
	info := httpapi.InfoFrom(ctx)
	info.Route = routes[op]
	token, err := h.svc.AuthenticatePlatform(ctx, t.Token)
	switch {
	case err != nil && domain.CodeOf(err) == domain.CodeUnauthorized:
		return nil, errUnauthorized // the service's words are for a company's token
	case err != nil:
		return nil, err
	}
	info.SetCaller(0, token.ID)
	if err := httpapi.CheckQuery(info.RawQuery); err != nil {
		return nil, err
	}
	return context.WithValue(ctx, actorKey{}, domain.Actor{
		Kind: domain.ActorPlatform, ID: token.ID, Label: token.Name,
		RequestID: info.RequestID, Address: info.Remote(),
	}), nil
}

// NewError turns what the checks and the operations give into the error answer.
func (h *handler) NewError(ctx context.Context, err error) *oas.FailureStatusCodeWithHeaders {
	info := httpapi.InfoFrom(ctx)
	var security *ogenerrors.SecurityError
	if errors.As(err, &security) {
		info.Route = routes[security.OperationName()]
		if errors.Is(err, ogenerrors.ErrSecurityRequirementIsNotSatisfied) {
			err = errUnauthorized // there was no token at all
		}
	}
	f := httpapi.Describe(info, err)
	out := &oas.FailureStatusCodeWithHeaders{
		StatusCode: f.Status,
		Response:   oas.Error{Message: f.Message, Code: oas.ErrorCode(f.Code)},
	}
	for _, field := range f.Fields {
		out.Response.Fields = append(out.Response.Fields, oas.FieldError(field))
	}
	if f.RetryAfter > 0 {
		out.RetryAfter = oas.NewOptInt(f.RetryAfter)
	}
	if f.Status == http.StatusUnauthorized {
		out.WWWAuthenticate = oas.NewOptString(httpapi.Challenge)
	}
	return out
}

// undecodable answers when the generated code could not take a parameter: one in
// the path is an empty segment, one in the query was given more than once.
func undecodable(_ context.Context, w http.ResponseWriter, r *http.Request, err error) {
	var param *ogenerrors.DecodeParamError
	if errors.As(err, &param) {
		if param.In == openapi.LocationPath {
			err = httpapi.ErrNoPath
		} else {
			err = domain.Invalid(domain.FieldError{Field: param.Name, Message: "must be given only once"})
		}
	}
	httpapi.WriteError(w, r, err)
}
