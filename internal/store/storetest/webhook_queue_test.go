package storetest_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// hook is an endpoint under test with short ways to fill its queue and work it off.
type hook struct {
	t *testing.T
	s *store.Store
	c domain.Caller
	e domain.Endpoint
}

func newHook(t *testing.T, s *store.Store) hook {
	t.Helper()
	c := storetest.Company(t, s, t.Name())
	return hook{t, s, c, addHook(t, s, c)}
}

// hire makes n events, one transaction each.
func (h hook) hire(prefix string, n int) {
	h.t.Helper()
	for i := range n {
		id := fmt.Sprintf("%s%d", prefix, i)
		_, _, err := h.s.Provision(h.t.Context(), h.c, domain.Provision{ExternalID: id, Email: id + "@x.test", Name: "Anna " + id})
		if err != nil {
			h.t.Fatalf("provision: %v", err)
		}
	}
}

func (h hook) ask(limit int, skip ...int64) []domain.FetchRequest {
	return []domain.FetchRequest{{Key: h.e.Key(), Limit: limit, Skip: skip}}
}

// claim takes the lease and what is due.
func (h hook) claim(owner string, limit int, skip ...int64) domain.EndpointLease {
	h.t.Helper()
	leases, err := h.s.ClaimEndpoints(h.t.Context(), owner, time.Minute, h.ask(limit, skip...))
	if err != nil || len(leases) != 1 {
		h.t.Fatalf("claim: %d leases, %v", len(leases), err)
	}
	return leases[0]
}

// result is the outcome of an attempt at d that leads to state.
func (h hook) result(d domain.DueDelivery, state domain.DeliveryState) domain.DeliveryResult {
	r := domain.DeliveryResult{
		Endpoint: h.e.Key(), Delivery: d, State: state, DueAt: h.s.Now().Add(time.Hour),
		Attempt: domain.Attempt{
			Number: d.Attempts + 1, URL: h.e.URL, StartedAt: h.s.Now(), Duration: 1500 * time.Microsecond, StatusCode: http.StatusOK,
			RequestHeaders: []domain.Header{{Name: "X-A", Value: "1"}}, ResponseHeaders: []domain.Header{{Name: "X-B", Value: "Anna"}},
			ResponseBody: []byte("hello Anna"), RequestedBy: d.RequestedBy,
		},
	}
	if state != domain.DeliveryDelivered {
		r.Attempt.StatusCode, r.Attempt.ErrorKind, r.Attempt.Error = http.StatusInternalServerError, "status", "The receiver answered 500."
	}
	return r
}

func (h hook) record(results ...domain.DeliveryResult) domain.Recorded {
	h.t.Helper()
	recorded, err := h.s.RecordResults(h.t.Context(), results)
	if err != nil {
		h.t.Fatalf("record: %v", err)
	}
	return recorded
}

func (h hook) delivery(id string) domain.DeliveryDetail {
	h.t.Helper()
	d, err := h.s.Delivery(h.t.Context(), h.c.Company.ID, id)
	if err != nil {
		h.t.Fatalf("delivery: %v", err)
	}
	return d
}

func (h hook) endpoint() domain.Endpoint {
	h.t.Helper()
	e, err := h.s.Endpoint(h.t.Context(), h.c.Company.ID, h.e.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return e
}

func externals(h hook, due []domain.DueDelivery) []string {
	var out []string
	for _, d := range due {
		out = append(out, h.delivery(d.ID).ExternalID)
	}
	return out
}

func TestClaimGivesDueDeliveriesInOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		h.hire("e", 5)
		lease := h.claim("me", 3)
		if lease.Owner != "me" || lease.Remaining != time.Minute {
			t.Errorf("%q holds the lease for %s", lease.Owner, lease.Remaining)
		}
		if diff := cmp.Diff([]string{"e0", "e1", "e2"}, externals(h, lease.Due)); diff != "" {
			t.Errorf("due (- want):\n%s", diff)
		}
		d := lease.Due[0]
		if d.Kind != domain.EventEmployeeJoined || len(d.Body) == 0 || d.Attempts != 0 || d.Erased || d.CreatedAt.IsZero() {
			t.Errorf("due %+v", d)
		}
		leases, err := s.DueDeliveries(t.Context(), h.ask(10, d.Sequence, lease.Due[2].Sequence))
		if err != nil || len(leases) != 1 {
			t.Fatalf("%d leases, %v", len(leases), err)
		}
		if diff := cmp.Diff([]string{"e1", "e3", "e4"}, externals(h, leases[0].Due)); diff != "" {
			t.Errorf("with two skipped (- want):\n%s", diff)
		}
	})
}

