package faults

import (
	"net/http"
	"testing"
	"time"
)

// A revoked token is refused by every server on the database for requests that
// start more than a second after the revocation.
func TestRevokingIsSeenWithinASecond(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		acme := newCompany(t, database)
		servers := []*process{serve(t, database)}
		if database[0] == 'p' {
			servers = append(servers, serve(t, database))
		}
		for _, s := range servers {
			acme.mustSend(t, http.MethodGet, s.url+"/api/v1/token", nil)
		}
		runJSON[struct{ Revoked bool }](t, database, "token", "revoke", "--id", formatID(acme.tokenID))
		revoked := time.Now()
		for _, s := range servers {
			if late := lastAdmitted(t, acme, s.url).Sub(revoked); late > time.Second {
				t.Errorf("a request that began %s after the revocation was accepted", late)
			}
		}
	})
}

// lastAdmitted uses the token until it is refused, and returns the start of the
// last request that was accepted.
func lastAdmitted(t *testing.T, acme company, base string) (last time.Time) {
	t.Helper()
	eventually(t, timeout, "the token is refused", func() error {
		began := time.Now()
		got, err := acme.send(t.Context(), http.MethodGet, base+"/api/v1/courses", nil)
		if err == nil && got.status == http.StatusOK {
			last = began
		}
		return expect(got.status, err, http.StatusUnauthorized)
	})
	return last
}
