package service

import (
	"cmp"
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// CompanyStore keeps companies.
type CompanyStore interface {
	CreateCompany(ctx context.Context, by domain.Actor, n domain.NewCompany, link domain.NewLink) (domain.Company, error)
	Company(ctx context.Context, id int64) (domain.Company, error)
	Companies(ctx context.Context, p domain.PageRequest) (domain.Page[domain.Company], error)
	UpdateCompany(ctx context.Context, c domain.Caller, in domain.CompanySettings) (domain.Company, error)
	SuspendCompany(ctx context.Context, by domain.Actor, id int64, suspended bool) (domain.Company, error)
}

// Companies is the use cases around companies.
type Companies struct {
	store        CompanyStore
	linkLifetime time.Duration
}

// NewCompanies returns the use cases over a store. Links last linkLifetime,
// domain.LinkLifetime for 0.
func NewCompanies(store CompanyStore, linkLifetime time.Duration) *Companies {
	return &Companies{store: store, linkLifetime: cmp.Or(linkLifetime, domain.LinkLifetime)}
}

// Create makes a company. The token is that of the one-time link which signs its
// first administrator in; it cannot be read again later. Codes: invalid_request.
func (s *Companies) Create(ctx context.Context, by domain.Actor, n domain.NewCompany) (domain.Company, string, error) {
	if err := n.Normalize(); err != nil {
		return domain.Company{}, "", err
	}
	token, link := generateLink(domain.LinkOperator, s.linkLifetime)
	company, err := s.store.CreateCompany(ctx, by, n, link)
	if err != nil {
		return domain.Company{}, "", err
	}
	return company, token, nil
}

// Get returns one company. Codes: company_not_found.
func (s *Companies) Get(ctx context.Context, id int64) (domain.Company, error) {
	return s.store.Company(ctx, id)
}

// List returns all companies by ascending id.
func (s *Companies) List(ctx context.Context, p domain.PageRequest) (domain.Page[domain.Company], error) {
	return s.store.Companies(ctx, p)
}

// UpdateSettings changes the caller's company. Codes: invalid_request,
// company_not_found.
func (s *Companies) UpdateSettings(ctx context.Context, c domain.Caller, in domain.CompanySettings) (domain.Company, error) {
	if err := c.Authorize(domain.PermissionManage); err != nil {
		return domain.Company{}, err
	}
	if err := in.Normalize(); err != nil {
		return domain.Company{}, err
	}
	return s.store.UpdateCompany(ctx, c, in)
}

// Suspend refuses the company's tokens on every replica within a second and makes
// its cabinet read-only. Suspending again changes nothing. Codes: company_not_found.
func (s *Companies) Suspend(ctx context.Context, by domain.Actor, id int64) (domain.Company, error) {
	return s.store.SuspendCompany(ctx, by, id, true)
}

// Resume ends a suspension. Codes: company_not_found.
func (s *Companies) Resume(ctx context.Context, by domain.Actor, id int64) (domain.Company, error) {
	return s.store.SuspendCompany(ctx, by, id, false)
}

// generateLink returns a new sign-in link and its token. It makes an owner, unless the
// caller changes the role.
func generateLink(kind domain.LinkKind, lifetime time.Duration) (string, domain.NewLink) {
	token := domain.GenerateLink(kind)
	hash, _, _ := domain.ParseLink(token)
	return token, domain.NewLink{Hash: hash, Kind: kind, Role: domain.CabinetOwner, Lifetime: lifetime}
}
