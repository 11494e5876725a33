package service_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, id := f.companyWithPassword("anna@x.test")
		by := id.Actor(here)
		var now atomic.Int64
		now.Store(f.store.Now().Unix())
		clock := func() time.Time { return time.Unix(now.Load(), 0) }
		signIn := service.NewSignIn(f.store, xorBox(0x5a), service.SignInOptions{Cost: cheap, Now: clock, Issuer: "Acme"})

		_, err := signIn.ConfirmSecondFactor(ctx, by, "123456", "")
		wantErr(f.t, "confirm what was not begun", err, domain.ErrSecondFactorOff)
		_, err = signIn.BeginSecondFactor(ctx, by, "wrong")
		wantErr(f.t, "begin without the password", err, domain.ErrWrongPassword)
		key, err := signIn.BeginSecondFactor(ctx, by, goodPassword)
		must(f.t, "begin", err)
		again, err := signIn.PendingSecondFactor(ctx, by)
		if err != nil || again != key || !strings.Contains(key.URI, "otpauth://totp/Acme:anna@x.test?secret="+key.Secret) {
			f.t.Errorf("key %+v, again %+v, %v", key, again, err)
		}
		_, secrets, err := f.store.Administrator(ctx, by.ID)
		must(f.t, "read", err)
		secret, err := xorBox(0x5a).Open(totpLabel, secrets.TOTPSecret)
		must(f.t, "open", err)
		code := func() string { return domain.TOTPCode(secret, domain.TOTPStep(clock())) }

		got, err := signIn.Password(ctx, "anna@x.test", goodPassword, here)
		if err != nil || got.NeedsCode() {
			f.t.Errorf("an unconfirmed factor counts: %+v, %v", got, err)
		}
		_, err = signIn.ConfirmSecondFactor(ctx, by, "000000x", "")
		wantErr(f.t, "confirm wrongly", err, domain.ErrWrongCode)
		recovery, err := signIn.ConfirmSecondFactor(ctx, by, code(), "")
		if err != nil || len(recovery) != domain.RecoveryCodeCount {
			f.t.Fatalf("confirm: %d codes, %v", len(recovery), err)
		}
		_, err = signIn.BeginSecondFactor(ctx, by, goodPassword)
		wantErr(f.t, "begin again", err, domain.ErrSecondFactorOn)

		got, err = signIn.Password(ctx, "anna@x.test", goodPassword, here)
		if err != nil || !got.NeedsCode() {
			f.t.Fatalf("password: %+v, %v", got, err)
		}
		_, err = signIn.Code(ctx, got.Begun, code(), here)
		wantErr(f.t, "the code that confirmed", err, domain.ErrWrongCode)
		now.Add(30)
		who, err := signIn.Code(ctx, got.Begun, code(), here)
		if err != nil || !who.HasSecondFactor || who.RecoveryLeft != 10 {
			f.t.Errorf("code: %+v, %v", who, err)
		}
		_, err = signIn.Code(ctx, got.Begun, code(), here)
		wantErr(f.t, "the code again", err, domain.ErrWrongCode)
		who, err = signIn.Code(ctx, got.Begun, " "+strings.ToUpper(recovery[3]), here)
		if err != nil || who.RecoveryLeft != 9 {
			f.t.Errorf("recovery code: %+v, %v", who, err)
		}
		_, err = signIn.Code(ctx, got.Begun, recovery[3], here)
		wantErr(f.t, "the recovery code again", err, domain.ErrWrongCode)

		fresh, err := signIn.NewRecoveryCodes(ctx, by, goodPassword)
		must(f.t, "new recovery codes", err)
		_, err = signIn.Code(ctx, got.Begun, recovery[4], here)
		wantErr(f.t, "an old recovery code", err, domain.ErrWrongCode)
		_, err = signIn.Code(ctx, got.Begun, fresh[0], here)
		must(f.t, "a new one", err)

		wantErr(f.t, "remove without the password", signIn.RemoveSecondFactor(ctx, by, "wrong"), domain.ErrWrongPassword)
		must(f.t, "remove", signIn.RemoveSecondFactor(ctx, by, goodPassword))
		wantErr(f.t, "remove again", signIn.RemoveSecondFactor(ctx, by, goodPassword), domain.ErrSecondFactorOff)
		got, err = signIn.Password(ctx, "anna@x.test", goodPassword, here)
		if err != nil || got.NeedsCode() {
			f.t.Errorf("after removal: %+v, %v", got, err)
		}
		for _, action := range []string{"second_factor.added by person", "recovery_codes.replaced by person", "second_factor.removed by person"} {
			if !slices.Contains(f.actions(acme.ID), action) {
				f.t.Errorf("the log lacks %s", action)
			}
		}
	})
}