// Transactions that overlap draw sequences and due times in different orders. Of those that
// are due longest, twice as many as asked for, the first by sequence are returned.
func TestDueDeliveriesAreInTheOrderOfTheSequence(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		h.hire("e", 6)
		for i, d := range h.claim("me", 10).Due {
			change(t, s, `UPDATE deliveries SET due_at = $1 WHERE event_id = $2`, d.DueAt.Add(-time.Duration(i)*time.Second), d.Sequence)
		}
		leases, err := s.DueDeliveries(t.Context(), h.ask(2))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"e2", "e3"}, externals(h, leases[0].Due)); diff != "" {
			t.Errorf("due (- want):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"e0", "e1", "e2"}, externals(h, h.claim("me", 3).Due)); diff != "" {
			t.Errorf("claimed (- want):\n%s", diff)
		}
	})
}

func TestLeaseOfAnEndpoint(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		h.hire("e", 1)
		h.claim("a", 10)
		theirs := h.claim("b", 10)
		if theirs.Owner != "a" || theirs.Remaining <= 0 || theirs.Remaining > time.Minute || len(theirs.Due) != 0 {
			t.Errorf("b sees the owner %q for %s and %d deliveries", theirs.Owner, theirs.Remaining, len(theirs.Due))
		}
		change(t, s, `UPDATE endpoints SET lease_until = $1`, s.Now().Add(time.Second))
		h.claim("a", 0) // prolongs
		if again := h.claim("b", 10); again.Owner != "a" || again.Remaining <= time.Second {
			t.Errorf("after a prolonged its lease, b sees the owner %q for %s", again.Owner, again.Remaining)
		}
		owners, err := s.LeaseOwners(t.Context(), h.c.Company.ID, 0)
		if err != nil || !cmp.Equal(owners, []string{"a"}) {
			t.Errorf("the owners of leases are %v, %v", owners, err)
		}
		if err := s.ReleaseEndpoints(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if l := h.claim("b", 10); l.Owner != "b" || len(l.Due) != 1 {
			t.Errorf("after the release b gets %q, %d deliveries", l.Owner, len(l.Due))
		}
		if err := s.ReclaimEndpoints(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := "b" // other replicas may live
		if s.Engine().Name() == "sqlite" {
			want = "c"
		}
		if l := h.claim("c", 10); l.Owner != want {
			t.Errorf("after a restart c sees the owner %q, want %q", l.Owner, want)
		}
	})
}

// Until its attempts have ended, an owner whose lease was taken over is asked too, however
// often that happens.
func TestFormerOwnersOfLeasesAreRemembered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		ended := s.Now().Add(-time.Second)
		for _, owner := range []string{"a", "b", "c", "a", "c", "d"} {
			if l := h.claim(owner, 0); l.Owner != owner {
				t.Fatalf("%q claimed, but %q has the lease", owner, l.Owner)
			}
			change(t, s, `UPDATE endpoints SET lease_until = $1`, ended)
		}
		wantOwners := func(within time.Duration, want ...string) {
			t.Helper()
			owners, err := s.LeaseOwners(t.Context(), h.c.Company.ID, within)
			slices.Sort(owners)
			if err != nil || !slices.Equal(owners, want) {
				t.Errorf("the owners within %s are %v, %v; want %v", within, owners, err, want)
			}
		}
		if err := s.ReleaseEndpoints(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		wantOwners(time.Minute, "a", "b", "c")
		wantOwners(0)
		h.claim("e", 0)
		h.claim("e", 0) // prolongs
		wantOwners(time.Minute, "a", "b", "c", "e")
	})
}

func TestResultsAreRecorded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		h.hire("e", 3)
		due := h.claim("me", 10).Due
		sent, retry, gaveUp := h.result(due[0], domain.DeliveryDelivered), h.result(due[1], domain.DeliveryPending), h.result(due[2], domain.DeliveryFailed)
		recorded := h.record(sent, retry, gaveUp)
		if len(recorded.Deliveries) != 3 || len(recorded.Disabled) != 0 {
			t.Errorf("recorded %+v", recorded)
		}
		d := h.delivery(due[0].ID)
		if d.State != domain.DeliveryDelivered || d.Attempts != 1 || d.FinishedAt == nil || d.StatusCode != http.StatusOK || d.ErrorKind != "" {
			t.Errorf("delivered: %+v", d.Delivery)
		}
		want := sent.Attempt
		want.CompanyID, want.DeliveryID = h.c.Company.ID, due[0].ID
		if diff := cmp.Diff([]domain.Attempt{want}, d.Tries); diff != "" {
			t.Errorf("attempts (- sent, + kept):\n%s", diff)
		}
		d = h.delivery(due[1].ID)
		if !d.Retrying() || d.FinishedAt != nil || !d.DueAt.Equal(retry.DueAt) || d.ErrorKind != "status" {
			t.Errorf("retrying: %+v", d.Delivery)
		}
		if d = h.delivery(due[2].ID); d.State != domain.DeliveryFailed || d.FinishedAt == nil {
			t.Errorf("failed: %+v", d.Delivery)
		}
		lease := h.claim("me", 10)
		if len(lease.Due) != 0 || lease.NextDue == nil || !lease.NextDue.Equal(retry.DueAt) {
			t.Errorf("now %d are due, and next at %v", len(lease.Due), lease.NextDue)
		}
		if again := h.record(sent); len(again.Deliveries) != 0 || len(h.delivery(due[0].ID).Tries) != 1 {
			t.Errorf("recorded twice: %+v", again)
		}
	})
}

