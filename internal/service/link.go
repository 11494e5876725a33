package service

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Link gives what a one-time link is for, without using it: opening a page must
// not, for mail scanners open pages too. Codes: not_found.
func (s *SignIn) Link(ctx context.Context, token string) (domain.SignInLink, error) {
	hash, kind, ok := domain.ParseLink(token)
	if !ok {
		return domain.SignInLink{}, domain.ErrLinkNotFound
	}
	link, err := s.store.SignInLink(ctx, hash)
	link.Kind = kind
	return link, err
}

// Enter uses a one-time link and signs its administrator in, who has no password
// afterwards and sets one. The code is needed from those with a second factor.
// Codes: not_found, unauthorized, rate_limited.
func (s *SignIn) Enter(ctx context.Context, token, code string, from Origin) (domain.Administrator, error) {
	link, err := s.Link(ctx, token)
	if err != nil {
		return domain.Administrator{}, err
	}
	if !link.SignsIn() {
		return domain.Administrator{}, domain.ErrLinkNeedsSignIn
	}
	proof := domain.SignInProof{AdministratorID: link.Administrator.ID, Actor: from.actor()}
	if link.Administrator.HasSecondFactor {
		if proof, err = s.proveFactor(ctx, link.Administrator.ID, code, from); err != nil {
			return domain.Administrator{}, err
		}
	}
	hash, kind, _ := domain.ParseLink(token)
	return s.store.EnterByLink(ctx, hash, kind, proof)
}

// Accept uses a link that was made for the signed-in person, and gives the
// company joined, 0 for none. Codes: not_found, wrong_company.
func (s *SignIn) Accept(ctx context.Context, by domain.Actor, token string) (int64, error) {
	hash, _, ok := domain.ParseLink(token)
	if !ok {
		return 0, domain.ErrLinkNotFound
	}
	return s.store.AcceptLink(ctx, by, hash)
}
