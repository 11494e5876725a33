package service

import (
	"context"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// ResealStore encrypts stored secrets again, in short transactions. The function returns
// nil for a secret that stays as it is.
type ResealStore interface {
	ResealWebhooks(ctx context.Context, reseal func(company int64, sealed []byte) ([]byte, error)) (int64, error)
	ResealSecondFactors(ctx context.Context, reseal func(company int64, sealed []byte) ([]byte, error)) (int64, error)
}

// ResealBox is a SecretBox that knows whether a secret is encrypted with its newest key.
type ResealBox interface {
	SecretBox
	Newest(sealed []byte) bool
}

// Reseal encrypts all stored secrets with the newest key of the box and returns how many
// rows it has changed. It can be interrupted and called again.
func Reseal(ctx context.Context, store ResealStore, box ResealBox) (changed int64, err error) {
	resealWith := func(label func(company int64) string) func(int64, []byte) ([]byte, error) {
		return func(company int64, sealed []byte) ([]byte, error) {
			if box.Newest(sealed) {
				return nil, nil
			}
			plain, err := box.Open(label(company), sealed)
			if err != nil {
				return nil, fmt.Errorf("a secret of company %d: %w", company, err)
			}
			return box.Seal(label(company), plain), nil
		}
	}
	webhooks, err := store.ResealWebhooks(ctx, resealWith(domain.SecretLabel))
	if err != nil {
		return webhooks, err
	}
	factors, err := store.ResealSecondFactors(ctx, resealWith(func(int64) string { return totpLabel }))
	return webhooks + factors, err
}