func TestAttemptBesideARequestForAnotherRound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		h.hire("e", 1)
		first := h.claim("me", 1).Due[0]
		h.record(h.result(first, domain.DeliveryPending))
		first.Attempts = 1 // its second attempt is on its way as someone asks for another round
		if err := s.Redeliver(t.Context(), h.c, first.ID); err != nil {
			t.Fatal(err)
		}
		recorded := h.record(h.result(first, domain.DeliveryFailed))
		if len(recorded.Deliveries) != 1 || recorded.Deliveries[0].State != domain.DeliveryPending || recorded.Deliveries[0].DueAt.After(s.Now()) {
			t.Errorf("recorded %+v, want it to be due still", recorded.Deliveries)
		}
		again := h.claim("me", 1).Due
		if len(again) != 1 || again[0].Attempts != 2 || again[0].RoundStart != 2 || again[0].RequestedBy != "test" {
			t.Errorf("due %+v, want a new round after two attempts", again)
		}
	})
}

// That a secret can't be read is no fault of the receiver.
func TestEndpointIsNotJudgedByInternalFailures(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		h.hire("e", 3)
		due := h.claim("me", 10).Due
		internal := func(d domain.DueDelivery) domain.DeliveryResult {
			r := h.result(d, domain.DeliveryPending)
			r.Attempt.ErrorKind = domain.ErrorInternal
			return r
		}
		h.record(internal(due[0]))
		if since := h.endpoint().FailingSince; since != nil {
			t.Errorf("failing since %s, after an internal failure", since)
		}
		h.record(h.result(due[1], domain.DeliveryPending))
		change(t, s, `UPDATE endpoints SET failing_since = $1 WHERE id = $2`, s.Now().Add(-domain.FailingLimit), h.e.ID)
		h.record(internal(due[2]))
		if e := h.endpoint(); !e.Enabled() {
			t.Errorf("an internal failure disabled the endpoint: %+v", e)
		}
	})
}

func TestEndpointsAreJudged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		h.hire("e", 6)
		due := h.claim("me", 10).Due
		h.record(h.result(due[0], domain.DeliveryPending))
		if h.endpoint().FailingSince == nil {
			t.Error("a failure was not noted")
		}
		h.record(h.result(due[1], domain.DeliveryDelivered), h.result(due[2], domain.DeliveryPending))
		if since := h.endpoint().FailingSince; since != nil {
			t.Errorf("failing since %s after a success", since)
		}
		h.record(h.result(due[3], domain.DeliveryPending))
		change(t, s, `UPDATE endpoints SET failing_since = $1 WHERE id = $2`, s.Now().Add(-domain.FailingLimit), h.e.ID)
		recorded := h.record(h.result(due[4], domain.DeliveryPending))
		if e := h.endpoint(); e.Enabled() || e.DisabledReason != domain.DisabledByFailing || len(recorded.Disabled) != 1 {
			t.Errorf("after five days of failures: %+v, %v", e, recorded.Disabled)
		}
		if _, err := s.EnableEndpoint(t.Context(), h.c, h.e.ID, ""); err != nil {
			t.Fatal(err)
		}
		gone := h.result(due[5], domain.DeliveryPending)
		gone.Gone = true
		h.record(gone)
		if e := h.endpoint(); e.Enabled() || e.DisabledReason != domain.DisabledByGone {
			t.Errorf("after a 410: %+v", e)
		}
	})
}

