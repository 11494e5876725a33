package service

import (
	"context"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// SetPassword sets the first password of the signed-in person. Their other
// sessions end. Codes: invalid_request.
func (s *SignIn) SetPassword(ctx context.Context, by domain.Actor, password, sessionToken string) error {
	return s.replacePassword(ctx, by, "", password, sessionToken)
}

// ChangePassword replaces the password of the signed-in person. Their other
// sessions end. Codes: unauthorized, invalid_request, rate_limited.
func (s *SignIn) ChangePassword(ctx context.Context, by domain.Actor, old, password, sessionToken string) error {
	secrets, err := s.confirm(ctx, by, old)
	if err != nil {
		return err
	}
	return s.replacePassword(ctx, by, secrets.PasswordHash, password, sessionToken)
}

// replacePassword replaces the password that has this hash, or sets the first one if
// oldHash is empty.
func (s *SignIn) replacePassword(ctx context.Context, by domain.Actor, oldHash, password, sessionToken string) error {
	who, secrets, err := s.store.Administrator(ctx, by.ID)
	if err != nil {
		return err
	}
	if oldHash == "" && secrets.PasswordHash != "" {
		return domain.ErrPasswordSet
	}
	var checks domain.Checks
	checks.Add("password", domain.CheckPassword(password, who.Email))
	if err := checks.Err(); err != nil {
		return err
	}
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	return s.store.SetPassword(ctx, domain.NewPassword{
		AdministratorID: by.ID, Old: oldHash, New: hash, KeepSession: SessionKey(sessionToken), Actor: by,
	})
}

// confirm checks the password of the signed-in person once more. Codes:
// unauthorized, rate_limited.
func (s *SignIn) confirm(ctx context.Context, by domain.Actor, password string) (domain.Credentials, error) {
	_, secrets, err := s.store.Administrator(ctx, by.ID)
	if err != nil {
		return domain.Credentials{}, err
	}
	tried := []domain.Throttle{domain.ConfirmThrottle(by.ID)}
	if err := s.store.CountAttempt(ctx, tried); err != nil {
		return domain.Credentials{}, err
	}
	ok, _, err := s.hasher.verify(ctx, secrets.PasswordHash, limitPassword(password), true)
	if err != nil {
		return domain.Credentials{}, err
	}
	if !ok {
		failure := domain.SignInFailure{AdministratorID: by.ID, Tried: tried, Actor: by, Action: domain.ActionSignInFailed}
		if err := s.store.FailSignIn(ctx, failure); err != nil {
			return domain.Credentials{}, err
		}
		return domain.Credentials{}, domain.ErrWrongPassword
	}
	_, err = s.store.PassSignIn(ctx, domain.SignInProof{AdministratorID: by.ID, Verified: secrets.PasswordHash, Forgive: tried, Actor: by})
	return secrets, err
}

// BeginSecondFactor makes a secret for the person's authenticator app. It takes
// effect once ConfirmSecondFactor has accepted a code. Codes: unauthorized,
// invalid_request, rate_limited.
func (s *SignIn) BeginSecondFactor(ctx context.Context, by domain.Actor, password string) (domain.TOTPKey, error) {
	if _, err := s.confirm(ctx, by, password); err != nil {
		return domain.TOTPKey{}, err
	}
	secret := domain.GenerateTOTPSecret()
	if err := s.store.SetTOTPSecret(ctx, by.ID, s.box.Seal(totpLabel, secret)); err != nil {
		return domain.TOTPKey{}, err
	}
	return s.totpKey(ctx, by.ID, secret)
}

// PendingSecondFactor shows a secret again that is not confirmed yet. Codes:
// invalid_request.
func (s *SignIn) PendingSecondFactor(ctx context.Context, by domain.Actor) (domain.TOTPKey, error) {
	secret, _, err := s.pendingSecret(ctx, by)
	if err != nil {
		return domain.TOTPKey{}, err
	}
	return s.totpKey(ctx, by.ID, secret)
}

// totpKey returns what an authenticator app has to know.
func (s *SignIn) totpKey(ctx context.Context, administrator int64, secret []byte) (domain.TOTPKey, error) {
	who, _, err := s.store.Administrator(ctx, administrator)
	if err != nil {
		return domain.TOTPKey{}, err
	}
	return domain.NewTOTPKey(secret, s.issuer, who.Email), nil
}

// pendingSecret returns the secret of a second factor that is not confirmed yet, and how
// it is stored.
func (s *SignIn) pendingSecret(ctx context.Context, by domain.Actor) (secret, sealed []byte, err error) {
	_, secrets, err := s.store.Administrator(ctx, by.ID)
	switch {
	case err != nil:
		return nil, nil, err
	case secrets.TOTPConfirmed:
		return nil, nil, domain.ErrSecondFactorOn
	case len(secrets.TOTPSecret) == 0:
		return nil, nil, domain.ErrSecondFactorOff
	}
	secret, err = s.box.Open(totpLabel, secrets.TOTPSecret)
	if err != nil {
		return nil, nil, fmt.Errorf("open a second factor: %w", err)
	}
	return secret, secrets.TOTPSecret, nil
}

// ConfirmSecondFactor turns the second factor on and returns the recovery codes,
// which cannot be read again later. All sessions of the person end but the one with
// this token. Codes: unauthorized, invalid_request.
func (s *SignIn) ConfirmSecondFactor(ctx context.Context, by domain.Actor, code, sessionToken string) ([]string, error) {
	secret, sealed, err := s.pendingSecret(ctx, by)
	if err != nil {
		return nil, err
	}
	step, ok := domain.MatchTOTP(secret, code, s.now())
	if !ok {
		return nil, domain.ErrWrongCode
	}
	codes, hashes := domain.GenerateRecoveryCodes()
	confirmation := domain.TOTPConfirmation{
		Secret: sealed, Step: step, RecoveryHashes: hashes, KeepSession: SessionKey(sessionToken), Actor: by,
	}
	if err := s.store.ConfirmTOTP(ctx, confirmation); err != nil {
		return nil, err
	}
	return codes, nil
}

// RemoveSecondFactor turns the second factor off. Codes: unauthorized,
// invalid_request, rate_limited.
func (s *SignIn) RemoveSecondFactor(ctx context.Context, by domain.Actor, password string) error {
	if _, err := s.confirm(ctx, by, password); err != nil {
		return err
	}
	return s.store.DropTOTP(ctx, by)
}

// NewRecoveryCodes replaces the recovery codes and returns the new ones, which
// cannot be read again later. Codes: unauthorized, invalid_request, rate_limited.
func (s *SignIn) NewRecoveryCodes(ctx context.Context, by domain.Actor, password string) ([]string, error) {
	if _, err := s.confirm(ctx, by, password); err != nil {
		return nil, err
	}
	codes, hashes := domain.GenerateRecoveryCodes()
	if err := s.store.SetRecoveryCodes(ctx, by, hashes); err != nil {
		return nil, err
	}
	return codes, nil
}

// SetProfile changes the person's own name and theme. Codes: invalid_request.
func (s *SignIn) SetProfile(ctx context.Context, by domain.Actor, p domain.Profile) error {
	if err := p.Normalize(); err != nil {
		return err
	}
	return s.store.SetProfile(ctx, by.ID, p)
}
