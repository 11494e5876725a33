package service

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// PeopleStore is what the cabinet's pages about employees need of the database.
type PeopleStore interface {
	EmployeeOverviews(ctx context.Context, company int64, f domain.EmployeeListFilter, p domain.PageRequest) (domain.Page[domain.EmployeeOverview], error)
}

// EmployeeOverviews lists employees with what they have to do. Codes: invalid_request.
func (l *Learning) EmployeeOverviews(ctx context.Context, c domain.Caller, f domain.EmployeeListFilter, p domain.PageRequest) (domain.Page[domain.EmployeeOverview], error) {
	if err := f.Check(); err != nil {
		return domain.Page[domain.EmployeeOverview]{}, err
	}
	return l.store.EmployeeOverviews(ctx, c.Company.ID, f, p)
}
