package service_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, _ := o.settled("anna@x.test")
		for _, email := range []string{"anna@x.test", "ANNA@X.TEST"} {
			got, err := o.signIn.Password(ctx, email, goodPassword, here)
			if err != nil || got.NeedsCode || got.Administrator.Email != "anna@x.test" || got.Administrator.LastSignInAt == nil {
				o.t.Errorf("sign in as %s: %+v, %v", email, got, err)
			}
		}
		o.company("fresh@x.test") // has no password yet
		for name, try := range map[string][2]string{
			"wrong password": {"anna@x.test", "violet tram Engine"}, "no password": {"anna@x.test", ""}, "unknown": {"bob@x.test", goodPassword},
			"not entered yet": {"fresh@x.test", ""}, "no address": {"", ""}, "huge": {"anna@x.test", strings.Repeat("x", 1<<20)},
		} {
			_, err := o.signIn.Password(ctx, try[0], try[1], here)
			wantErr(o.t, name, err, domain.ErrSignIn)
		}
		want := []string{
			"company.created by operator", "administrator.invited by operator", "sign_in.succeeded by person", "password.set by person",
			"sign_in.succeeded by person", "sign_in.succeeded by person", "sign_in.failed by system", "sign_in.failed by system", "sign_in.failed by system",
		}
		if diff := cmp.Diff(want, o.actions(acme.ID)); diff != "" {
			o.t.Error(diff)
		}
	})
}

// asked is a real store that notes what a sign-in asks of it.
type asked struct {
	service.SignInStore
	calls []string
}

func (a *asked) CountAttempt(ctx context.Context, t []domain.Throttle) error {
	a.calls = append(a.calls, "count")
	return a.SignInStore.CountAttempt(ctx, t)
}

func (a *asked) AdministratorByEmail(ctx context.Context, email string) (domain.Administrator, domain.Credentials, error) {
	a.calls = append(a.calls, "find")
	return a.SignInStore.AdministratorByEmail(ctx, email)
}

func (a *asked) FailSignIn(ctx context.Context, administrator int64, tried []domain.Throttle, from domain.Actor) error {
	a.calls = append(a.calls, "fail")
	return a.SignInStore.FailSignIn(ctx, administrator, tried, from)
}

// A refusal takes the same steps whether or not the address is known; that a
// missing hash costs as much as a wrong one is seen in TestMissingHashCostsTheSame.
func TestSignInTellsNothing(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		o.settled("anna@x.test")
		o.company("fresh@x.test")
		s := &asked{SignInStore: o.store}
		signIn := service.NewSignIn(s, xorSealer(1), service.SignInOptions{Cost: cheap})
		for _, email := range []string{"anna@x.test", "fresh@x.test", "bob@x.test"} {
			s.calls = nil
			_, err := signIn.Password(o.t.Context(), email, "wrong", here)
			wantErr(o.t, email, err, domain.ErrSignIn)
			if got := strings.Join(s.calls, " "); got != "count find fail" {
				o.t.Errorf("%s: asked the store for %s", email, got)
			}
		}
	})
}

func TestHashIsUpgraded(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		_, id := o.settled("anna@x.test")
		hash := func() string {
			_, secrets, err := o.store.Administrator(ctx, id.Administrator.ID)
			must(o.t, "read", err)
			return secrets.PasswordHash
		}
		if got := hash(); !strings.HasPrefix(got, "$argon2id$v=19$m=64,t=1,p=1$") {
			o.t.Errorf("hash %s", got)
		}
		dearer := service.NewSignIn(o.store, xorSealer(1), service.SignInOptions{Cost: service.PasswordCost{Memory: 128, Passes: 2, Threads: 1}})
		_, err := dearer.Password(ctx, "anna@x.test", goodPassword, here)
		must(o.t, "sign in", err)
		upgraded := hash()
		if !strings.HasPrefix(upgraded, "$argon2id$v=19$m=128,t=2,p=1$") {
			o.t.Errorf("hash after a sign-in at a higher cost: %s", upgraded)
		}
		_, err = dearer.Password(ctx, "anna@x.test", goodPassword, here)
		if err != nil || hash() != upgraded {
			o.t.Errorf("signing in again: %v, hash %s", err, hash())
		}
		o.exec(`UPDATE administrators SET password_hash = 'plain' WHERE id = $1`, id.Administrator.ID)
		_, err = dearer.Password(ctx, "anna@x.test", "plain", here)
		wantCode(o.t, "a hash of unknown form", err, domain.CodeInternal)
	})
}

