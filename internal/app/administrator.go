package app

import (
	"context"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// AdminLink is a one-time sign-in link for an administrator.
type AdminLink struct {
	Email     string `json:"email"`
	SignInURL string `json:"signInUrl"`
}

func (l AdminLink) String() string {
	return fmt.Sprintf("%s signs in once at:\n%s", l.Email, l.SignInURL)
}

// AdminLink creates a one-time sign-in link.
func (a *App) AdminLink(ctx context.Context, email string, company int64, dropSecondFactor bool) (AdminLink, error) {
	base, err := a.publicURL(ctx) // first: the link must be printed once it was made
	if err != nil {
		return AdminLink{}, err
	}
	in := domain.LinkRequest{Email: email, CompanyID: company, DropSecondFactor: dropSecondFactor}
	administrator, token, err := a.administrators.LinkFor(ctx, operator(), in)
	if err != nil {
		return AdminLink{}, err
	}
	return AdminLink{Email: administrator.Email, SignInURL: signInURL(base, token)}, nil
}
