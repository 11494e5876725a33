package service_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// onTwoReplicas runs a test on every engine with two processes on one database.
func onTwoReplicas(t *testing.T, fn func(f, elsewhere fixture)) {
	t.Helper()
	for engine, open := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			address := open(t)
			fn(newFixture(t, storetest.Open(t, address)), newFixture(t, storetest.Open(t, address)))
		})
	}
}

func TestChangesElsewhereAreSeen(t *testing.T) {
	t.Parallel()
	onTwoReplicas(t, func(f, elsewhere fixture) {
		ctx := f.t.Context()
		acme, _ := f.company("anna@x.test")
		token, secret := f.token(acme)
		_, platform, err := f.tokens.CreatePlatformToken(ctx, "LMS")
		must(f.t, "create", err)
		background(f.t, f.watcher.Run)
		authenticate := func() error {
			_, err := f.tokens.Authenticate(ctx, secret, nowhere)
			return err
		}
		must(f.t, "authenticate", authenticate())

		_, err = elsewhere.companies.Suspend(ctx, operator, acme.ID)
		must(f.t, "suspend", err)
		within(f.t, time.Second, "suspension", func() bool { return errors.Is(authenticate(), domain.ErrCompanySuspended) })
		_, err = elsewhere.companies.Resume(ctx, operator, acme.ID)
		must(f.t, "resume", err)
		within(f.t, time.Second, "resumption", func() bool { return authenticate() == nil })
		name := "Acme Ltd"
		_, err = elsewhere.companies.UpdateSettings(ctx, elsewhere.caller(acme), domain.CompanySettings{Name: &name})
		must(f.t, "rename", err)
		within(f.t, time.Second, "settings", func() bool {
			got, err := f.tokens.Authenticate(ctx, secret, nowhere)
			return err == nil && got.Company.Name == name
		})
		_, err = elsewhere.tokens.Revoke(ctx, elsewhere.caller(acme), token.ID)
		must(f.t, "revoke", err)
		within(f.t, time.Second, "revocation", func() bool { return errors.Is(authenticate(), domain.ErrUnauthorized) })

		gone, err := f.tokens.AuthenticatePlatform(ctx, platform)
		must(f.t, "authenticate the platform", err)
		_, err = elsewhere.tokens.RevokePlatformToken(ctx, gone.ID)
		must(f.t, "revoke", err)
		within(f.t, time.Second, "revocation of the platform's", func() bool {
			_, err := f.tokens.AuthenticatePlatform(ctx, platform)
			return errors.Is(err, domain.ErrUnauthorized)
		})
	})
}

// Requests that go on while a token is revoked elsewhere: none that begins a
// second after it gets through.
func TestRevokeAgainstAuthenticate(t *testing.T) {
	t.Parallel()
	onTwoReplicas(t, func(f, elsewhere fixture) {
		acme, _ := f.company("anna@x.test")
		token, secret := f.token(acme)
		background(f.t, f.watcher.Run)
		var revoked atomic.Int64 // when it was committed
		var all sync.WaitGroup
		began := make(chan struct{}, 4)
		for range 4 {
			all.Go(func() {
				began <- struct{}{}
				for {
					at := time.Now()
					_, err := f.tokens.Authenticate(f.t.Context(), secret, nowhere)
					end := revoked.Load()
					switch {
					case err == nil && end != 0 && at.UnixNano() > end+int64(time.Second):
						f.t.Error("let in more than a second after the revocation")
						return
					case errors.Is(err, domain.ErrUnauthorized):
						return
					case err != nil:
						f.t.Error(err)
						return
					}
				}
			})
		}
		for range 4 {
			<-began
		}
		_, err := elsewhere.tokens.Revoke(f.t.Context(), elsewhere.caller(acme), token.ID)
		must(f.t, "revoke", err)
		revoked.Store(time.Now().UnixNano())
		all.Wait()
	})
}

// A look that read the token before its revocation and comes back after it must
// not put the token into memory.
func TestLateLookIsNotKept(t *testing.T) {
	t.Parallel()
	onTwoReplicas(t, func(f, elsewhere fixture) {
		ctx := f.t.Context()
		acme, _ := f.company("anna@x.test")
		token, secret := f.token(acme)
		_, other := f.token(acme)
		read, release := make(chan struct{}), make(chan struct{})
		var looked atomic.Bool
		s := &counted{Store: f.store, looked: func() {
			if looked.CompareAndSwap(false, true) {
				close(read)
				<-release
			}
		}}
		tokens := newTokens(s, nil)
		late := make(chan error)
		go func() {
			_, err := tokens.Authenticate(ctx, secret, nowhere)
			late <- err
		}()
		<-read
		_, err := elsewhere.tokens.Revoke(ctx, elsewhere.caller(acme), token.ID)
		must(f.t, "revoke", err)
		_, err = tokens.Authenticate(ctx, other, nowhere) // brings the new version into memory
		must(f.t, "authenticate", err)
		close(release)
		must(f.t, "the late one, which began before", <-late)
		_, err = tokens.Authenticate(ctx, secret, nowhere)
		wantErr(f.t, "right after", err, domain.ErrUnauthorized)
	})
}

// Even when nothing else has reported the revocation, a look that took long is
// not trusted.
func TestSlowLookIsNotTrusted(t *testing.T) {
	t.Parallel()
	onTwoReplicas(t, func(f, elsewhere fixture) {
		ctx := f.t.Context()
		acme, _ := f.company("anna@x.test")
		token, secret := f.token(acme)
		now := time.Now()
		slow := true
		s := &counted{Store: f.store}
		s.looked = func() {
			if slow {
				slow = false
				_, err := elsewhere.tokens.Revoke(ctx, elsewhere.caller(acme), token.ID)
				must(f.t, "revoke", err)
				now = now.Add(time.Second)
			}
		}
		tokens := newTokens(s, func() time.Time { return now })
		_, err := tokens.Authenticate(ctx, secret, nowhere)
		must(f.t, "the slow one, which began before", err)
		_, err = tokens.Authenticate(ctx, secret, nowhere)
		wantErr(f.t, "a second later", err, domain.ErrUnauthorized)
	})
}
