package storetest_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// A form that is submitted twice is carried out once, and the second time leads to where
// the first did.
func TestFormsAreSubmittedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		type answer struct {
			Location string
			First    bool
		}
		begin := func(what, session, nonce string, want answer) {
			t.Helper()
			location, first, err := s.BeginSubmission(t.Context(), []byte(session), nonce)
			wantNoError(t, what, err)
			equal(t, what, answer{location, first}, want)
		}
		end := func(session, nonce, location string) {
			t.Helper()
			wantNoError(t, "end", s.EndSubmission(t.Context(), []byte(session), nonce, location))
		}
		begin("submit", "session", "1", answer{"", true})
		begin("submit while it is running", "session", "1", answer{"", false})
		begin("another form", "session", "2", answer{"", true})
		begin("the form of another session", "other", "1", answer{"", true})
		end("session", "1", "/employees/7")
		begin("submit after it is done", "session", "1", answer{"/employees/7", false})
		end("session", "2", "") // nothing was done
		begin("submit a form that did nothing", "session", "2", answer{"", true})
		begin("the form of another session is still running", "other", "1", answer{"", false})

		change(t, s, `UPDATE form_submissions SET at = $1 WHERE location <> ''`, before(s, 25*time.Hour))
		wantNoError(t, "sweep", s.SweepSignIn(t.Context()))
		begin("submit after a day", "session", "1", answer{"", true})
		begin("submit within a day", "session", "2", answer{"", false})
	})
}
