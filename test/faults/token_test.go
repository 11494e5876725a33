package faults

import (
	"net/http"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// A revoked token is refused by every request that begins a second later, by
// whatever server on the database.
func TestRevokingIsSeenWithinASecond(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		f, caller := newFirm(t, database), newCaller(t)
		servers := []*process{serve(t, database)}
		if pgtest.Available() && database[0] == 'p' {
			servers = append(servers, serve(t, database))
		}
		for _, s := range servers {
			f.must(t, caller, http.MethodGet, s.url+"/api/v1/token", nil)
		}
		ask[struct{ Revoked bool }](t, database, "token", "revoke", "--id", id(f.tokenID))
		revoked := time.Now()
		for _, s := range servers {
			if late := lastAdmitted(t, f, caller, s.url).Sub(revoked); late > time.Second {
				t.Errorf("a request that began %s after the revocation was let in", late)
			}
		}
	})
}

// lastAdmitted uses the token until it is refused, and gives when the last
// request began that was not.
func lastAdmitted(t *testing.T, f firm, caller *http.Client, base string) (last time.Time) {
	t.Helper()
	eventually(t, patience, "the token is refused", func() error {
		began := time.Now()
		got, err := f.call(t.Context(), caller, http.MethodGet, base+"/api/v1/courses", nil)
		if err == nil && got.status == http.StatusOK {
			last = began
		}
		return want(got.status, err, http.StatusUnauthorized)
	})
	return last
}