// One code, used by two at once, lets one of them in; so does a recovery code.
func TestCodeRace(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, id := f.companyWithPassword("anna@x.test")
		secret, recovery := f.factor(id)
		code := domain.TOTPCode(secret, domain.TOTPStep(time.Now())+1)
		begun := f.begin("anna@x.test")
		for name, code := range map[string]string{"code": code, "recovery code": recovery[0]} {
			errs := together(4, func(int) error {
				_, err := f.signIn.Code(ctx, begun, code, service.Origin{})
				return err
			})
			if n := succeeded(errs); n != 1 {
				f.t.Errorf("%d of 4 got in with one %s: %v", n, name, errs)
			}
		}
	})
}

// begin signs in with the good password as far as the second factor.
func (f fixture) begin(email string) string {
	f.t.Helper()
	got, err := f.signIn.Password(f.t.Context(), email, goodPassword, here)
	must(f.t, "begin a sign-in", err)
	if !got.NeedsCode() {
		f.t.Fatalf("%s signed in without a second factor", email)
	}
	return got.Begun
}

// factor turns the second factor on.
func (f fixture) factor(id service.Identity) (secret []byte, recovery []string) {
	f.t.Helper()
	by := id.Actor(here)
	_, err := f.signIn.BeginSecondFactor(f.t.Context(), by, goodPassword)
	must(f.t, "begin", err)
	_, secrets, err := f.store.Administrator(f.t.Context(), by.ID)
	must(f.t, "read", err)
	secret, err = xorBox(0x5a).Open(totpLabel, secrets.TOTPSecret)
	must(f.t, "open", err)
	recovery, err = f.signIn.ConfirmSecondFactor(f.t.Context(), by, domain.TOTPCode(secret, domain.TOTPStep(time.Now())), "")
	must(f.t, "confirm", err)
	return secret, recovery
}

func TestCodeIsThrottled(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, id := f.companyWithPassword("anna@x.test")
		f.factor(id)
		for range 5 {
			// The right password in between does not clear the count.
			_, err := f.signIn.Code(ctx, f.begin("anna@x.test"), "00000a", service.Origin{})
			wantErr(f.t, "wrong code", err, domain.ErrWrongCode)
		}
		_, err := f.signIn.Code(ctx, f.begin("anna@x.test"), "00000a", service.Origin{})
		wantCode(f.t, "sixth code", err, domain.CodeRateLimited)
	})
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, link := f.company("anna.smith@x.test")
		who, err := f.signIn.Enter(ctx, link, "", here)
		must(f.t, "enter", err)
		id, err := f.signIn.Identify(ctx, who.ID, 0)
		must(f.t, "identify", err)
		by := id.Actor(here)
		for _, bad := range []string{"", "short", "anna.smith2026", "password1234", strings.Repeat("ab3$e", 60)} {
			wantCode(f.t, bad, f.signIn.SetPassword(ctx, by, bad, ""), domain.CodeInvalid)
		}
		wantErr(f.t, "change what is not set", f.signIn.ChangePassword(ctx, by, "", goodPassword, ""), domain.ErrWrongPassword)
		must(f.t, "set", f.signIn.SetPassword(ctx, by, goodPassword, ""))
		wantErr(f.t, "set again", f.signIn.SetPassword(ctx, by, "another good one", ""), domain.ErrPasswordSet)

		for _, token := range []string{"mine", "other", "third"} {
			f.session(by.ID, token)
		}
		wantErr(f.t, "change with a wrong one", f.signIn.ChangePassword(ctx, by, "wrong", "another good one", "mine"), domain.ErrWrongPassword)
		wantCode(f.t, "change to a bad one", f.signIn.ChangePassword(ctx, by, goodPassword, "short", "mine"), domain.CodeInvalid)
		must(f.t, "change", f.signIn.ChangePassword(ctx, by, goodPassword, "another good one", "mine"))
		left, err := f.sessions.List(ctx, by.ID)
		if err != nil || len(left) != 1 || string(left[0].Key) != string(service.SessionKey("mine")) {
			f.t.Errorf("sessions after the change: %d, %v", len(left), err)
		}
		_, err = f.signIn.Password(ctx, "anna.smith@x.test", goodPassword, here)
		wantErr(f.t, "the old one", err, domain.ErrWrongCredentials)
		_, err = f.signIn.Password(ctx, "anna.smith@x.test", "another good one", here)
		must(f.t, "the new one", err)
		if !slices.Contains(f.actions(acme.ID), "password.changed by person") {
			f.t.Error("the log lacks the change")
		}
	})
}
