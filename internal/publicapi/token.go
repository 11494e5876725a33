package publicapi

import (
	"context"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// getToken returns what the token of the request may do.
func (h *handler) getToken(_ context.Context, r *request) (v1.Token, error) {
	t := r.Caller
	out := v1.Token{
		Name:      t.Name,
		Company:   v1.Company{ID: t.Company.ID, Name: t.Company.Name},
		Scopes:    []v1.Scope{},
		ExpiresAt: nullableDateTime(t.ExpiresAt),
	}
	for _, s := range domain.Scopes {
		if t.Has(s) {
			out.Scopes = append(out.Scopes, v1.Scope(s))
		}
	}
	return out, nil
}
