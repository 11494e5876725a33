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
	in := domain.LinkRequest{Email: email, CompanyID: company, DropSecondFactor: dropSecondFactor}
	administrator, token, err := a.administrators.LinkFor(ctx, operator(), in)
	if err != nil {
		return AdminLink{}, err
	}
	link, err := a.signInURL(ctx, token)
	return AdminLink{Email: administrator.Email, SignInURL: link}, err
}
