package service

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Link looks up a one-time link without using it, because mail scanners open
// links too. Codes: not_found.
func (s *SignIn) Link(ctx context.Context, token string) (domain.SignInLink, error) {
	hash, kind, ok := domain.ParseLink(token)
	if !ok {
		return domain.SignInLink{}, domain.ErrLinkNotFound
	}
	link, err := s.store.SignInLink(ctx, hash)
	link.Kind = kind
	return link, err
}

// Enter uses a one-time link and signs its administrator in. The password is
// cleared and has to be set again. Those with a second factor need the code.
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
	if link.NeedsCode() {
		if proof, err = s.proveFactor(ctx, link.Administrator.ID, code, from); err != nil {
			return domain.Administrator{}, err
		}
	}
	hash, kind, _ := domain.ParseLink(token)
	return s.store.EnterByLink(ctx, hash, kind, proof)
}

// Accept uses a link that was made for the signed-in person, and returns the
// company joined, 0 for none. Codes: not_found, wrong_company.
func (s *SignIn) Accept(ctx context.Context, by domain.Actor, token string) (int64, error) {
	hash, _, ok := domain.ParseLink(token)
	if !ok {
		return 0, domain.ErrLinkNotFound
	}
	return s.store.AcceptLink(ctx, by, hash)
}
