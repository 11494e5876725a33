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
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, id := o.settled("anna@x.test")
		by := id.Actor(here)
		var now atomic.Int64
		now.Store(o.store.Now().Unix())
		clock := func() time.Time { return time.Unix(now.Load(), 0) }
		signIn := service.NewSignIn(o.store, xorSealer(0x5a), service.SignInOptions{Cost: cheap, Now: clock, Issuer: "Acme"})

		_, err := signIn.ConfirmSecondFactor(ctx, by, "123456")
		wantErr(o.t, "confirm what was not begun", err, domain.ErrSecondFactorOff)
		_, err = signIn.BeginSecondFactor(ctx, by, "wrong")
		wantErr(o.t, "begin without the password", err, domain.ErrPassword)
		key, err := signIn.BeginSecondFactor(ctx, by, goodPassword)
		must(o.t, "begin", err)
		again, err := signIn.PendingSecondFactor(ctx, by)
		if err != nil || again != key || !strings.Contains(key.URI, "otpauth://totp/Acme:anna@x.test?secret="+key.Secret) {
			o.t.Errorf("key %+v, again %+v, %v", key, again, err)
		}
		_, secrets, err := o.store.Administrator(ctx, by.ID)
		must(o.t, "read", err)
		secret, err := xorSealer(0x5a).Open(secrets.TOTPSecret)
		must(o.t, "open", err)
		code := func() string { return domain.TOTPCode(secret, domain.TOTPStep(clock())) }

		got, err := signIn.Password(ctx, "anna@x.test", goodPassword, here)
		if err != nil || got.NeedsCode {
			o.t.Errorf("an unconfirmed factor counts: %+v, %v", got, err)
		}
		_, err = signIn.ConfirmSecondFactor(ctx, by, "000000x")
		wantErr(o.t, "confirm wrongly", err, domain.ErrCode)
		recovery, err := signIn.ConfirmSecondFactor(ctx, by, code())
		if err != nil || len(recovery) != domain.RecoveryCodes {
			o.t.Fatalf("confirm: %d codes, %v", len(recovery), err)
		}
		_, err = signIn.BeginSecondFactor(ctx, by, goodPassword)
		wantErr(o.t, "begin again", err, domain.ErrSecondFactorOn)

		got, err = signIn.Password(ctx, "anna@x.test", goodPassword, here)
		if err != nil || !got.NeedsCode {
			o.t.Fatalf("password: %+v, %v", got, err)
		}
		_, err = signIn.Code(ctx, by.ID, code(), here)
		wantErr(o.t, "the code that confirmed", err, domain.ErrCode)
		now.Add(30)
		who, err := signIn.Code(ctx, by.ID, code(), here)
		if err != nil || !who.HasSecondFactor || who.RecoveryLeft != 10 {
			o.t.Errorf("code: %+v, %v", who, err)
		}
		_, err = signIn.Code(ctx, by.ID, code(), here)
		wantErr(o.t, "the code again", err, domain.ErrCode)
		who, err = signIn.Code(ctx, by.ID, " "+strings.ToUpper(recovery[3]), here)
		if err != nil || who.RecoveryLeft != 9 {
			o.t.Errorf("recovery code: %+v, %v", who, err)
		}
		_, err = signIn.Code(ctx, by.ID, recovery[3], here)
		wantErr(o.t, "the recovery code again", err, domain.ErrCode)

		fresh, err := signIn.NewRecoveryCodes(ctx, by, goodPassword)
		must(o.t, "new recovery codes", err)
		_, err = signIn.Code(ctx, by.ID, recovery[4], here)
		wantErr(o.t, "an old recovery code", err, domain.ErrCode)
		_, err = signIn.Code(ctx, by.ID, fresh[0], here)
		must(o.t, "a new one", err)

		wantErr(o.t, "remove without the password", signIn.RemoveSecondFactor(ctx, by, "wrong"), domain.ErrPassword)
		must(o.t, "remove", signIn.RemoveSecondFactor(ctx, by, goodPassword))
		wantErr(o.t, "remove again", signIn.RemoveSecondFactor(ctx, by, goodPassword), domain.ErrSecondFactorOff)
		got, err = signIn.Password(ctx, "anna@x.test", goodPassword, here)
		if err != nil || got.NeedsCode {
			o.t.Errorf("after removal: %+v, %v", got, err)
		}
		for _, action := range []string{"second_factor.added by person", "recovery_codes.replaced by person", "second_factor.removed by person"} {
			if !slices.Contains(o.actions(acme.ID), action) {
				o.t.Errorf("the log lacks %s", action)
			}
		}
	})
}

