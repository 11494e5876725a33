package storetest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// credentials returns what an administrator signs in with.
func credentials(t *testing.T, s *store.Store, id int64) domain.Credentials {
	t.Helper()
	_, out, err := s.Administrator(t.Context(), id)
	wantNoError(t, "read the administrator", err)
	return out
}

func TestPasswordIsSetAndChanged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		ann, bob := f.addAdministrator("ann@x.test", domain.CabinetOwner).Actor, f.addAdministrator("bob@x.test", domain.CabinetOwner).Actor
		set := func(from, to string) error {
			return s.SetPassword(t.Context(), domain.NewPassword{AdministratorID: ann.ID, Old: from, New: to, KeepSession: []byte("kept"), Actor: ann})
		}
		wantCode(t, "change a password that is not set", set("first", "second"), domain.CodeUnauthorized)
		for _, key := range []string{"kept", "other"} {
			wantNoError(t, "add a session", s.AddSession(t.Context(), newSession(s, ann.ID, key, 0)))
		}
		wantNoError(t, "set", set("", "first"))
		equal(t, "sessions", sessionKeys(t, s, ann.ID), []string{"kept"})
		wantCode(t, "set twice", set("", "second"), domain.CodeInvalid)
		wantCode(t, "change with another hash", set("second", "third"), domain.CodeUnauthorized)
		wantNoError(t, "change", set("first", "second"))
		who, stored, err := s.Administrator(t.Context(), ann.ID)
		if err != nil || stored.PasswordHash != "second" || !who.HasPassword || who.PasswordChangedAt == nil || s.Now().Sub(*who.PasswordChangedAt) > time.Minute {
			t.Errorf("the administrator is %+v with the hash %q, %v", who, stored.PasswordHash, err)
		}
		equal(t, "the password of another", credentials(t, s, bob.ID).PasswordHash, "")
		equal(t, "sessions of another", sessionKeys(t, s, bob.ID), []string{"bob@x.test"})
		equal(t, "audit", f.audit(), []string{"password.set", "password.changed"})
	})
}

