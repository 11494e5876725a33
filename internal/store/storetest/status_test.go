package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// deliveriesIn changes the state of the newest n pending deliveries of an endpoint.
func (h endpointFixture) deliveriesIn(state domain.DeliveryState, n int, due time.Time) {
	h.t.Helper()
	change(h.t, h.s, `UPDATE deliveries SET state = $1, due_at = $2, finished_at = $2 WHERE company_id = $3 AND id IN (SELECT d.id FROM deliveries d
		WHERE d.company_id = $3 AND d.endpoint_id = $4 AND d.state = 'pending' ORDER BY d.event_id DESC LIMIT $5)`, string(state), due, h.c.Company.ID, h.e.ID, n)
}

// installation makes three companies: one whose endpoint is behind, one whose endpoint is
// disabled and holds deliveries, and a suspended one whose endpoint was removed.
func installation(t *testing.T, s *store.Store) (behind, disabled, removed endpointFixture) {
	t.Helper()
	behind, disabled, removed = newEndpointFixture(t, s), newEndpointFixture(t, s), newEndpointFixture(t, s)
	behind.hire("a", 6)
	behind.deliveriesIn(domain.DeliveryPending, 6, before(s, -time.Hour))
	behind.deliveriesIn(domain.DeliveryPending, 5, before(s, 2*time.Hour))
	behind.deliveriesIn(domain.DeliveryDelivered, 1, before(s, time.Minute))
	behind.deliveriesIn(domain.DeliveryFailed, 1, before(s, time.Minute))
	behind.deliveriesIn(domain.DeliveryFailed, 1, before(s, 3*time.Hour))
	disabled.hire("b", 3)
	disabled.deliveriesIn(domain.DeliveryHeld, 2, s.Now())
	disabled.deliveriesIn(domain.DeliveryFailed, 1, before(s, 3*time.Hour))
	_, err := s.DisableEndpoint(t.Context(), disabled.c, disabled.e.ID)
	wantNoError(t, "disable", err)
	removed.hire("c", 1)
	removed.deliveriesIn(domain.DeliveryFailed, 1, before(s, 3*time.Hour))
	wantNoError(t, "remove", s.RemoveEndpoint(t.Context(), removed.c, removed.e.ID))
	_, err = s.SuspendCompany(t.Context(), operator, removed.c.Company.ID, true)
	wantNoError(t, "suspend", err)
	return behind, disabled, removed
}

func TestInstallationIsCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		equal(t, "an empty installation", installationCounts(t, s), domain.InstallationCounts{})
		behind, disabled, _ := installation(t, s)
		behind.claim("server", 10)
		got := installationCounts(t, s)
		if got.OldestDue == nil || s.Now().Sub(*got.OldestDue) < 2*time.Hour {
			t.Errorf("the oldest delivery that is due is from %v, want two hours ago", got.OldestDue)
		}
		got.OldestDue = nil
		equal(t, "the installation", got, domain.InstallationCounts{
			Companies: 3, Suspended: 1, Endpoints: 2, DisabledEndpoints: 1, Pending: 3, Due: 2, Held: 2, FailedHour: 1, SendingServers: 1,
		})
		endpoints, err := s.EndpointCounts(t.Context())
		wantNoError(t, "count the endpoints", err)
		equal(t, "endpoints", endpoints, domain.EndpointCounts{Enabled: 1, Disabled: 1, Holding: 1})
		for h, want := range map[*endpointFixture]int64{&behind: 3, &disabled: 2} {
			waiting, err := s.WaitingDeliveries(t.Context(), h.c.Company.ID, h.e.ID)
			wantNoError(t, "count what waits", err)
			equal(t, "waiting deliveries", waiting, want)
		}
		waiting, err := s.WaitingDeliveries(t.Context(), disabled.c.Company.ID, behind.e.ID)
		wantNoError(t, "count what waits", err)
		equal(t, "those of another company's endpoint", waiting, int64(0))
		checkStuckEndpoints(t, s, behind, disabled)
	})
}

