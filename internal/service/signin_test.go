package service_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, _ := f.companyWithPassword("anna@x.test")
		for _, email := range []string{"anna@x.test", "ANNA@X.TEST"} {
			got, err := f.signIn.Password(ctx, email, goodPassword, here)
			if err != nil || got.NeedsCode() || got.Administrator.Email != "anna@x.test" || got.Administrator.LastSignInAt == nil {
				f.t.Errorf("sign in as %s: %+v, %v", email, got, err)
			}
		}
		f.company("fresh@x.test") // has no password yet
		for name, try := range map[string][2]string{
			"wrong password": {"anna@x.test", "violet tram Engine"}, "no password": {"anna@x.test", ""}, "unknown": {"bob@x.test", goodPassword},
			"not entered yet": {"fresh@x.test", ""}, "no address": {"", ""}, "huge": {"anna@x.test", strings.Repeat("x", 1<<20)},
		} {
			_, err := f.signIn.Password(ctx, try[0], try[1], here)
			wantErr(f.t, name, err, domain.ErrWrongCredentials)
		}
		want := []string{
			"company.created by operator", "administrator.invited by operator", "sign_in.succeeded by person", "password.set by person",
			"sign_in.succeeded by person", "sign_in.succeeded by person", "sign_in.failed by system", "sign_in.failed by system", "sign_in.failed by system",
		}
		if diff := cmp.Diff(want, f.actions(acme.ID)); diff != "" {
			f.t.Error(diff)
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

func (a *asked) FailSignIn(ctx context.Context, failure domain.SignInFailure) error {
	a.calls = append(a.calls, "fail")
	return a.SignInStore.FailSignIn(ctx, failure)
}

// A refusal takes the same steps whether or not the address is known; that a
// missing hash costs as much as a wrong one is seen in TestMissingHashCostsTheSame.
func TestSignInTellsNothing(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		f.companyWithPassword("anna@x.test")
		f.company("fresh@x.test")
		s := &asked{SignInStore: f.store}
		signIn := service.NewSignIn(s, xorBox(1), service.SignInOptions{Cost: cheap})
		for _, email := range []string{"anna@x.test", "fresh@x.test", "bob@x.test"} {
			s.calls = nil
			_, err := signIn.Password(f.t.Context(), email, "wrong", here)
			wantErr(f.t, email, err, domain.ErrWrongCredentials)
			if got := strings.Join(s.calls, " "); got != "count find fail" {
				f.t.Errorf("%s: asked the store for %s", email, got)
			}
		}
	})
}

func TestHashIsUpgraded(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, id := f.companyWithPassword("anna@x.test")
		hash := func() string {
			_, secrets, err := f.store.Administrator(ctx, id.Administrator.ID)
			must(f.t, "read", err)
			return secrets.PasswordHash
		}
		if got := hash(); !strings.HasPrefix(got, "$argon2id$v=19$m=64,t=1,p=1$") {
			f.t.Errorf("hash %s", got)
		}
		dearer := service.NewSignIn(f.store, xorBox(1), service.SignInOptions{Cost: service.PasswordCost{Memory: 128, Passes: 2, Threads: 1}})
		_, err := dearer.Password(ctx, "anna@x.test", goodPassword, here)
		must(f.t, "sign in", err)
		upgraded := hash()
		if !strings.HasPrefix(upgraded, "$argon2id$v=19$m=128,t=2,p=1$") {
			f.t.Errorf("hash after a sign-in at a higher cost: %s", upgraded)
		}
		_, err = dearer.Password(ctx, "anna@x.test", goodPassword, here)
		if err != nil || hash() != upgraded {
			f.t.Errorf("signing in again: %v, hash %s", err, hash())
		}
		f.exec(`UPDATE administrators SET password_hash = 'plain' WHERE id = $1`, id.Administrator.ID)
		_, err = dearer.Password(ctx, "anna@x.test", "plain", here)
		wantCode(f.t, "a hash of unknown form", err, domain.CodeInternal)
	})
}

