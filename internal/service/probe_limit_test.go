package service_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// A company that sends many test events at once to a receiver that does not answer
// has four of them under way; the rest are refused at once, and another company is not
// affected.
func TestTestEventsOfACompanyAreLimited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		arrived, answer := make(chan struct{}, 100), make(chan struct{})
		slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			arrived <- struct{}{}
			<-answer
		}))
		defer slow.Close()
		end := sync.OnceFunc(func() { close(answer) })
		defer end()
		h := newWebhooksFixture(t, s, anywhere)
		e, _ := h.add(slow.URL)
		errs := make(chan error, 30)
		for range 30 {
			go func() {
				_, err := h.Test(t.Context(), h.c, e.ID, "")
				errs <- err
			}()
		}
		for range 26 {
			wantCode(t, "a test event too many", <-errs, domain.CodeRateLimited)
		}
		for range 4 {
			<-arrived
		}
		wantCode(t, "a check of an address", h.CheckURL(t.Context(), h.c, slow.URL), domain.CodeRateLimited)
		other := storetest.Company(t, s, "other")
		if err := h.CheckURL(t.Context(), other, slow.URL); err != nil {
			t.Errorf("a check by another company: %v", err)
		}
		end()
		for range 4 {
			if err := <-errs; err != nil {
				t.Errorf("a test event within the limit: %v", err)
			}
		}
	})
}

// Saving a webhook asks the resolver about its address as the form's check does, so it
// counts as one: a script that saves addresses of an internal network is stopped.
func TestChecksOfSavedAddressesAreLimited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newWebhooksFixture(t, s, anywhere)
		const address = "http://127.0.0.1:1/hook"
		e, _ := h.add(address)
		for i := range 119 {
			if err := h.CheckURL(t.Context(), h.c, address); err != nil {
				t.Fatalf("check %d: %v", i, err)
			}
		}
		in := domain.EndpointInput{URL: address, Events: []domain.EventKind{domain.EventEmployeeJoined}}
		_, _, err := h.Add(t.Context(), h.c, in)
		wantCode(t, "a new webhook", err, domain.CodeRateLimited)
		_, err = h.Update(t.Context(), h.c, e.ID, in)
		wantCode(t, "a changed webhook", err, domain.CodeRateLimited)
		_, err = h.Test(t.Context(), h.c, e.ID, "")
		wantCode(t, "a test event", err, domain.CodeRateLimited)
	})
}