func installationCounts(t *testing.T, s *store.Store) domain.InstallationCounts {
	t.Helper()
	out, err := s.InstallationCounts(t.Context())
	wantNoError(t, "count", err)
	return out
}

func checkStuckEndpoints(t *testing.T, s *store.Store, behind, disabled endpointFixture) {
	t.Helper()
	stuck := func(olderThan time.Duration, limit int) (out []string) {
		t.Helper()
		list, err := s.StuckEndpoints(t.Context(), before(s, olderThan), limit)
		wantNoError(t, "list", err)
		for _, e := range list {
			isOld := e.OldestDue != nil && s.Now().Sub(*e.OldestDue) > time.Hour
			out = append(out, fmt.Sprint(e.CompanyID, "/", e.EndpointID, " ", e.CompanyName == t.Name(), " ", e.Disabled, " due ", e.Due, " held ", e.Held, " old ", isOld))
		}
		return out
	}
	first := fmt.Sprint(behind.c.Company.ID, "/", behind.e.ID, " true false due 2 held 0 old true")
	second := fmt.Sprint(disabled.c.Company.ID, "/", disabled.e.ID, " true true due 0 held 2 old false")
	equal(t, "endpoints, the longest waiting first", stuck(time.Hour, 10), []string{first, second})
	equal(t, "the first of them", stuck(time.Hour, 1), []string{first})
	equal(t, "those with older deliveries", stuck(3*time.Hour, 10), []string{second})
}

func TestUsageOfCompanies(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		quiet, busy, ctx := newTestCompany(t, s), newEndpointFixture(t, s), t.Context()
		f := testCompany{t, s, busy.c}
		busy.hire("a", 3)
		f.assign("A1", "a0", f.addAssessment())
		quiet.provisionAll("E1", "E2")
		quiet.assign("A1", "E1", quiet.addAssessment())
		quiet.assign("A2", "E2", quiet.addAssessment())
		change(t, s, `UPDATE events SET occurred_at = $1 WHERE company_id = $2`, before(s, 3*time.Hour), quiet.c.Company.ID)
		slow := busy.result(busy.claim("server", 1).Due[0], domain.DeliveryDelivered)
		slow.Attempt.Duration = 1700 * time.Millisecond
		busy.record(slow)
		token := f.createToken("used")
		wantNoError(t, "use", s.NoteTokenUses(ctx, []domain.TokenUse{{CompanyID: busy.c.Company.ID, TokenID: token.ID, At: s.Now()}}))
		for _, at := range []time.Duration{0, 3 * time.Hour} {
			change(t, s, `INSERT INTO api_request_hours (company_id, hour, token_id, succeeded, failed) VALUES ($1, $2, 1, 5, 2)`, busy.c.Company.ID, before(s, at).Truncate(time.Hour))
			change(t, s, `INSERT INTO api_requests (company_id, at, token_id, method, route, status, duration_us, request_id, code, message)
				VALUES ($1, $2, 1, 'GET', '/', 200, $3, 'r', '', '')`, busy.c.Company.ID, before(s, at), int64(time.Second+at/3600)/1000)
		}
		list, err := s.CompanyUsage(ctx, before(s, time.Hour), 10)
		if err != nil || len(list) != 2 || list[0].LastCall == nil {
			t.Fatalf("the usage is %+v, %v; want two companies", list, err)
		}
		list[0].LastCall = nil
		events := number(t, s, `SELECT count(*) FROM events WHERE company_id = $1`, busy.c.Company.ID)
		equal(t, "usage, the most events first", list, []domain.CompanyUsage{
			{CompanyID: busy.c.Company.ID, Name: t.Name(), Employees: 3, Assignments: 1, Calls: 7, SlowestCall: 1000, Events: events, Attempts: 1, SlowestMs: 1700},
			{CompanyID: quiet.c.Company.ID, Name: t.Name(), Employees: 2, Assignments: 2},
		})
		list, err = s.CompanyUsage(ctx, before(s, time.Hour), 1)
		if err != nil || len(list) != 1 || list[0].CompanyID != busy.c.Company.ID {
			t.Errorf("the first company is %+v, %v", list, err)
		}
	})
}
