package storetest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// reportedIDs reads a report and returns the ids of its rows.
func reportedIDs[T any](t *testing.T, id func(T) string, read func(yield func([]T) error) error) (out []string) {
	t.Helper()
	err := read(func(rows []T) error {
		for _, row := range rows {
			out = append(out, id(row))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if err := read(func([]T) error { return stop }); len(out) > 0 && !errors.Is(err, stop) {
		t.Errorf("a report that is cut ends with %v, want %v", err, stop)
	}
	return out
}

// newestFirst returns n ids, the greatest first.
func newestFirst(format string, n int) []string {
	out := numbered(format, 0, n)
	slices.Reverse(out)
	return out
}

// TestReportsOfLists writes more rows than are read at a time, many of them at the same
// instant: a report has each of the company's rows once, in the order of the list.
func TestReportsOfLists(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const n = 1100
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		ctx, company := t.Context(), f.c.Company.ID
		f.createTokens(0, n)
		f.provisionAll("somebody")
		other.createTokens(0, 5)
		tokens := func(filter domain.TokenFilter) []string {
			filter.CompanyID = company
			return reportedIDs(t, func(k domain.Token) string { return k.Name }, func(yield func([]domain.Token) error) error {
				return s.TokenReport(ctx, filter, yield)
			})
		}
		equal(t, "tokens", tokens(domain.TokenFilter{}), newestFirst("token %d", n))
		change(t, s, `UPDATE tokens SET revoked_at = $1 WHERE company_id = $2 AND name <> 'token 7'`, s.Now(), company)
		equal(t, "live tokens", tokens(domain.TokenFilter{LiveAt: ptr(s.Now())}), []string{"token 7"})

		var calls []domain.APIRequest
		for i := range n {
			calls = append(calls, domain.APIRequest{CompanyID: company, At: s.Now().Truncate(time.Second), Status: 200 + 200*(i%2), RequestID: fmt.Sprintf("call-%d", i)})
		}
		calls = append(calls, domain.APIRequest{CompanyID: other.c.Company.ID, At: s.Now(), Status: 200, RequestID: "call-other"})
		if err := s.AddAPIRequests(ctx, calls, nil); err != nil {
			t.Fatal(err)
		}
		requests := func(filter domain.APIRequestFilter) []string {
			out := reportedIDs(t, func(r domain.APIRequest) string { return r.RequestID }, func(yield func([]domain.APIRequest) error) error {
				return s.APIRequestReport(ctx, company, filter, yield)
			})
			slices.Sort(out)
			return out
		}
		equal(t, "requests", requests(domain.APIRequestFilter{}), slices.Sorted(slices.Values(newestFirst("call-%d", n))))
		equal(t, "failed requests", len(requests(domain.APIRequestFilter{Outcome: domain.RequestFailed})), n/2)
		equal(t, "a request", requests(domain.APIRequestFilter{Search: "call-1099"}), []string{"call-1099"})
		logged, err := s.APIRequest(ctx, company, number(t, s, `SELECT id FROM api_requests WHERE request_id = 'call-7'`))
		if err != nil || logged.RequestID != "call-7" {
			t.Errorf("the request is %+v, %v", logged, err)
		}
		_, err = s.APIRequest(ctx, company, number(t, s, `SELECT id FROM api_requests WHERE request_id = 'call-other'`))
		wantCode(t, "another company's request", err, domain.CodeNotFound)
		audit := reportedIDs(t, func(e domain.AuditEntry) string { return e.Action }, func(yield func([]domain.AuditEntry) error) error {
			return s.AuditReport(ctx, company, domain.AuditFilter{}, yield)
		})
		equal(t, "audit entries", len(audit), int(number(t, s, `SELECT count(*) FROM audit_entries WHERE company_id = $1`, company)))
		equal(t, "no request", requests(domain.APIRequestFilter{To: ptr(before(s, time.Hour))}), []string(nil))
		f.checkDeliveryReport(n, other)
	})
}

func (f testCompany) checkDeliveryReport(n int, other testCompany) {
	f.t.Helper()
	for _, c := range []testCompany{f, other} {
		if _, err := c.s.AddEndpoint(f.t.Context(), c.c, domain.EndpointInput{URL: "https://hooks.test/x", Events: domain.EventKinds}, domain.SealedSecret("x")); err != nil {
			f.t.Fatal(err)
		}
	}
	all, err := f.s.AllEndpoints(f.t.Context())
	if err != nil || len(all) != 2 {
		f.t.Errorf("webhooks of all companies: %d, %v; want 2", len(all), err)
	}
	other.provisionAll("E0")
	f.provisionAll(numbered("E%d", 0, n)...)
	change(f.t, f.s, `UPDATE deliveries SET created_at = $1`, before(f.s, time.Minute))
	change(f.t, f.s, `UPDATE deliveries SET state = 'failed' WHERE company_id = $1 AND event_id IN (SELECT id FROM events WHERE external_id = 'E7')`, f.c.Company.ID)
	deliveries := func(filter domain.DeliveryFilter) []string {
		out := reportedIDs(f.t, func(d domain.Delivery) string { return d.ExternalID }, func(yield func([]domain.Delivery) error) error {
			return f.s.DeliveryReport(f.t.Context(), f.c.Company.ID, filter, yield)
		})
		slices.Sort(out)
		return out
	}
	equal(f.t, "deliveries", deliveries(domain.DeliveryFilter{}), slices.Sorted(slices.Values(newestFirst("E%d", n))))
	equal(f.t, "failed deliveries", deliveries(domain.DeliveryFilter{State: domain.DeliveryFailed}), []string{"E7"})
	equal(f.t, "deliveries of a search", deliveries(domain.DeliveryFilter{Search: "E12"})[0], "E12")
	equal(f.t, "waiting deliveries", len(deliveries(domain.DeliveryFilter{State: domain.DeliveryPending, Kind: domain.EventEmployeeJoined})), n-1)
	equal(f.t, "an unknown state", deliveries(domain.DeliveryFilter{State: "lost"}), []string(nil))
}
