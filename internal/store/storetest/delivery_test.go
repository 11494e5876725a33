package storetest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// walk reads the whole log page by page.
func (h endpointFixture) walk(f domain.DeliveryFilter, limit int) []string {
	h.t.Helper()
	var out []string
	var after *domain.Cursor
	for {
		page, err := h.s.Deliveries(h.t.Context(), h.c.Company.ID, f, after, limit)
		if err != nil {
			h.t.Fatalf("deliveries: %v", err)
		}
		for _, d := range page.Items {
			out = append(out, d.ExternalID)
		}
		if page.Next == nil {
			return out
		}
		after = page.Next
	}
}

func TestLogIsReadNewestFirst(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newEndpointFixture(t, s)
		second := addEndpoint(t, s, h.c)
		stranger := newEndpointFixture(t, s)
		h.hire("e", 4)
		stranger.hire("x", 1)
		due := h.claim("me", 10).Due
		h.record(h.result(due[1], domain.DeliveryDelivered), h.result(due[2], domain.DeliveryFailed))

		// Events of one millisecond come in the order of their random ids.
		start := s.Now()
		for i, d := range due {
			change(t, s, `UPDATE deliveries SET created_at = $1 WHERE company_id = $2 AND event_id = $3`,
				start.Add(time.Duration(i)*time.Second), h.c.Company.ID, d.Sequence)
		}
		// What it asked for before is in the log still.
		for _, kind := range []domain.EventKind{domain.EventAssignmentFailed, domain.EventAssignmentOverdue} {
			if _, err := s.UpdateEndpoint(t.Context(), h.c, second.ID, domain.EndpointInput{URL: second.URL, Events: []domain.EventKind{kind}}); err != nil {
				t.Fatal(err)
			}
		}
		from, to := start.Add(time.Second), start.Add(3*time.Second)
		for _, row := range []struct {
			name   string
			filter domain.DeliveryFilter
			want   []string
		}{
			{"all", domain.DeliveryFilter{}, []string{"e3", "e3", "e2", "e2", "e1", "e1", "e0", "e0"}},
			{"endpoint", domain.DeliveryFilter{EndpointID: second.ID}, []string{"e3", "e2", "e1", "e0"}},
			{"state", domain.DeliveryFilter{State: domain.DeliveryFailed}, []string{"e2"}},
			{"period", domain.DeliveryFilter{EndpointID: h.e.ID, From: &from, To: &to}, []string{"e2", "e1"}},
			{"kind", domain.DeliveryFilter{Kind: domain.EventEmployeeRemoved}, nil},
			{"kind of an endpoint", domain.DeliveryFilter{EndpointID: second.ID, Kind: domain.EventEmployeeJoined}, []string{"e3", "e2", "e1", "e0"}},
			{"kind it never asked for", domain.DeliveryFilter{EndpointID: second.ID, Kind: domain.EventEmployeeRemoved}, nil},
			{"externalId", domain.DeliveryFilter{EndpointID: h.e.ID, Search: "e1"}, []string{"e1"}},
			{"id", domain.DeliveryFilter{Search: due[3].ID}, []string{"e3"}},
			{"of another company", domain.DeliveryFilter{Search: "x0"}, nil},
		} {
			for _, limit := range []int{1, 3, 100} {
				if diff := cmp.Diff(row.want, h.walk(row.filter, limit)); diff != "" {
					t.Errorf("%s, by %d (- want):\n%s", row.name, limit, diff)
				}
			}
		}
		_, err := s.Delivery(t.Context(), stranger.c.Company.ID, due[0].ID)
		wantCode(t, "that of another company", err, domain.CodeNotFound)
		_, err = s.Delivery(t.Context(), h.c.Company.ID, "no-uuid")
		wantCode(t, "no id", err, domain.CodeNotFound)
	})
}

