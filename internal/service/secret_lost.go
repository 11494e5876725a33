package service

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// LostSecretStore lists the encrypted secrets and replaces those that cannot be read.
type LostSecretStore interface {
	AllEndpoints(ctx context.Context) ([]domain.Endpoint, error)
	SecondFactors(ctx context.Context) ([]domain.SealedFactor, error)
	ReplaceLostSecret(ctx context.Context, c domain.Caller, id int64, secret domain.SealedSecret) error
	DropLostFactor(ctx context.Context, by domain.Actor, administrator int64) error
}

// LostSecrets are the owners of secrets that cannot be read with the key.
type LostSecrets struct {
	Webhooks []domain.Endpoint
	Factors  []domain.SealedFactor
}

// FindLostSecrets returns the owners of secrets that the box cannot open. A box that is
// nil opens none.
func FindLostSecrets(ctx context.Context, store LostSecretStore, box SecretBox) (lost LostSecrets, err error) {
	isLost := func(label string, sealed []byte) bool {
		if box == nil {
			return true
		}
		_, err := box.Open(label, sealed)
		return err != nil
	}
	endpoints, err := store.AllEndpoints(ctx)
	if err != nil {
		return lost, err
	}
	for _, e := range endpoints {
		if isLost(domain.SecretLabel(e.CompanyID), e.Secret) {
			lost.Webhooks = append(lost.Webhooks, e)
		}
	}
	factors, err := store.SecondFactors(ctx)
	for _, f := range factors {
		if isLost(totpLabel, f.Secret) {
			lost.Factors = append(lost.Factors, f)
		}
	}
	return lost, err
}

// ReplaceLostSecrets puts a new secret in the place of each lost one of a webhook and
// removes lost second factors. It returns the new secrets in the order of the webhooks.
func ReplaceLostSecrets(ctx context.Context, store LostSecretStore, box SecretBox, in LostReplacement) ([]string, error) {
	secrets := make([]string, 0, len(in.Lost.Webhooks))
	for _, e := range in.Lost.Webhooks {
		secret := in.NewSecret()
		caller := domain.Caller{Company: domain.Company{ID: e.CompanyID}, Actor: in.By}
		if err := store.ReplaceLostSecret(ctx, caller, e.ID, box.Seal(domain.SecretLabel(e.CompanyID), []byte(secret))); err != nil {
			return secrets, err
		}
		secrets = append(secrets, secret)
	}
	for _, f := range in.Lost.Factors {
		if err := store.DropLostFactor(ctx, in.By, f.AdministratorID); err != nil {
			return secrets, err
		}
	}
	return secrets, nil
}

// LostReplacement describes what is replaced, on whose behalf, and how a secret is made.
type LostReplacement struct {
	Lost      LostSecrets
	By        domain.Actor
	NewSecret func() string
}
