package publicapi

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

// GetToken tells what the token of the request may do.
func (h *handler) GetToken(ctx context.Context) (*oas.TokenResponse, error) {
	t := tokenFrom(ctx)
	out := oas.Token{
		Name:      t.Name,
		Company:   oas.Company{ID: t.Company.ID, Name: t.Company.Name},
		Scopes:    []oas.Scope{},
		ExpiresAt: nilInstant(t.ExpiresAt),
	}
	for _, s := range domain.Scopes {
		if t.Has(s) {
			out.Scopes = append(out.Scopes, oas.Scope(s))
		}
	}
	return &oas.TokenResponse{Data: out}, nil
}
