package publicapi

import (
	"context"
	"net/http"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

// call is the context of an authenticated request.
type call struct {
	context.Context
	token domain.Token
	info  *httpapi.Info
}

type callKey struct{}

// Value answers for the call and leaves every other key to the parent.
func (c *call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// callerFrom gives on whose behalf an operation runs. Every operation needs a
// token, so in an operation there always is one.
func callerFrom(ctx context.Context) domain.Caller {
	c := ctx.Value(callKey{}).(*call)
	return domain.Caller{
		Company: c.token.Company,
		Actor: domain.Actor{
			Kind: domain.ActorToken, ID: c.token.ID, Label: c.token.Name,
			RequestID: c.info.RequestID, Address: c.info.Remote(),
		},
	}
}

// tokenFrom gives the token of the request.
func tokenFrom(ctx context.Context) domain.Token { return ctx.Value(callKey{}).(*call).token }

// HandleBearerAuth lets a request through to its operation. The order of the
// checks is part of the contract: token, scope, rate, and only then the request.
// A request is counted even if its scope is refused, or a wrong token could be
// tried without end.
func (h *handler) HandleBearerAuth(ctx context.Context, op oas.OperationName, t oas.BearerAuth) (context.Context, error) {
	info := httpapi.InfoFrom(ctx)
	info.Route = routes[op]
	token, err := h.svc.Authenticate(ctx, t.Token, info.Address)
	if err != nil {
		return nil, err
	}
	info.SetCaller(token.CompanyID, token.ID)
	var limited error
	if h.limiter != nil {
		limited = h.limiter.Admit(info.ResponseHeader, token.CompanyID, token.ID)
	}
	if err := scoped(token, t.Roles); err != nil {
		return nil, err
	}
	if limited != nil {
		return nil, limited
	}
	if err := httpapi.CheckQuery(info.RawQuery); err != nil {
		return nil, err
	}
	return &call{Context: ctx, token: token, info: info}, nil
}

// uncounted tells the limit in an answer to a request that was counted for no token.
func (h *handler) uncounted(answer http.Header) {
	if h.limiter != nil {
		h.limiter.Full(answer)
	}
}

// scoped names the first scope that the token lacks.
func scoped(t domain.Token, scopes []string) error {
	for _, s := range scopes {
		if !t.Has(domain.Scope(s)) {
			return domain.Errorf(domain.CodeInsufficientScope, "The token lacks the scope %s. Create a token with it in the cabinet.", s)
		}
	}
	return nil
}
