package service

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Identity is a signed-in administrator and the company they work for now.
type Identity struct {
	Administrator domain.Administrator
	Company       domain.Company
	Role          domain.CabinetRole  // in that company
	Companies     []domain.Membership // all they serve, by ascending id
}

// Caller returns the identity as the caller of other use cases.
func (i Identity) Caller(from Origin) domain.Caller {
	return domain.Caller{Company: i.Company, Actor: i.Actor(from), Role: i.Role}
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
	who, companies, err := s.store.Memberships(ctx, administrator)
	if err != nil && !errors.Is(err, domain.ErrAdministratorNotFound) {
		return Identity{}, err
	}
	if len(companies) == 0 {
		return Identity{}, domain.ErrWrongCredentials
	}
	current := max(0, indexOfCompany(companies, company))
	return Identity{
		Administrator: who, Company: companies[current].Company, Role: companies[current].Role, Companies: companies,
	}, nil
}

func indexOfCompany(list []domain.Membership, company int64) int {
	return slices.IndexFunc(list, func(m domain.Membership) bool { return m.ID == company })
}

// SwitchCompany lets the person work for another company of theirs, whose log
// records it as a sign-in. Codes: company_not_found, for others' companies too.
func (s *SignIn) SwitchCompany(ctx context.Context, id Identity, company int64, from Origin) error {
	if indexOfCompany(id.Companies, company) < 0 {
		return domain.ErrCompanyNotFound(company)
	}
	if company == id.Company.ID {
		return nil
	}
	return s.store.EnterCompany(ctx, id.Actor(from), company)
}

// SignOut records that the person has signed out of the company they work for.
func (s *SignIn) SignOut(ctx context.Context, id Identity, from Origin) error {
	return s.store.RecordAudit(ctx, domain.AuditEntry{
		CompanyID: id.Company.ID, Actor: id.Actor(from), Action: "sign_out", RecordKind: "administrator",
		RecordID: strconv.FormatInt(id.Administrator.ID, 10),
	})
}
