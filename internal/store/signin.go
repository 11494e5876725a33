package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// FailSignIn records a failed attempt: in the log of the company that would have been
// entered, if the address is an administrator's, and in any case at the throttles,
// so that both cost the same time.
func (s *Store) FailSignIn(ctx context.Context, f domain.SignInFailure) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		var who administratorRow
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return who.scan(r) },
			`SELECT `+administratorColumns+` FROM administrators a WHERE a.id = $1`, f.AdministratorID)
		b.Query(appendColumn(&who.companies), `SELECT company_id FROM company_administrators WHERE administrator_id = $1 ORDER BY company_id`, f.AdministratorID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		b = &db.Batch{}
		for _, t := range sortedThrottles(f.Tried) {
			b.Exec(`UPDATE sign_in_throttles SET updated_at = $2 WHERE key = $1`, t.Key, tx.Now())
		}
		if company := who.entered(); company != 0 {
			by := domain.Actor{Kind: domain.ActorSystem, RequestID: f.Actor.RequestID, Address: f.Actor.Address}
			box.audit(b, tx.Now(), administratorEntry(company, by, f.Action, who.ID))
		}
		tx.SendAndCommit(b)
		return nil
	})
}

// PassSignIn checks what a sign-in has proved against the administrator's present
// state and, if the proof is complete, signs them in. Codes: unauthorized.
func (s *Store) PassSignIn(ctx context.Context, proof domain.SignInProof) (domain.Administrator, error) {
	var out domain.Administrator
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, err := s.lockAdministratorID(ctx, tx, proof.AdministratorID)
		if err != nil {
			return err
		}
		if len(who.companies) == 0 || proof.Verified != "" && proof.Verified != who.PasswordHash {
			return domain.ErrWrongCredentials
		}
		now := tx.Now()
		b := &db.Batch{}
		if proof.Rehashed != "" {
			b.Exec(`UPDATE administrators SET password_hash = $2 WHERE id = $1`, who.ID, proof.Rehashed)
		}
		forgiveAttempts(b, proof.Forgive, now)
		out = who.Administrator
		if proof.Complete {
			if err := s.consumeFactor(ctx, tx, who, proof); err != nil {
				return err
			}
			out = who.Administrator
			out.LastSignInAt = &now
			b.Exec(`UPDATE administrators SET last_sign_in_at = $2 WHERE id = $1`, who.ID, now)
			rememberAddress(b, proof.KnownAddress, now)
			box.auditSignIn(b, now, signIn{who, personActor(who.Administrator, proof.Actor), proof.Detail})
		}
		return tx.Send(ctx, b)
	})
	return out, err
}

// SetPassword sets or replaces a password; all other sessions and the operator's
// links of the administrator end. Codes: unauthorized, invalid_request, not_found.
func (s *Store) SetPassword(ctx context.Context, in domain.NewPassword) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, err := s.lockAdministratorID(ctx, tx, in.AdministratorID)
		if err != nil {
			return err
		}
		action := "password.changed"
		switch {
		case in.Old == "" && who.PasswordHash != "":
			return domain.ErrPasswordSet
		case in.Old != who.PasswordHash:
			return domain.ErrWrongPassword
		case in.Old == "":
			action = "password.set"
		}
		b := &db.Batch{}
		b.Exec(`UPDATE administrators SET password_hash = $2, password_changed_at = $3 WHERE id = $1`, who.ID, in.New, tx.Now())
		endSessions(b, who.ID, in.KeepSession)
		if err := s.endOperatorLinks(ctx, tx, box, who, in.Actor); err != nil {
			return err
		}
		box.audit(b, tx.Now(), who.entries(in.Actor, action)...)
		return tx.Send(ctx, b)
	})
}

// consumeFactor marks the code or the recovery code of a proof as used. It accepts a
// proof without one if the administrator has no second factor. Codes: unauthorized.
func (s *Store) consumeFactor(ctx context.Context, tx db.Tx, who *administratorRow, proof domain.SignInProof) error {
	switch {
	case !who.TOTPConfirmed:
		return nil
	case proof.Step != 0:
		return s.consumeStep(ctx, tx, who.ID, proof.Step)
	case proof.RecoveryHash != "":
		at := slices.Index(who.RecoveryHashes, proof.RecoveryHash)
		if at < 0 {
			return domain.ErrWrongCode
		}
		who.RecoveryHashes = slices.Delete(who.RecoveryHashes, at, at+1)
		who.RecoveryLeft = len(who.RecoveryHashes)
		_, err := tx.Exec(ctx, `UPDATE administrators SET recovery_hashes = $2 WHERE id = $1`, who.ID, encodeList(who.RecoveryHashes))
		return err
	}
	return domain.ErrWrongCode
}

