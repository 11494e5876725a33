package storetest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// addEndpoint makes an endpoint for new employees, which are the cheapest events.
func addEndpoint(tb testing.TB, s *store.Store, c domain.Caller) domain.Endpoint {
	tb.Helper()
	e, err := s.AddEndpoint(tb.Context(), c, domain.EndpointInput{
		URL: "https://hooks.example.com/in", Description: "HR", Events: []domain.EventKind{domain.EventEmployeeJoined},
	}, domain.SealedSecret("sealed"))
	if err != nil {
		tb.Fatalf("add an endpoint: %v", err)
	}
	return e
}

func TestEndpointIsKept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c, other := storetest.Company(t, s, "Ours"), storetest.Company(t, s, "Theirs")
		made := addEndpoint(t, s, c)
		addEndpoint(t, s, other)
		if made.CreatedBy != "test" || !made.Enabled() || made.CreatedAt.IsZero() || string(made.Secret) != "sealed" {
			t.Errorf("made %+v", made)
		}
		got, err := s.Endpoint(t.Context(), c.Company.ID, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(made, got); diff != "" {
			t.Errorf("read back (- made, + read):\n%s", diff)
		}
		list, err := s.Endpoints(t.Context(), c.Company.ID)
		if err != nil || len(list) != 1 {
			t.Errorf("listed %d endpoints (%v), want the company's one", len(list), err)
		}
		_, err = s.Endpoint(t.Context(), other.Company.ID, made.ID)
		wantCode(t, "that of another company", err, domain.CodeNotFound)
	})
}

func TestEndpointChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Changes")
		e := addEndpoint(t, s, c)
		var woken []domain.EndpointKey
		s.OnDeliveries(func(keys []domain.EndpointKey) { woken = append(woken, keys...) })

		e, err := s.UpdateEndpoint(t.Context(), c, e.ID, domain.EndpointInput{URL: "https://new.example.com", Events: domain.EventKinds})
		if err != nil || e.URL != "https://new.example.com" || e.Description != "" || len(e.Events) != len(domain.EventKinds) {
			t.Errorf("updated %+v, %v", e, err)
		}
		e, err = s.RotateSecret(t.Context(), c, e.ID, domain.SecretRotation{Secret: domain.SealedSecret("second")})
		if err != nil || string(e.Secret) != "second" || string(e.Previous) != "sealed" ||
			!e.Rotating(s.Now()) || e.Rotating(s.Now().Add(domain.SecretOverlap+time.Second)) {
			t.Errorf("rotated %+v, %v", e, err)
		}
		e, err = s.DisableEndpoint(t.Context(), c, e.ID)
		if err != nil || e.Enabled() || e.DisabledReason != domain.DisabledByPerson {
			t.Errorf("disabled %+v, %v", e, err)
		}
		since := *e.DisabledAt
		if e, err = s.DisableEndpoint(t.Context(), c, e.ID); err != nil || !e.DisabledAt.Equal(since) {
			t.Errorf("disabled again %+v, %v", e, err)
		}
		e, err = s.EnableEndpoint(t.Context(), c, e.ID, "")
		if err != nil || !e.Enabled() || e.DisabledReason != "" {
			t.Errorf("enabled %+v, %v", e, err)
		}
		if err := s.RemoveEndpoint(t.Context(), c, e.ID); err != nil {
			t.Error(err)
		}
		wantCode(t, "remove twice", s.RemoveEndpoint(t.Context(), c, e.ID), domain.CodeNotFound)
		_, err = s.Endpoint(t.Context(), c.Company.ID, e.ID)
		wantCode(t, "a removed endpoint", err, domain.CodeNotFound)
		if len(woken) != 6 {
			t.Errorf("%d changes were told to whoever sends, want 6", len(woken))
		}
	})
}

func TestEndpointsAreLimited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Many")
		first := addEndpoint(t, s, c)
		for range domain.MaxEndpoints - 1 {
			addEndpoint(t, s, c)
		}
		in := domain.EndpointInput{URL: "https://x.example.com", Events: domain.EventKinds}
		_, err := s.AddEndpoint(t.Context(), c, in, nil)
		wantCode(t, "one too many", err, domain.CodeInvalid)
		if err := s.RemoveEndpoint(t.Context(), c, first.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.AddEndpoint(t.Context(), c, in, domain.SealedSecret("x")); err != nil {
			t.Errorf("after one was removed: %v", err)
		}
	})
}

// However many requests race, a company gets no more endpoints than the limit.
func TestEndpointsAreLimitedUnderRaces(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, t.Name())
		for range domain.MaxEndpoints - 3 {
			addEndpoint(t, s, c)
		}
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				in := domain.EndpointInput{URL: "https://hooks.test/", Events: []domain.EventKind{domain.EventEmployeeJoined}}
				_, _ = s.AddEndpoint(t.Context(), c, in, domain.SealedSecret("sealed"))
			})
		}
		wg.Wait()
		list, err := s.Endpoints(t.Context(), c.Company.ID)
		if err != nil || len(list) != domain.MaxEndpoints {
			t.Errorf("the company has %d endpoints, %v; want %d", len(list), err, domain.MaxEndpoints)
		}
	})
}

func TestLeaseHasOneHolder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		take := func(owner string, hold time.Duration, want bool) {
			t.Helper()
			got, err := s.TakeLease(t.Context(), "sweep", owner, hold)
			if err != nil || got != want {
				t.Errorf("%s takes the lease: %v, %v; want %v", owner, got, err, want)
			}
		}
		take("a", time.Hour, true)
		take("a", time.Hour, true)
		take("b", time.Hour, false)
		if err := s.DropLease(t.Context(), "sweep", "b"); err != nil {
			t.Fatal(err)
		}
		take("b", time.Hour, false)
		if err := s.DropLease(t.Context(), "sweep", "a"); err != nil {
			t.Fatal(err)
		}
		take("b", -time.Second, true) // has run out by the time it is taken
		take("a", time.Hour, true)
	})
}

func TestSettingIsKeptOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		if got, err := s.Setting(ctx, "k"); got != nil || err != nil {
			t.Errorf("nothing is kept, got %q, %v", got, err)
		}
		for _, value := range []string{"one", "two"} {
			if got, err := s.InitSetting(ctx, "k", []byte(value)); string(got) != "one" || err != nil {
				t.Errorf("kept %q, %v; want the first value", got, err)
			}
		}
		if ok, err := s.CompareAndSwapSetting(ctx, "k", []byte("two"), []byte("three")); ok || err != nil {
			t.Errorf("swapped what was not there: %v, %v", ok, err)
		}
		if ok, err := s.CompareAndSwapSetting(ctx, "k", []byte("one"), []byte("three")); !ok || err != nil {
			t.Errorf("swap: %v, %v", ok, err)
		}
		if got, err := s.Setting(ctx, "k"); string(got) != "three" || err != nil {
			t.Errorf("after the swap %q, %v", got, err)
		}
	})
}