// One code, used by two at once, lets one of them in; so does a recovery code.
func TestCodeRace(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		_, id := o.settled("anna@x.test")
		secret, recovery := o.factor(id)
		code := domain.TOTPCode(secret, domain.TOTPStep(time.Now())+1)
		for name, code := range map[string]string{"code": code, "recovery code": recovery[0]} {
			errs := together(4, func(int) error {
				_, err := o.signIn.Code(ctx, id.Administrator.ID, code, service.Origin{})
				return err
			})
			if n := succeeded(errs); n != 1 {
				o.t.Errorf("%d of 4 got in with one %s: %v", n, name, errs)
			}
		}
	})
}

// factor turns the second factor on.
func (o office) factor(id service.Identity) (secret []byte, recovery []string) {
	o.t.Helper()
	by := id.Actor(here)
	_, err := o.signIn.BeginSecondFactor(o.t.Context(), by, goodPassword)
	must(o.t, "begin", err)
	_, secrets, err := o.store.Administrator(o.t.Context(), by.ID)
	must(o.t, "read", err)
	secret, err = xorSealer(0x5a).Open(secrets.TOTPSecret)
	must(o.t, "open", err)
	recovery, err = o.signIn.ConfirmSecondFactor(o.t.Context(), by, domain.TOTPCode(secret, domain.TOTPStep(time.Now())))
	must(o.t, "confirm", err)
	return secret, recovery
}

func TestCodeIsThrottled(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		_, id := o.settled("anna@x.test")
		o.factor(id)
		for range 5 {
			// The right password in between does not clear the count.
			_, err := o.signIn.Password(ctx, "anna@x.test", goodPassword, service.Origin{})
			must(o.t, "password", err)
			_, err = o.signIn.Code(ctx, id.Administrator.ID, "00000a", service.Origin{})
			wantErr(o.t, "wrong code", err, domain.ErrCode)
		}
		_, err := o.signIn.Code(ctx, id.Administrator.ID, "00000a", service.Origin{})
		wantCode(o.t, "sixth code", err, domain.CodeRateLimited)
	})
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, link := o.company("anna.smith@x.test")
		who, err := o.signIn.Enter(ctx, link, "", here)
		must(o.t, "enter", err)
		id, err := o.signIn.Identify(ctx, who.ID, 0)
		must(o.t, "identify", err)
		by := id.Actor(here)
		for _, bad := range []string{"", "short", "anna.smith2026", "password1234", strings.Repeat("ab3$e", 60)} {
			wantCode(o.t, bad, o.signIn.SetPassword(ctx, by, bad, ""), domain.CodeInvalid)
		}
		wantErr(o.t, "change what is not set", o.signIn.ChangePassword(ctx, by, "", goodPassword, ""), domain.ErrPassword)
		must(o.t, "set", o.signIn.SetPassword(ctx, by, goodPassword, ""))
		wantErr(o.t, "set again", o.signIn.SetPassword(ctx, by, "another good one", ""), domain.ErrPasswordSet)

		for _, token := range []string{"mine", "other", "third"} {
			o.session(by.ID, token)
		}
		wantErr(o.t, "change with a wrong one", o.signIn.ChangePassword(ctx, by, "wrong", "another good one", "mine"), domain.ErrPassword)
		wantCode(o.t, "change to a bad one", o.signIn.ChangePassword(ctx, by, goodPassword, "short", "mine"), domain.CodeInvalid)
		must(o.t, "change", o.signIn.ChangePassword(ctx, by, goodPassword, "another good one", "mine"))
		left, err := o.sessions.List(ctx, by.ID)
		if err != nil || len(left) != 1 || string(left[0].Key) != string(service.SessionKey("mine")) {
			o.t.Errorf("sessions after the change: %d, %v", len(left), err)
		}
		_, err = o.signIn.Password(ctx, "anna.smith@x.test", goodPassword, here)
		wantErr(o.t, "the old one", err, domain.ErrSignIn)
		_, err = o.signIn.Password(ctx, "anna.smith@x.test", "another good one", here)
		must(o.t, "the new one", err)
		if !slices.Contains(o.actions(acme.ID), "password.changed by person") {
			o.t.Error("the log lacks the change")
		}
	})
}
