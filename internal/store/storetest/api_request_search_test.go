package storetest_test

import (
	"fmt"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// A search of the log of requests finds those whose id begins with the text, whatever the
// case, and reports whether there may be more of them.
func TestSearchOfRequests(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
		calls := []domain.APIRequest{}
		for i, id := range []string{"Req-10", "req-1", "req-2", "other", "100%_req"} {
			calls = append(calls, domain.APIRequest{CompanyID: f.c.Company.ID, At: s.Now(), Status: 200 + 204*(i%2), RequestID: id, Route: "/employees"})
		}
		wantNoError(t, "log", s.AddAPIRequests(ctx, append(calls, domain.APIRequest{CompanyID: other.c.Company.ID, At: s.Now(), Status: 200, RequestID: "req-1"}), nil))
		find := func(filter domain.APIRequestFilter) (ids []string, capped bool) {
			t.Helper()
			page, err := s.APIRequests(ctx, f.c.Company.ID, filter, domain.PageRequest{Limit: 10})
			wantNoError(t, "search", err)
			ids = []string{}
			for _, r := range page.Items {
				ids = append(ids, r.RequestID)
			}
			return ids, page.Capped
		}
		for text, want := range map[string][]string{
			"": {"100%_req", "other", "req-2", "req-1", "Req-10"}, "REQ-": {"req-2", "req-1", "Req-10"}, "req-1": {"req-1", "Req-10"},
			"100%": {"100%_req"}, "%": {}, "eq-1": {},
		} {
			ids, capped := find(domain.APIRequestFilter{Search: text})
			equal(t, fmt.Sprintf("requests found by %q, the newest first", text), ids, want)
			equal(t, "there are more", capped, false)
		}
		ids, _ := find(domain.APIRequestFilter{Search: "req-1", Outcome: domain.RequestFailed})
		equal(t, "failed requests found", ids, []string{"req-1"})
		change(t, s, `INSERT INTO api_requests (company_id, at, token_id, method, route, status, duration_us, request_id, code)
			WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < $3)
			SELECT $1, $2, 1, 'GET', '/', 200, 1, 'many-' || i, '' FROM k`, f.c.Company.ID, s.Now(), domain.MaxMatches)
		if _, capped := find(domain.APIRequestFilter{Search: "many"}); !capped {
			t.Error("a search that finds as many as it looks for does not say so")
		}
	})
}
