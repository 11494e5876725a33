package service_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// inTwoOffices runs a test on every engine with two processes on one database.
func inTwoOffices(t *testing.T, fn func(o, elsewhere office)) {
	t.Helper()
	for engine, open := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			if address := open(t); address != "" {
				fn(newOffice(t, storetest.Open(t, address)), newOffice(t, storetest.Open(t, address)))
			}
		})
	}
}

func TestChangesElsewhereAreSeen(t *testing.T) {
	t.Parallel()
	inTwoOffices(t, func(o, elsewhere office) {
		ctx := o.t.Context()
		acme, _ := o.company("anna@x.test")
		token, secret := o.token(acme)
		_, platform, err := o.tokens.CreatePlatformToken(ctx, "LMS")
		must(o.t, "create", err)
		background(o.t, o.tokens.Run)
		authenticate := func() error {
			_, err := o.tokens.Authenticate(ctx, secret, nowhere)
			return err
		}
		must(o.t, "authenticate", authenticate())

		_, err = elsewhere.companies.Suspend(ctx, operator, acme.ID)
		must(o.t, "suspend", err)
		within(o.t, time.Second, "suspension", func() bool { return errors.Is(authenticate(), domain.ErrCompanySuspended) })
		_, err = elsewhere.companies.Resume(ctx, operator, acme.ID)
		must(o.t, "resume", err)
		within(o.t, time.Second, "resumption", func() bool { return authenticate() == nil })
		name := "Acme Ltd"
		_, err = elsewhere.companies.UpdateSettings(ctx, elsewhere.caller(acme), domain.CompanySettings{Name: &name})
		must(o.t, "rename", err)
		within(o.t, time.Second, "settings", func() bool {
			got, err := o.tokens.Authenticate(ctx, secret, nowhere)
			return err == nil && got.Company.Name == name
		})
		_, err = elsewhere.tokens.Revoke(ctx, elsewhere.caller(acme), token.ID)
		must(o.t, "revoke", err)
		within(o.t, time.Second, "revocation", func() bool { return errors.Is(authenticate(), domain.ErrUnauthorized) })

		gone, err := o.tokens.AuthenticatePlatform(ctx, platform)
		must(o.t, "authenticate the platform", err)
		_, err = elsewhere.tokens.RevokePlatformToken(ctx, gone.ID)
		must(o.t, "revoke", err)
		within(o.t, time.Second, "revocation of the platform's", func() bool {
			_, err := o.tokens.AuthenticatePlatform(ctx, platform)
			return errors.Is(err, domain.ErrUnauthorized)
		})
	})
}

// Requests that go on while a token is revoked elsewhere: none that begins a
// second after it gets through.
func TestRevokeAgainstAuthenticate(t *testing.T) {
	t.Parallel()
	inTwoOffices(t, func(o, elsewhere office) {
		acme, _ := o.company("anna@x.test")
		token, secret := o.token(acme)
		background(o.t, o.tokens.Run)
		var revoked atomic.Int64 // when it was committed
		var all sync.WaitGroup
		began := make(chan struct{}, 4)
		for range 4 {
			all.Go(func() {
				began <- struct{}{}
				for {
					at := time.Now()
					_, err := o.tokens.Authenticate(o.t.Context(), secret, nowhere)
					end := revoked.Load()
					switch {
					case err == nil && end != 0 && at.UnixNano() > end+int64(time.Second):
						o.t.Error("let in more than a second after the revocation")
						return
					case errors.Is(err, domain.ErrUnauthorized):
						return
					case err != nil:
						o.t.Error(err)
						return
					}
				}
			})
		}
		for range 4 {
			<-began
		}
		_, err := elsewhere.tokens.Revoke(o.t.Context(), elsewhere.caller(acme), token.ID)
		must(o.t, "revoke", err)
		revoked.Store(time.Now().UnixNano())
		all.Wait()
	})
}

// A look that read the token before its revocation and comes back after it must
// not put the token into memory.
func TestLateLookIsNotKept(t *testing.T) {
	t.Parallel()
	inTwoOffices(t, func(o, elsewhere office) {
		ctx := o.t.Context()
		acme, _ := o.company("anna@x.test")
		token, secret := o.token(acme)
		_, other := o.token(acme)
		read, release := make(chan struct{}), make(chan struct{})
		var looked atomic.Bool
		s := &counted{Store: o.store, looked: func() {
			if looked.CompareAndSwap(false, true) {
				close(read)
				<-release
			}
		}}
		tokens := service.NewTokens(s, service.TokenOptions{})
		late := make(chan error)
		go func() {
			_, err := tokens.Authenticate(ctx, secret, nowhere)
			late <- err
		}()
		<-read
		_, err := elsewhere.tokens.Revoke(ctx, elsewhere.caller(acme), token.ID)
		must(o.t, "revoke", err)
		_, err = tokens.Authenticate(ctx, other, nowhere) // brings the new version into memory
		must(o.t, "authenticate", err)
		close(release)
		must(o.t, "the late one, which began before", <-late)
		_, err = tokens.Authenticate(ctx, secret, nowhere)
		wantErr(o.t, "right after", err, domain.ErrUnauthorized)
	})
}

// Even when nothing else has told of the revocation, a look that took long is
// not trusted.
func TestSlowLookIsNotTrusted(t *testing.T) {
	t.Parallel()
	inTwoOffices(t, func(o, elsewhere office) {
		ctx := o.t.Context()
		acme, _ := o.company("anna@x.test")
		token, secret := o.token(acme)
		now := time.Now()
		slow := true
		s := &counted{Store: o.store}
		s.looked = func() {
			if slow {
				slow = false
				_, err := elsewhere.tokens.Revoke(ctx, elsewhere.caller(acme), token.ID)
				must(o.t, "revoke", err)
				now = now.Add(time.Second)
			}
		}
		tokens := service.NewTokens(s, service.TokenOptions{Now: func() time.Time { return now }})
		_, err := tokens.Authenticate(ctx, secret, nowhere)
		must(o.t, "the slow one, which began before", err)
		_, err = tokens.Authenticate(ctx, secret, nowhere)
		wantErr(o.t, "a second later", err, domain.ErrUnauthorized)
	})
}
