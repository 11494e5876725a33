package service_test

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// TestKnownDeviceIsNotLockedOut checks that strangers who guess at an account lock
// out neither a device that has signed in to it before nor a signed-in person who
// changes the password, and that the cookie helps nobody else.
func TestKnownDeviceIsNotLockedOut(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, anna := f.companyWithPassword("anna@x.test")
		f.companyWithPassword("bob@x.test")
		for i := range 6 {
			_, _ = f.signIn.Password(ctx, "anna@x.test", "wrong", service.Origin{Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})})
		}
		device := f.signIn.DeviceToken("anna@x.test")
		for name, token := range map[string]string{
			"without a cookie": "", "with a made-up cookie": "eyJhY2NvdW50IjoiIn0", "with another account's cookie": f.signIn.DeviceToken("bob@x.test"),
		} {
			_, err := f.signIn.Password(ctx, "anna@x.test", goodPassword, service.Origin{Device: token})
			wantCode(f.t, "sign in "+name, err, domain.CodeRateLimited)
		}
		_, err := f.signIn.Password(ctx, "ANNA@x.test", goodPassword, service.Origin{Address: here.Address, Device: device})
		must(f.t, "sign in from a known device", err)
		must(f.t, "change the password while strangers guess", f.signIn.ChangePassword(ctx, anna.Actor(here), goodPassword, "another violet tram", ""))

		// The cookie buys no guesses: the device has a counter of its own.
		for range 5 {
			_, err := f.signIn.Password(ctx, "anna@x.test", "wrong", service.Origin{Device: device})
			wantErr(f.t, "guess from a known device", err, domain.ErrWrongCredentials)
		}
		_, err = f.signIn.Password(ctx, "anna@x.test", "another violet tram", service.Origin{Device: device})
		wantCode(f.t, "the sixth guess from a known device", err, domain.CodeRateLimited)
	})
}

func TestDeviceExpires(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		f.companyWithPassword("anna@x.test")
		for range 6 {
			_, _ = f.signIn.Password(ctx, "anna@x.test", "wrong", service.Origin{})
		}
		device := f.signIn.DeviceToken("anna@x.test")
		later := service.NewSignIn(f.store, xorBox(0x5a), service.SignInOptions{
			Cost: cheap, Now: func() time.Time { return time.Now().Add(service.DeviceLifetime) },
		})
		_, err := later.Password(ctx, "anna@x.test", goodPassword, service.Origin{Device: device})
		wantCode(f.t, "sign in from a device that is no longer known", err, domain.CodeRateLimited)
	})
}

// TestThrottleByNetwork checks that an IPv6 customer does not get a fresh counter
// with every /64 of their network.
func TestThrottleByNetwork(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		from := func(subnet int) service.Origin {
			addr := netip.MustParseAddr("2001:db8:7::1").As16()
			addr[7] = byte(subnet)
			return service.Origin{Address: netip.AddrFrom16(addr)}
		}
		for i := range 40 {
			_, err := f.signIn.Password(f.t.Context(), unique("guess"), "wrong", from(i))
			wantErr(f.t, "guess", err, domain.ErrWrongCredentials)
		}
		_, err := f.signIn.Password(f.t.Context(), unique("guess"), "wrong", from(200))
		wantCode(f.t, "a guess from another /64 of a blocked /56", err, domain.CodeRateLimited)
	})
}

// watchedStore reports what KnowsAddress answers.
type watchedStore struct {
	service.SignInStore
	known chan<- bool
}

func (b watchedStore) KnowsAddress(ctx context.Context, key string) (bool, error) {
	known, err := b.SignInStore.KnowsAddress(ctx, key)
	b.known <- known
	return known, err
}

func TestAddressIsKnownAfterSignIn(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		f.companyWithPassword("anna@x.test")
		known := make(chan bool, 1)
		signIn := service.NewSignIn(watchedStore{f.store, known}, xorBox(0x5a), service.SignInOptions{Cost: cheap})
		from := service.Origin{Address: netip.MustParseAddr("2001:db8:9::1")}
		for i, want := range []bool{false, true} {
			_, err := signIn.Password(f.t.Context(), "anna@x.test", goodPassword, from)
			must(f.t, "sign in", err)
			if got := <-known; got != want {
				f.t.Errorf("sign-in %d from an address: known is %v, want %v", i+1, got, want)
			}
		}
	})
}

// TestBegunSignInEnds checks that the second step of a sign-in is possible for ten
// minutes only, and only while the password stays as it was.
func TestBegunSignInEnds(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("anna@x.test")
		_, recovery := f.factor(anna)
		begun := f.begin("anna@x.test")
		later := service.NewSignIn(f.store, xorBox(0x5a), service.SignInOptions{
			Cost: cheap, Now: func() time.Time { return time.Now().Add(10 * time.Minute) },
		})
		_, err := later.Code(ctx, begun, recovery[0], here)
		wantErr(f.t, "a code after ten minutes", err, domain.ErrSignInExpired)
		_, err = f.signIn.Code(ctx, f.signIn.DeviceToken("anna@x.test"), recovery[0], here)
		wantErr(f.t, "a code for something else that was sealed", err, domain.ErrSignInExpired)
		_, err = f.signIn.Code(ctx, begun, "000000x", here)
		wantErr(f.t, "a wrong code", err, domain.ErrWrongCode)
		if got := f.actions(acme.ID); !slices.Contains(got, "second_factor.failed by system") || slices.Contains(got, "sign_in.failed by system") {
			f.t.Errorf("the log of a wrong code after a right password: %v", got)
		}
		must(f.t, "change the password", f.signIn.ChangePassword(ctx, anna.Actor(here), goodPassword, "another violet tram", ""))
		_, err = f.signIn.Code(ctx, begun, recovery[0], here)
		wantErr(f.t, "a code after the password changed", err, domain.ErrSignInExpired)
	})
}

func TestSecondFactorEndsOtherSessions(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, anna := f.companyWithPassword("anna@x.test")
		f.session(anna.Administrator.ID, "this")
		f.session(anna.Administrator.ID, "other")
		key, err := f.signIn.BeginSecondFactor(ctx, anna.Actor(here), goodPassword)
		must(f.t, "begin", err)
		_, secrets, err := f.store.Administrator(ctx, anna.Administrator.ID)
		must(f.t, "read", err)
		secret, err := xorBox(0x5a).Open(totpLabel, secrets.TOTPSecret)
		must(f.t, "open "+key.URI, err)
		_, err = f.signIn.ConfirmSecondFactor(ctx, anna.Actor(here), domain.TOTPCode(secret, domain.TOTPStep(time.Now())), "this")
		must(f.t, "confirm", err)
		for token, want := range map[string]bool{"this": true, "other": false} {
			if _, _, found := f.find(token); found != want {
				f.t.Errorf("session %q after the second factor was switched on: alive is %v, want %v", token, found, want)
			}
		}
	})
}
