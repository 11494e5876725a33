package storetest_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// logFailed writes a failed request into the log of a company that wants to see names
// and external ids.
func (f testCompany) logFailed(r domain.FailedRequest) {
	f.t.Helper()
	call := domain.APIRequest{
		CompanyID: f.c.Company.ID, At: f.s.Now(), Status: 409, RequestID: "Req-1",
		LoggedBody: domain.MaskFields([]string{"email", "tags"}).Log(r),
	}
	if err := f.s.AddAPIRequests(f.t.Context(), []domain.APIRequest{call}, nil); err != nil {
		f.t.Fatal(err)
	}
}

func TestErasureEmptiesLoggedRequests(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		bodies := func() []string {
			return texts(t, s, `SELECT message || request_body FROM api_requests WHERE message || request_body <> '' ORDER BY id`)
		}
		f.provisionAll("E1", "E2")
		f.logFailed(domain.FailedRequest{Body: []byte(`{"externalId":"E2"}`), Message: "second"})
		f.logFailed(domain.FailedRequest{Body: []byte(`{"externalId":"E1","name":"One"}`), Message: "first"})
		other.logFailed(domain.FailedRequest{Body: []byte(`{"externalId":"E1"}`), Message: "other"})
		change(t, s, `UPDATE api_requests SET request_id = 'req-2' WHERE message = 'second'`)
		change(t, s, `UPDATE api_request_mentions SET request_id = 'req-2' WHERE digest = $1`, domain.DigestMention("E2"))
		if err := f.erase("E1"); err != nil {
			t.Fatal(err)
		}
		equal(t, "bodies after the erasure", bodies(), []string{`second{"externalId": "E2"}`, `other{"externalId": "E1"}`})
		// The call was answered before the erasure and is written after it.
		f.logFailed(domain.FailedRequest{Subject: "E1", Body: []byte(`{"name":"Late"}`)})
		equal(t, "bodies after a late write", bodies(), []string{`second{"externalId": "E2"}`, `other{"externalId": "E1"}`})
		// The process ended between the commit of an erasure and its look into the log.
		f.logFailed(domain.FailedRequest{Body: []byte(`{"externalId":"E3"}`)})
		change(t, s, `INSERT INTO erased_mentions (company_id, digest, at) VALUES ($1, $2, $3)`, f.c.Company.ID, domain.DigestMention("E3"), s.Now())
		if err := s.FinishErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "bodies after an erasure is finished", bodies(), []string{`second{"externalId": "E2"}`, `other{"externalId": "E1"}`})
		// Long after it, somebody else may have the externalId.
		change(t, s, `UPDATE erased_mentions SET at = $1`, before(s, 59*time.Minute))
		f.logFailed(domain.FailedRequest{Body: []byte(`{"externalId":"E1"}`)})
		if got := bodies(); len(got) != 3 {
			t.Errorf("a request of a new person with the externalId was emptied: %q", got)
		}
		change(t, s, `UPDATE erased_mentions SET at = $1`, before(s, 61*time.Minute))
		if err := s.FinishErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.ExpireAPIRequests(t.Context(), s.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		equal(t, "what has expired", texts(t, s, `SELECT 'mention' FROM api_request_mentions UNION ALL SELECT 'erased' FROM erased_mentions
			UNION ALL SELECT 'request' FROM api_requests`), []string{})
	})
}

func TestAPIRequestsAreCountedByStatus(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		hour := s.Now().UTC().Truncate(time.Hour)
		for range 2 {
			count := domain.APIRequestCount{CompanyID: f.c.Company.ID, Hour: hour, TokenID: 1, Succeeded: 5, Failed: 3, ServerErrors: 1}
			if err := s.AddAPIRequests(t.Context(), nil, []domain.APIRequestCount{count}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.APIRequestHours(t.Context(), f.c.Company.ID, 0, hour)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "the counts", got, []domain.APIRequestHour{{From: hour, Succeeded: 10, Failed: 6, ServerErrors: 2}})
	})
}