func TestHealthCountsByHour(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newEndpointFixture(t, s)
		second := addEndpoint(t, s, h.c)
		h.hire("e", 6)
		due := h.claim("me", 10).Due
		h.record(h.result(due[0], domain.DeliveryDelivered), h.result(due[1], domain.DeliveryDelivered), h.result(due[2], domain.DeliveryFailed),
			h.result(due[3], domain.DeliveryPending), h.result(due[4], domain.DeliveryPending)) // the sixth was never tried
		change(t, s, `UPDATE deliveries SET state = 'held' WHERE company_id = $1 AND endpoint_id = $2`, h.c.Company.ID, second.ID)
		change(t, s, `UPDATE deliveries SET created_at = $1 WHERE company_id = $2 AND id = $3`, s.Now().Add(-3*time.Hour), h.c.Company.ID, due[1].ID)
		change(t, s, `UPDATE deliveries SET created_at = $1 WHERE company_id = $2 AND id = $3`, s.Now().Add(-30*time.Hour), h.c.Company.ID, due[4].ID)
		health := func(endpoint int64) []domain.EndpointHealth {
			got, err := s.EndpointHealth(t.Context(), h.c.Company.ID, endpoint, s.Now().Add(-23*time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		got := health(0)
		if len(got) != 2 || len(got[0].Hours) != 24 || got[0].LastSent == nil || got[1].Held != 6 || got[1].LastSent != nil {
			t.Fatalf("health %+v", got)
		}
		if hour := got[0].Hours[20]; hour.Delivered != 1 || hour.Failed != 0 {
			t.Errorf("three hours ago: %+v", hour)
		}
		if diff := cmp.Diff([]domain.EndpointHealth{got[1]}, health(second.ID)); diff != "" {
			t.Errorf("one endpoint (- among all):\n%s", diff)
		}
		got[0].Hours, got[0].LastSent, got[0].LastDelivered = nil, nil, nil
		if diff := cmp.Diff(domain.EndpointHealth{EndpointID: h.e.ID, Delivered: 2, Failed: 1, Retrying: 1}, got[0]); diff != "" {
			t.Errorf("counts (- want):\n%s", diff)
		}
	})
}

func TestRedeliverOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newEndpointFixture(t, s)
		h.hire("e", 1)
		d := h.claim("me", 1).Due[0]
		h.record(h.result(d, domain.DeliveryDelivered))
		var woken []domain.EndpointKey
		s.OnDeliveries(func(keys []domain.EndpointKey) { woken = keys })
		if err := s.Redeliver(t.Context(), h.c, d.ID); err != nil {
			t.Fatal(err)
		}
		if len(woken) != 1 || woken[0] != h.e.Key() {
			t.Errorf("woken %v", woken)
		}
		again := h.claim("me", 1).Due
		if len(again) != 1 || again[0].ID != d.ID || again[0].Attempts != 1 || again[0].RoundStart != 1 || again[0].RequestedBy != "test" {
			t.Fatalf("due again: %+v", again)
		}
		h.record(h.result(again[0], domain.DeliveryDelivered))
		if got := h.delivery(d.ID); len(got.Tries) != 2 || got.Tries[1].RequestedBy != "test" || got.Tries[0].RequestedBy != "" {
			t.Errorf("tries %+v", got.Tries)
		}
		wantCode(t, "redeliver none", s.Redeliver(t.Context(), h.c, "00000000-0000-7000-8000-000000000000"), domain.CodeNotFound)
	})
}

