package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Four replicas behind HAProxy share the requests. What sweeps find is reported once,
// a revoked token is refused by all of them within a second, and a token gets at most
// four times the rate of one replica. In make torture they are restarted one after the
// other under load, and no request fails.
func TestFourReplicasBehindHAProxy(t *testing.T) {
	t.Parallel()
	database := postgresDatabase(t)
	const replicas, rate, burst = 4, 1, 30
	if os.Getenv(tortureEnv) != "" {
		p := newBalanced(t, database, replicas)
		acme := newCompany(t, database)
		repeatUnderTorture(t, func(t *testing.T) { t.Helper(); p.restartUnderLoad(t, acme) })
		return
	}
	p := newBalanced(t, database, replicas, append([]string{"--rate-limit", fmt.Sprint(rate), "--rate-burst", fmt.Sprint(burst)}, quickRetries...)...)
	acme := newCompany(t, database)
	acme.client = p.client
	inbox := newReceiver(t, nil)
	runJSON[webhook](t, database, "webhook", "add", "--company", formatID(acme.id), "--url", inbox.URL, "--event", "assignment.overdue")
	const people = 12
	for i := range people {
		key := fmt.Sprint("late-", i)
		acme.provision(t, p.url, key)
		late := map[string]any{"employeeExternalId": key, "courseId": acme.courseID, "externalId": key, "deadline": time.Now().Add(-time.Hour)}
		acme.mustSend(t, http.MethodPost, p.url+"/api/v1/assignments", late)
	}
	p.wantShares(t)
	inbox.waitUntil(t, timeout, "an event for each overdue assignment", func(all []arrival) bool { return len(all) >= people })
	accepted, refused, took := p.flood(t, acme.withToken(t), burst*replicas*2)
	if most := float64(replicas) * (burst + rate*took.Seconds() + 1); float64(accepted) > most || refused == 0 {
		t.Errorf("%d requests were accepted and %d refused within %s, want at most %.0f accepted", accepted, refused, took, most)
	}
	fresh := acme.withToken(t)
	fresh.mustSend(t, http.MethodGet, p.url+"/api/v1/token", nil)
	runJSON[struct{ Revoked bool }](t, database, "token", "revoke", "--id", formatID(fresh.tokenID))
	revoked := time.Now()
	for _, r := range p.replicas {
		if late := lastAdmitted(t, fresh, r.url).Sub(revoked); late > time.Second {
			t.Errorf("a request that began %s after the revocation was accepted", late)
		}
	}
	seen := map[string]int{}
	for _, a := range first(inbox.all()) {
		seen[a.subject]++
	}
	for subject, n := range seen {
		if n != 1 {
			t.Errorf("%d events report that %s is overdue, want one", n, subject)
		}
	}
}

// withToken returns the company with another token.
func (c company) withToken(t *testing.T) company {
	t.Helper()
	made := runJSON[struct {
		ID    int64
		Token string
	}](t, c.database, "token", "create", "--company", formatID(c.id), "--name", "another", "--scope", "b2b_read")
	c.tokenID, c.token = made.ID, made.Token
	return c
}

// wantShares checks that every replica has answered requests of the API.
func (p *balanced) wantShares(t *testing.T) {
	t.Helper()
	for i, r := range p.replicas {
		eventually(t, timeout, "requests in the log of "+p.name(i), func() error {
			if !strings.Contains(r.log.String(), `"/api/v1/`) {
				return errors.New("it has none")
			}
			return nil
		})
	}
}

// flood sends n requests as fast as it can, and counts those that were accepted.
func (p *balanced) flood(t *testing.T, c company, n int) (accepted, refused int64, took time.Duration) {
	t.Helper()
	var ok, limited atomic.Int64
	began := time.Now()
	var senders sync.WaitGroup
	const parallel = 8
	for range parallel {
		senders.Go(func() {
			for range n / parallel {
				switch got, err := c.send(t.Context(), http.MethodGet, p.url+"/api/v1/token", nil); {
				case err == nil && got.status == http.StatusOK:
					ok.Add(1)
				case err == nil && got.status == http.StatusTooManyRequests:
					limited.Add(1)
				default:
					t.Errorf("a request of many: %v, status %d", err, got.status)
				}
			}
		})
	}
	senders.Wait()
	return ok.Load(), limited.Load(), time.Since(began)
}

// restartUnderLoad restarts every replica while clients call the API.
func (p *balanced) restartUnderLoad(t *testing.T, acme company) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var calls atomic.Int64
	var workers sync.WaitGroup
	for i := range 8 {
		workers.Go(func() { calls.Add(int64(p.load(ctx, t, acme, i))) })
	}
	for i := range p.replicas {
		p.replicas[i].signal(t, syscall.SIGTERM)
		p.replicas[i].wantExit(t, timeout)
		p.start(t, i)
	}
	cancel()
	workers.Wait()
	t.Logf("%d calls while %d replicas were restarted", calls.Load(), len(p.replicas))
}