func TestThrottleByAccount(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		o.settled("anna@x.test")
		for _, email := range []string{"anna@x.test", "nobody@x.test"} {
			from := func(i int) service.Origin {
				return service.Origin{Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})}
			}
			for i := range 5 {
				_, err := o.signIn.Password(ctx, email, "wrong", from(i))
				wantErr(o.t, email, err, domain.ErrSignIn)
			}
			_, err := o.signIn.Password(ctx, email, goodPassword, from(9))
			var blocked *domain.Throttled
			if !errors.As(err, &blocked) || domain.CodeOf(err) != domain.CodeRateLimited {
				o.t.Fatalf("%s, sixth attempt: %v", email, err)
			}
		}
		// The wait passes, the next failure doubles it.
		o.exec(`UPDATE sign_in_throttles SET blocked_until = updated_at WHERE key = $1`, domain.AccountThrottle("anna@x.test").Key)
		_, err := o.signIn.Password(ctx, "anna@x.test", "wrong", here)
		wantErr(o.t, "after the wait", err, domain.ErrSignIn)
		_, err = o.signIn.Password(ctx, "anna@x.test", "wrong", here)
		var blocked *domain.Throttled
		if !errors.As(err, &blocked) || blocked.Until.Sub(o.store.Now()) > 2*time.Second {
			o.t.Errorf("blocked: %v", err)
		}
		// A success clears the account.
		o.exec(`UPDATE sign_in_throttles SET blocked_until = updated_at`)
		_, err = o.signIn.Password(ctx, "anna@x.test", goodPassword, here)
		must(o.t, "sign in", err)
		if n := o.count(`SELECT count(*) FROM sign_in_throttles WHERE key = $1`, domain.AccountThrottle("anna@x.test").Key); n != 0 {
			o.t.Error("the account's failures are still counted")
		}
		// What was long ago counts no more.
		o.exec(`UPDATE sign_in_throttles SET blocked_until = $1, updated_at = $1`, o.store.Now().Add(-domain.ThrottleMemory))
		for range 5 {
			_, err := o.signIn.Password(ctx, "nobody@x.test", "wrong", here)
			wantErr(o.t, "a day later", err, domain.ErrSignIn)
		}
	})
}

func TestThrottleByAddress(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		o.settled("anna@x.test")
		for i := range 20 {
			_, err := o.signIn.Password(ctx, unique("guess"), "wrong", here)
			wantErr(o.t, "guess", err, domain.ErrSignIn)
			if i == 10 { // one's own account does not buy guesses
				_, err = o.signIn.Password(ctx, "anna@x.test", goodPassword, here)
				must(o.t, "sign in", err)
			}
		}
		_, err := o.signIn.Password(ctx, "anna@x.test", goodPassword, here)
		wantCode(o.t, "from a blocked address", err, domain.CodeRateLimited)
		_, err = o.signIn.Password(ctx, "anna@x.test", goodPassword, service.Origin{Address: netip.MustParseAddr("192.0.2.1")})
		must(o.t, "from elsewhere", err)
		_, err = o.signIn.Password(ctx, "anna@x.test", goodPassword, service.Origin{})
		must(o.t, "from an unknown address", err)
	})
}

// Guesses made at the same moment are counted one by one.
func TestThrottleRace(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		o.settled("anna@x.test")
		errs := together(30, func(int) error {
			_, err := o.signIn.Password(o.t.Context(), "anna@x.test", "wrong", service.Origin{})
			return err
		})
		tried := 0
		for _, err := range errs {
			switch {
			case errors.Is(err, domain.ErrSignIn):
				tried++
			case domain.CodeOf(err) != domain.CodeRateLimited:
				o.t.Error(err)
			}
		}
		// The wait of a second may pass while the thirty are served.
		if tried < 5 || tried > 7 {
			o.t.Errorf("%d of 30 guesses at once were held against the password, want 5", tried)
		}
	})
}

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