// consumeStep makes sure that the code of a time step is accepted only once: its key
// is blocked for as long as the code would be valid.
func (s *Store) consumeStep(ctx context.Context, tx db.Tx, administrator, step int64) error {
	n, err := tx.Exec(ctx, `INSERT INTO sign_in_throttles (key, failures, blocked_until, updated_at) VALUES ($1, 0, $2, $3)
		ON CONFLICT (key) DO NOTHING`, fmt.Sprintf("step:%d:%d", administrator, step), domain.TOTPStepEnds(step), tx.Now())
	if err == nil && n != 1 {
		err = domain.ErrWrongCode
	}
	return err
}

func dropFactor(b *db.Batch, administrator int64) {
	b.Exec(`UPDATE administrators SET totp_secret = NULL, totp_confirmed_at = NULL, recovery_hashes = '[]' WHERE id = $1`, administrator)
}

// SetTOTPSecret stores an encrypted secret that is not confirmed yet. Codes:
// not_found, invalid_request.
func (s *Store) SetTOTPSecret(ctx context.Context, administrator int64, sealed []byte) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		who, err := s.lockAdministratorID(ctx, tx, administrator)
		if err != nil {
			return err
		}
		if who.TOTPConfirmed {
			return domain.ErrSecondFactorOn
		}
		_, err = tx.Exec(ctx, `UPDATE administrators SET totp_secret = $2 WHERE id = $1`, administrator, sealed)
		return err
	})
}

// ConfirmTOTP turns the second factor on and ends the administrator's other
// sessions, which had not proved it. Codes: not_found, invalid_request, unauthorized.
func (s *Store) ConfirmTOTP(ctx context.Context, in domain.TOTPConfirmation) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, err := s.lockAdministratorID(ctx, tx, in.Actor.ID)
		if err != nil {
			return err
		}
		if who.TOTPConfirmed {
			return domain.ErrSecondFactorOn
		}
		if !slices.Equal(who.TOTPSecret, in.Secret) {
			return domain.ErrWrongCode
		}
		if err := s.consumeStep(ctx, tx, who.ID, in.Step); err != nil {
			return err
		}
		b := &db.Batch{}
		b.Exec(`UPDATE administrators SET totp_confirmed_at = $2, recovery_hashes = $3 WHERE id = $1`,
			who.ID, tx.Now(), encodeList(in.RecoveryHashes))
		endSessions(b, who.ID, in.KeepSession)
		box.audit(b, tx.Now(), who.entries(in.Actor, "second_factor.added")...)
		return tx.Send(ctx, b)
	})
}

// DropTOTP turns the second factor off. Codes: not_found, invalid_request.
func (s *Store) DropTOTP(ctx context.Context, by domain.Actor) error {
	return s.changeFactor(ctx, by, "second_factor.removed", func(b *db.Batch) { dropFactor(b, by.ID) })
}

// SetRecoveryCodes replaces the recovery codes. Codes: not_found, invalid_request.
func (s *Store) SetRecoveryCodes(ctx context.Context, by domain.Actor, hashes []string) error {
	return s.changeFactor(ctx, by, "recovery_codes.replaced", func(b *db.Batch) {
		b.Exec(`UPDATE administrators SET recovery_hashes = $2 WHERE id = $1`, by.ID, encodeList(hashes))
	})
}

func (s *Store) changeFactor(ctx context.Context, by domain.Actor, action string, change func(*db.Batch)) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, err := s.lockAdministratorID(ctx, tx, by.ID)
		if err != nil {
			return err
		}
		if !who.TOTPConfirmed {
			return domain.ErrSecondFactorOff
		}
		b := &db.Batch{}
		change(b)
		box.audit(b, tx.Now(), who.entries(by, action)...)
		return tx.Send(ctx, b)
	})
}

// linkMemory is how long links are kept after they have expired.
const linkMemory = 30 * 24 * time.Hour

// SweepSignIn removes expired sessions, throttles that no longer count anything,
// links that expired 30 days ago, and identities that serve no company and are not
// invited to one.
func (s *Store) SweepSignIn(ctx context.Context) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, &db.Batch{}); err != nil {
			return err
		}
		now := tx.Now()
		b := &db.Batch{}
		b.Exec(`DELETE FROM sessions WHERE expires_at <= $1`, now)
		b.Exec(`DELETE FROM sign_in_throttles WHERE blocked_until <= $1 AND updated_at <= $2`, now, now.Add(-domain.ThrottleMemory))
		b.Exec(`DELETE FROM form_submissions WHERE at <= $1`, now.Add(-24*time.Hour))
		b.Exec(`DELETE FROM sign_in_links WHERE expires_at <= $1`, now.Add(-linkMemory))
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		return s.sweepIdentities(ctx, tx)
	})
}