func TestSigningIn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, ctx := newTestCompany(t, s), t.Context()
		ann, bob := f.addAdministrator("ann@x.test", domain.CabinetOwner).Actor, f.addAdministrator("bob@x.test", domain.CabinetOwner).Actor
		change(t, s, `UPDATE administrators SET password_hash = 'old', last_sign_in_at = NULL`)
		account, shared := domain.AccountThrottle("ann@x.test"), domain.Throttle{Key: "address:198.51.100.1", Free: 2}
		try := []domain.Throttle{account, shared}
		attempt := func() { t.Helper(); wantNoError(t, "count an attempt", s.CountAttempt(ctx, try)) }
		failures := func(th domain.Throttle) int64 {
			t.Helper()
			return number(t, s, `SELECT coalesce(sum(failures), -1) FROM sign_in_throttles WHERE key = $1`, th.Key)
		}
		attempt()
		change(t, s, `UPDATE sign_in_throttles SET updated_at = $1`, before(s, time.Hour))
		wantNoError(t, "fail", s.FailSignIn(ctx, domain.SignInFailure{AdministratorID: ann.ID, Tried: try, Actor: ann, Action: domain.ActionSignInFailed}))
		wantNoError(t, "fail as nobody", s.FailSignIn(ctx, domain.SignInFailure{Tried: try, Actor: ann, Action: domain.ActionSignInFailed}))
		if n := number(t, s, `SELECT count(*) FROM sign_in_throttles WHERE updated_at > $1`, before(s, time.Minute)); n != 2 {
			t.Errorf("%d throttles remember the failure as recent, want 2", n)
		}
		equal(t, "audit", f.audit(), []string{"sign_in.failed"})

		attempt()
		wantCode(t, "an attempt while the address is blocked", s.CountAttempt(ctx, try), domain.CodeRateLimited)
		wantNoError(t, "take an attempt back", s.UncountAttempt(ctx, try))
		attempt()
		_, err := s.PassSignIn(ctx, domain.SignInProof{AdministratorID: ann.ID, Verified: "other", Complete: true, Actor: ann})
		wantCode(t, "the password has changed meanwhile", err, domain.CodeUnauthorized)
		const known = "known:198.51.100.1"
		proof := domain.SignInProof{
			AdministratorID: ann.ID, Verified: "old", Rehashed: "new", Forgive: try, Complete: true, KnownAddress: known, Actor: ann, Detail: "From Riga.",
		}
		isKnown, err := s.KnowsAddress(ctx, known)
		if err != nil || isKnown {
			t.Errorf("the address is known before: %v, %v", isKnown, err)
		}
		who, err := s.PassSignIn(ctx, proof)
		if err != nil || who.ID != ann.ID || who.LastSignInAt == nil {
			t.Fatalf("signed in as %+v, %v", who, err)
		}
		equal(t, "the account's failures are forgotten, the address's but one", []int64{failures(account), failures(shared)}, []int64{-1, 1})
		equal(t, "the password hash", credentials(t, s, ann.ID).PasswordHash, "new")
		equal(t, "that of another", credentials(t, s, bob.ID).PasswordHash, "old")
		if isKnown, err = s.KnowsAddress(ctx, known); err != nil || !isKnown {
			t.Errorf("the address is known afterwards: %v, %v", isKnown, err)
		}
		members, _, err := s.Members(ctx, f.c.Company.ID)
		wantNoError(t, "list the members", err)
		for _, m := range members {
			signedIn := m.Administrator.LastSignInAt != nil && m.LastSignInAt != nil && m.LastSignInAt.Equal(*who.LastSignInAt)
			equal(t, m.Email+" has signed in", signedIn, m.ID == ann.ID)
		}
		equal(t, "audit", texts(t, s, `SELECT action || ' ' || detail FROM audit_entries ORDER BY id`), []string{"sign_in.failed ", "sign_in.succeeded From Riga."})
		change(t, s, `UPDATE sign_in_throttles SET blocked_until = $1 WHERE key = $2`, s.Now(), known)
		if isKnown, err = s.KnowsAddress(ctx, known); err != nil || isKnown {
			t.Errorf("the address is known after its time: %v, %v", isKnown, err)
		}
	})
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, ctx := newTestCompany(t, s), t.Context()
		ann, bob := f.addAdministrator("ann@x.test", domain.CabinetOwner).Actor, f.addAdministrator("bob@x.test", domain.CabinetOwner).Actor
		step := s.Now().Unix() / 30
		confirm := domain.TOTPConfirmation{Secret: []byte("sealed"), Step: step, RecoveryHashes: []string{"r1", "r2"}, KeepSession: []byte("none"), Actor: ann}
		wantCode(t, "turn off what is off", s.DropTOTP(ctx, ann), domain.CodeInvalid)
		wantCode(t, "replace codes that are not there", s.SetRecoveryCodes(ctx, ann, nil), domain.CodeInvalid)
		wantNoError(t, "begin", s.SetTOTPSecret(ctx, ann.ID, []byte("abandoned")))
		wantNoError(t, "begin again", s.SetTOTPSecret(ctx, ann.ID, []byte("sealed")))
		wantNoError(t, "begin for another", s.SetTOTPSecret(ctx, bob.ID, []byte("sealed too")))
		old := confirm
		old.Secret = []byte("abandoned")
		wantCode(t, "confirm the secret before", s.ConfirmTOTP(ctx, old), domain.CodeUnauthorized)
		wantNoError(t, "confirm", s.ConfirmTOTP(ctx, confirm))
		wantCode(t, "confirm twice", s.ConfirmTOTP(ctx, confirm), domain.CodeInvalid)
		wantCode(t, "begin when it is on", s.SetTOTPSecret(ctx, ann.ID, []byte("x")), domain.CodeInvalid)
		equal(t, "sessions", sessionKeys(t, s, ann.ID), []string{})
		equal(t, "who has a factor", sealedFactors(t, s), []string{"ann@x.test sealed", "bob@x.test sealed too"})

		pass := func(what string, proof domain.SignInProof, recoveryLeft int) {
			t.Helper()
			proof.AdministratorID, proof.Complete, proof.Actor = ann.ID, true, ann
			who, err := s.PassSignIn(ctx, proof)
			if recoveryLeft < 0 {
				wantCode(t, what, err, domain.CodeUnauthorized)
			} else if err != nil || who.RecoveryLeft != recoveryLeft {
				t.Errorf("%s: %d recovery codes are left, %v; want %d", what, who.RecoveryLeft, err, recoveryLeft)
			}
		}
		pass("no code", domain.SignInProof{}, -1)
		pass("the code that confirmed", domain.SignInProof{Step: step}, -1)
		pass("the next code", domain.SignInProof{Step: step + 1}, 2)
		pass("the same again", domain.SignInProof{Step: step + 1}, -1)
		pass("a recovery code", domain.SignInProof{RecoveryHash: "r1"}, 1)
		pass("the same recovery code", domain.SignInProof{RecoveryHash: "r1"}, -1)
		equal(t, "stored recovery codes", credentials(t, s, ann.ID).RecoveryHashes, []string{"r2"})
		wantNoError(t, "replace the codes", s.SetRecoveryCodes(ctx, ann, []string{"n1", "n2", "n3"}))
		pass("a replaced recovery code", domain.SignInProof{RecoveryHash: "r2"}, -1)
		pass("a new recovery code", domain.SignInProof{RecoveryHash: "n2"}, 2)
		wantNoError(t, "turn off", s.DropTOTP(ctx, ann))
		pass("no code when it is off", domain.SignInProof{}, 0)
		equal(t, "who has a factor", sealedFactors(t, s), []string{"bob@x.test sealed too"})
		audit := slices.DeleteFunc(f.audit(), func(action string) bool { return action == "sign_in.succeeded" })
		equal(t, "audit", audit, []string{"second_factor.added", "recovery_codes.replaced", "second_factor.removed"})
	})
}

// sealedFactors returns the encrypted secrets of second factors, with the addresses of their owners.
func sealedFactors(t *testing.T, s *store.Store) []string {
	t.Helper()
	list, err := s.SecondFactors(t.Context())
	wantNoError(t, "list the second factors", err)
	out := []string{}
	for _, x := range list {
		out = append(out, x.Email+" "+string(x.Secret))
	}
	return out
}