func TestThrottleByAccount(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		f.companyWithPassword("anna@x.test")
		for _, email := range []string{"anna@x.test", "nobody@x.test"} {
			from := func(i int) service.Origin {
				return service.Origin{Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})}
			}
			for i := range 5 {
				_, err := f.signIn.Password(ctx, email, "wrong", from(i))
				wantErr(f.t, email, err, domain.ErrWrongCredentials)
			}
			_, err := f.signIn.Password(ctx, email, goodPassword, from(9))
			var blocked *domain.ThrottledError
			if !errors.As(err, &blocked) || domain.CodeOf(err) != domain.CodeRateLimited {
				f.t.Fatalf("%s, sixth attempt: %v", email, err)
			}
		}
		// The wait passes, the next failure doubles it.
		f.exec(`UPDATE sign_in_throttles SET blocked_until = updated_at WHERE key = $1`, domain.AccountThrottle("anna@x.test").Key)
		_, err := f.signIn.Password(ctx, "anna@x.test", "wrong", here)
		wantErr(f.t, "after the wait", err, domain.ErrWrongCredentials)
		_, err = f.signIn.Password(ctx, "anna@x.test", "wrong", here)
		var blocked *domain.ThrottledError
		if !errors.As(err, &blocked) || blocked.Until.Sub(f.store.Now()) > 2*time.Second {
			f.t.Errorf("blocked: %v", err)
		}
		// A success clears the account.
		f.exec(`UPDATE sign_in_throttles SET blocked_until = updated_at`)
		_, err = f.signIn.Password(ctx, "anna@x.test", goodPassword, here)
		must(f.t, "sign in", err)
		if n := f.count(`SELECT count(*) FROM sign_in_throttles WHERE key = $1`, domain.AccountThrottle("anna@x.test").Key); n != 0 {
			f.t.Error("the account's failures are still counted")
		}
		// What was long ago counts no more.
		f.exec(`UPDATE sign_in_throttles SET blocked_until = $1, updated_at = $1`, f.store.Now().Add(-domain.ThrottleMemory))
		for range 5 {
			_, err := f.signIn.Password(ctx, "nobody@x.test", "wrong", here)
			wantErr(f.t, "a day later", err, domain.ErrWrongCredentials)
		}
	})
}

func TestThrottleByAddress(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		f.companyWithPassword("anna@x.test")
		for i := range 20 {
			_, err := f.signIn.Password(ctx, unique("guess"), "wrong", here)
			wantErr(f.t, "guess", err, domain.ErrWrongCredentials)
			if i == 10 { // one's own account does not buy guesses
				_, err = f.signIn.Password(ctx, "anna@x.test", goodPassword, here)
				must(f.t, "sign in", err)
			}
		}
		_, err := f.signIn.Password(ctx, "anna@x.test", goodPassword, here)
		wantCode(f.t, "from a blocked address", err, domain.CodeRateLimited)
		_, err = f.signIn.Password(ctx, "anna@x.test", goodPassword, service.Origin{Address: netip.MustParseAddr("192.0.2.1")})
		must(f.t, "from elsewhere", err)
		_, err = f.signIn.Password(ctx, "anna@x.test", goodPassword, service.Origin{})
		must(f.t, "from an unknown address", err)
	})
}

// Guesses made at the same moment are counted one by one.
func TestThrottleRace(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		f.companyWithPassword("anna@x.test")
		began := time.Now()
		errs := together(30, func(int) error {
			_, err := f.signIn.Password(f.t.Context(), "anna@x.test", "wrong", service.Origin{})
			return err
		})
		tried := 0
		for _, err := range errs {
			switch {
			case errors.Is(err, domain.ErrWrongCredentials):
				tried++
			case domain.CodeOf(err) != domain.CodeRateLimited:
				f.t.Error(err)
			}
		}
		// On a slow machine waits pass while the thirty are served.
		most := 5
		for wait := time.Second; time.Since(began) > wait; wait += wait + time.Second {
			most++
		}
		if tried < 5 || tried > most {
			f.t.Errorf("%d of 30 guesses at once were held against the password, want at most %d", tried, most)
		}
	})
}
