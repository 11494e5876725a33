package service

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// AdministratorStore keeps administrators and their invitations.
type AdministratorStore interface {
	Members(ctx context.Context, company int64) ([]domain.Member, []domain.Invitation, error)
	Invite(ctx context.Context, c domain.Caller, email string, link domain.NewLink) (domain.Administrator, error)
	Uninvite(ctx context.Context, c domain.Caller, administrator int64) error
	RemoveAdministrator(ctx context.Context, c domain.Caller, id int64) error
	SetCabinetRole(ctx context.Context, c domain.Caller, id int64, role domain.CabinetRole) error
	MakeLink(ctx context.Context, by domain.Actor, in domain.LinkRequest, link domain.NewLink) (domain.Administrator, error)
}

// Administrators manages who may enter a company's cabinet.
type Administrators struct {
	store        AdministratorStore
	linkLifetime time.Duration
}

// NewAdministrators returns the use cases over a store. Links last linkLifetime,
// domain.LinkLifetime for 0.
func NewAdministrators(store AdministratorStore, linkLifetime time.Duration) *Administrators {
	return &Administrators{store: store, linkLifetime: cmp.Or(linkLifetime, domain.LinkLifetime)}
}

// List returns the company's administrators and its open invitations.
func (a *Administrators) List(ctx context.Context, c domain.Caller) ([]domain.Member, []domain.Invitation, error) {
	return a.store.Members(ctx, c.Company.ID)
}

// NewInvitation describes who is invited into a company.
type NewInvitation struct {
	Email string
	Name  string // may be empty
	Role  domain.CabinetRole
}

// Invite asks someone to become an administrator of the caller's company, and
// returns the token of the one-time link, which cannot be read again later. A
// second invitation replaces the link. Codes: invalid_request, insufficient_role,
// company_suspended.
func (a *Administrators) Invite(ctx context.Context, c domain.Caller, in NewInvitation) (domain.Administrator, string, error) {
	if err := c.Authorize(domain.PermissionManage); err != nil {
		return domain.Administrator{}, "", err
	}
	var checks domain.Checks
	email, err := domain.NormalizeEmail(in.Email)
	checks.Add("email", err)
	name := strings.TrimSpace(in.Name)
	if name != "" {
		name, err = domain.NormalizeName(name)
		checks.Add("name", err)
	}
	checks.Add("role", domain.CheckCabinetRole(in.Role))
	if err := checks.Err(); err != nil {
		return domain.Administrator{}, "", err
	}
	token, link := generateLink(domain.LinkInvitation, a.linkLifetime)
	link.Name, link.Role = name, in.Role
	who, err := a.store.Invite(ctx, c, email, link)
	if err != nil {
		return domain.Administrator{}, "", err
	}
	return who, token, nil
}

// Uninvite withdraws an invitation. Codes: not_found, insufficient_role,
// company_suspended.
func (a *Administrators) Uninvite(ctx context.Context, c domain.Caller, administrator int64) error {
	if err := c.Authorize(domain.PermissionManage); err != nil {
		return err
	}
	return a.store.Uninvite(ctx, c, administrator)
}

// SetRole changes what an administrator may do. One owner always stays. Codes:
// not_found, invalid_request, insufficient_role, company_suspended.
func (a *Administrators) SetRole(ctx context.Context, c domain.Caller, administrator int64, role domain.CabinetRole) error {
	if err := c.Authorize(domain.PermissionManage); err != nil {
		return err
	}
	var checks domain.Checks
	checks.Add("role", domain.CheckCabinetRole(role))
	if err := checks.Err(); err != nil {
		return err
	}
	return a.store.SetCabinetRole(ctx, c, administrator, role)
}

// Remove takes an administrator out of the caller's company, never the last owner.
// Codes: not_found, invalid_request, insufficient_role, company_suspended.
func (a *Administrators) Remove(ctx context.Context, c domain.Caller, administrator int64) error {
	if err := c.Authorize(domain.PermissionManage); err != nil {
		return err
	}
	return a.store.RemoveAdministrator(ctx, c, administrator)
}

// LinkFor makes a one-time link that the operator vouches for: it signs in without
// the password and asks for a new one. Codes: invalid_request, not_found,
// company_not_found.
func (a *Administrators) LinkFor(ctx context.Context, by domain.Actor, in domain.LinkRequest) (domain.Administrator, string, error) {
	email, err := normalizeEmail(in.Email)
	if err != nil {
		return domain.Administrator{}, "", err
	}
	in.Email = email
	token, link := generateLink(domain.LinkOperator, a.linkLifetime)
	who, err := a.store.MakeLink(ctx, by, in, link)
	if err != nil {
		return domain.Administrator{}, "", err
	}
	return who, token, nil
}

func normalizeEmail(email string) (string, error) {
	var checks domain.Checks
	email, err := domain.NormalizeEmail(email)
	checks.Add("email", err)
	return email, checks.Err()
}
