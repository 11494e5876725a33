package service

import (
	"context"
	"errors"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Identity is a signed-in administrator and the company they work for now.
type Identity struct {
	Administrator domain.Administrator
	Company       domain.Company
	Companies     []domain.Company // all they serve, by ascending id
}

// Caller returns the identity as the caller of other use cases.
func (i Identity) Caller(from Origin) domain.Caller {
	return domain.Caller{Company: i.Company, Actor: i.Actor(from)}
}

// Actor returns the person as the actor of a request.
func (i Identity) Actor(from Origin) domain.Actor {
	by := from.actor()
	by.Kind, by.ID, by.Label = domain.ActorPerson, i.Administrator.ID, i.Administrator.Email
	return by
}

// Identify returns who a session belongs to. The company is the one asked for if
// they serve it, else the first. Codes: unauthorized, for someone who serves no
// company any more.
func (s *SignIn) Identify(ctx context.Context, administrator, company int64) (Identity, error) {
	who, companies, err := s.store.AdministratorCompanies(ctx, administrator)
	if err != nil && !errors.Is(err, domain.ErrAdministratorNotFound) {
		return Identity{}, err
	}
	if len(companies) == 0 {
		return Identity{}, domain.ErrWrongCredentials
	}
	out := Identity{Administrator: who, Company: companies[0], Companies: companies}
	for _, c := range companies {
		if c.ID == company {
			out.Company = c
		}
	}
	return out, nil
}

// Serves reports whether the identity may switch to a company. Codes:
// company_not_found, for others' companies too.
func (i Identity) Serves(company int64) error {
	for _, c := range i.Companies {
		if c.ID == company {
			return nil
		}
	}
	return domain.ErrCompanyNotFound(company)
}