func TestDisabledEndpointHoldsItsDeliveries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		h.hire("e", 4)
		due := h.claim("me", 10).Due
		if n, err := s.HoldDeliveries(t.Context(), h.e.Key(), 10); n != 0 || err != nil {
			t.Errorf("parked %d of an enabled endpoint, %v", n, err)
		}
		if _, err := s.DisableEndpoint(t.Context(), h.c, h.e.ID); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int{3, 1, 0} {
			if n, err := s.HoldDeliveries(t.Context(), h.e.Key(), 3); n != want || err != nil {
				t.Errorf("parked %d, %v; want %d", n, err, want)
			}
		}
		h.record(h.result(due[0], domain.DeliveryDelivered), h.result(due[1], domain.DeliveryPending))
		for i, want := range []domain.DeliveryState{domain.DeliveryDelivered, domain.DeliveryHeld, domain.DeliveryHeld} {
			if got := h.delivery(due[i].ID).State; got != want {
				t.Errorf("delivery %d is %s, want %s", i, got, want)
			}
		}
		h.hire("later", 1)
		wantCode(t, "redeliver to a disabled endpoint", s.Redeliver(t.Context(), h.c, due[2].ID), domain.CodeInvalid)
		if err := s.RemoveEndpoint(t.Context(), h.c, h.e.ID); err != nil {
			t.Fatal(err)
		}
		change(t, s, `UPDATE deliveries SET state = 'pending' WHERE state = 'held'`)
		if n, err := s.HoldDeliveries(t.Context(), h.e.Key(), 10); n != 4 || err != nil {
			t.Errorf("parked %d of a removed endpoint, %v", n, err)
		}
		if d := h.delivery(due[2].ID); d.State != domain.DeliveryFailed || d.ErrorKind != domain.ErrorRemoved || d.FinishedAt == nil {
			t.Errorf("of a removed endpoint: %+v", d.Delivery)
		}
	})
}

func TestErasureBesideAnAttempt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		h.hire("e", 2)
		due := h.claim("me", 10).Due
		if err := s.DeleteEmployee(t.Context(), h.c, "e0"); err != nil {
			t.Fatal(err)
		}
		h.record(h.result(due[0], domain.DeliveryDelivered))
		d := h.delivery(due[0].ID)
		if !d.Erased || len(d.Body) != 0 || d.ExternalID != "" || len(d.Tries) != 1 ||
			len(d.Tries[0].ResponseBody) != 0 || len(d.Tries[0].ResponseHeaders) != 0 || len(d.Tries[0].RequestHeaders) == 0 {
			t.Errorf("kept of an erased person: %+v", d)
		}
		wantCode(t, "redeliver what was erased", s.Redeliver(t.Context(), h.c, due[0].ID), domain.CodeInvalid)

		change(t, s, `UPDATE deliveries SET state = 'pending' WHERE company_id = $1`, h.c.Company.ID)
		var unsent []domain.DueDelivery
		for _, item := range h.claim("me", 10).Due {
			if item.Erased {
				unsent = append(unsent, item)
			}
		}
		if len(unsent) != 1 {
			t.Fatalf("%d deliveries are marked as erased, want 1", len(unsent))
		}
		h.record(domain.DeliveryResult{Endpoint: h.e.Key(), Delivery: unsent[0], State: domain.DeliveryFailed, DueAt: s.Now()})
		if d := h.delivery(unsent[0].ID); d.State != domain.DeliveryFailed || d.ErrorKind != domain.ErrorErased || len(d.Tries) != 1 {
			t.Errorf("not sent: %+v", d)
		}
	})
}

func TestBacklog(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newHook(t, s)
		idle := addHook(t, s, storetest.Company(t, s, "Idle"))
		if _, ok, err := s.OldestUnattended(t.Context()); ok || err != nil {
			t.Errorf("something is unattended in an empty queue: %v", err)
		}
		before := s.Now()
		h.hire("e", 3)
		backlog, err := s.DeliveryBacklog(t.Context(), "me", time.Second)
		if err != nil || backlog.Depth != 0 || len(backlog.Endpoints) != 1 || backlog.Endpoints[0].Key == idle.Key() {
			t.Errorf("backlog %+v, %v", backlog, err)
		}
		if at, ok, err := s.OldestUnattended(t.Context()); !ok || err != nil || at.Before(before) {
			t.Errorf("oldest unattended %s, %v, %v", at, ok, err)
		}
		lease := h.claim("me", 10)
		if _, ok, err := s.OldestUnattended(t.Context()); ok || err != nil {
			t.Errorf("unattended beside a live lease: %v", err)
		}
		for owner, want := range map[string]int64{"me": 3, "another": 0} {
			if got, err := s.DeliveryBacklog(t.Context(), owner, time.Second); err != nil || got.Depth != want || len(got.Endpoints) != 1 {
				t.Errorf("backlog of %s: %+v, %v, want %d", owner, got, err, want)
			}
		}
		for _, d := range lease.Due {
			h.record(h.result(d, domain.DeliveryPending))
		}
		if backlog, err = s.DeliveryBacklog(t.Context(), "me", time.Minute); err != nil || backlog.Depth != 0 || len(backlog.Endpoints) != 0 {
			t.Errorf("before the retries are due: %+v, %v", backlog, err)
		}
		backlog, err = s.DeliveryBacklog(t.Context(), "me", 2*time.Hour)
		if err != nil || len(backlog.Endpoints) != 1 {
			t.Errorf("with the retries in sight: %+v, %v", backlog, err)
		}
	})
}
