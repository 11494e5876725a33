package service

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// PersonStore finds and erases one person over all companies.
type PersonStore interface {
	Person(ctx context.Context, email string) (domain.Person, error)
	ErasePerson(ctx context.Context, by domain.Actor, email string) error
}

// People answers what a person may ask of the operator: what is kept about them, and
// that it be erased.
type People struct{ store PersonStore }

// NewPeople returns the use cases over a store.
func NewPeople(store PersonStore) *People { return &People{store: store} }

// Export returns all that is kept about an address. Codes: invalid_request, not_found.
func (p *People) Export(ctx context.Context, email string) (domain.Person, error) {
	email, err := normalizeEmail(email)
	if err != nil {
		return domain.Person{}, err
	}
	return p.store.Person(ctx, email)
}

// Erase erases an address from all companies. Codes: invalid_request, not_found.
func (p *People) Erase(ctx context.Context, by domain.Actor, email string) error {
	email, err := normalizeEmail(email)
	if err != nil {
		return err
	}
	return p.store.ErasePerson(ctx, by, email)
}
