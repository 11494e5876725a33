package main

import (
	"net/http"
	"testing"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// The limit of requests holds for each token and replica: with three replicas a token
// may send three times as much, as docs/operations/install.md warns.
func TestRateLimitHoldsPerReplica(t *testing.T) {
	t.Parallel()
	const burst = 3
	database := pgtest.URL(t)
	newCompany(t, database)
	token := mustRun(t, database, "token", "create", "--company", "1", "--name", "x", "--scope", "b2b_read")["token"].(string)
	for i := range 3 {
		s := startServer(t, database, "--rate-limit", "0.001", "--rate-burst", "3", "--no-webhooks")
		accepted := 0
		for s.call(t, http.MethodGet, "/api/v1/courses", token, "") == http.StatusOK {
			accepted++
		}
		if accepted != burst {
			t.Errorf("replica %d accepted %d requests, want %d", i, accepted, burst)
		}
	}
}