func TestRedeliverARange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newEndpointFixture(t, s)
		off := addEndpoint(t, s, h.c)
		if _, err := s.DisableEndpoint(t.Context(), h.c, off.ID); err != nil {
			t.Fatal(err)
		}
		h.hire("e", 9)
		due := h.claim("me", 20).Due
		for i, d := range due[:8] {
			state := domain.DeliveryFailed
			if i == 3 {
				state = domain.DeliveryDelivered
			}
			h.record(h.result(d, state))
		}
		change(t, s, `UPDATE deliveries SET state = 'held' WHERE company_id = $1 AND id = $2`, h.c.Company.ID, due[5].ID)
		if err := s.DeleteEmployee(t.Context(), h.c, "e6"); err != nil {
			t.Fatal(err)
		}
		var f domain.RedeliveryFilter
		if err := f.Normalize(s.Now()); err != nil {
			t.Fatal(err)
		}
		// Failed: e0, e1, e2, e4, e7; held: e5; erased: e6; e3 was delivered, e8 is pending.
		total, err := s.CountRedeliverable(t.Context(), h.c.Company.ID, f)
		if err != nil || total != 6 {
			t.Errorf("would send %d, %v; want 6", total, err)
		}
		job, err := s.AddRedelivery(t.Context(), h.c, f)
		if err != nil || job.Total != 6 {
			t.Fatalf("job %+v, %v", job, err)
		}
		for _, want := range []struct {
			done     int64
			finished bool
		}{{4, false}, {6, true}, {6, true}} {
			finished, err := s.ContinueRedelivery(t.Context(), h.c.Company.ID, job.ID, 4)
			got, errGet := s.Redelivery(t.Context(), h.c.Company.ID, job.ID)
			if err != nil || errGet != nil || finished != want.finished || got.Done != want.done || (got.FinishedAt != nil) != want.finished {
				t.Errorf("finished %v with %d done, %v %v; want %+v", finished, got.Done, err, errGet, want)
			}
		}
		again := map[string]bool{}
		for _, d := range h.claim("me", 20).Due {
			again[h.delivery(d.ID).ExternalID] = d.RequestedBy == "test"
		}
		want := map[string]bool{"e0": true, "e1": true, "e2": true, "e4": true, "e5": true, "e7": true, "e8": false}
		if diff := cmp.Diff(want, again); diff != "" {
			t.Errorf("due (- want):\n%s", diff)
		}
		f.States = append(f.States, domain.DeliveryDelivered)
		all, err := s.AddRedelivery(t.Context(), h.c, f)
		if err == nil {
			_, err = s.ContinueRedelivery(t.Context(), h.c.Company.ID, all.ID, 10)
		}
		if got := h.delivery(due[3].ID); err != nil || all.Total != 1 || got.State != domain.DeliveryPending {
			t.Errorf("with delivered ones: %d in all, the delivered one is %s, %v", all.Total, got.State, err)
		}
		if open, err := s.OpenRedeliveries(t.Context()); err != nil || len(open) != 0 {
			t.Errorf("open: %v, %v", open, err)
		}
		_, err = s.Redelivery(t.Context(), h.c.Company.ID, all.ID+1)
		wantCode(t, "a redelivery that is not there", err, domain.CodeNotFound)
	})
}

func TestRetention(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newEndpointFixture(t, s)
		gone := addEndpoint(t, s, h.c)
		if err := s.RemoveEndpoint(t.Context(), h.c, gone.ID); err != nil {
			t.Fatal(err)
		}
		h.hire("e", 4)
		due := h.claim("me", 10).Due
		h.record(h.result(due[0], domain.DeliveryDelivered), h.result(due[1], domain.DeliveryFailed))
		old := s.Now().Add(-40 * 24 * time.Hour)
		for _, d := range due[:3] { // the third is pending still, the fourth is young
			change(t, s, `UPDATE events SET occurred_at = $1 WHERE company_id = $2 AND id = $3`, old, h.c.Company.ID, d.Sequence)
		}
		change(t, s, `UPDATE endpoints SET removed_at = $1 WHERE id = $2`, old, gone.ID)
		before := s.Now().Add(-30 * 24 * time.Hour)
		if more, err := s.ExpireEvents(t.Context(), before); more || err != nil {
			t.Errorf("more %v, %v", more, err)
		}
		if err := s.ExpireEndpoints(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		for table, want := range map[string]int{"events": 2, "deliveries": 2, "delivery_attempts": 0, "endpoints": 1} {
			if got := count(t, s, table); got != want {
				t.Errorf("%d rows of %s are left, want %d", got, table, want)
			}
		}
	})
}

func TestRetentionGoesInSmallSteps(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newEndpointFixture(t, s)
		h.hire("e", 101)
		change(t, s, `UPDATE deliveries SET state = 'delivered' WHERE company_id = $1`, h.c.Company.ID)
		later := s.Now().Add(time.Minute)
		for i, want := range []bool{true, false} {
			if more, err := s.ExpireEvents(t.Context(), later); more != want || err != nil {
				t.Errorf("step %d: more %v, %v", i, more, err)
			}
		}
		if left := count(t, s, "deliveries"); left != 0 {
			t.Errorf("%d deliveries are left", left)
		}
	})
}

func count(t *testing.T, s *store.Store, table string) int {
	t.Helper()
	return int(number(t, s, `SELECT count(*) FROM `+table))
}
