package storetest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// All secrets are encrypted again, more of them than one transaction takes. Those that can
// stay as they are stay.
func TestSecretsAreEncryptedAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
		ann, bob := f.addAdministrator("ann@x.test", domain.CabinetOwner).Actor, f.addAdministrator("bob@x.test", domain.CabinetOwner).Actor
		f.addAdministrator("none@x.test", domain.CabinetOwner)
		wantNoError(t, "set a factor", s.SetTOTPSecret(ctx, ann.ID, []byte("old ann")))
		wantNoError(t, "set a factor", s.SetTOTPSecret(ctx, bob.ID, []byte("new bob")))
		const many = 205 // more than one step
		change(t, s, `INSERT INTO endpoints (company_id, url, description, events, secret, created_at, created_by, disabled_reason, lease_owner, lease_until)
			WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < $3)
			SELECT $1, 'https://hooks.test/' || i, '', '[]', $4, $2, '', '', '', $2 FROM k`, f.c.Company.ID, s.Now(), many, []byte("old"))
		full, removed := storetest.Endpoint(t, s, other.c.Company.ID), storetest.Endpoint(t, s, other.c.Company.ID)
		change(t, s, `UPDATE endpoints SET secret = $1, previous_secret = $2, headers = $3 WHERE id = $4`, []byte("new"), []byte("old"), []byte("old"), full)
		wantNoError(t, "remove", s.RemoveEndpoint(ctx, other.c, removed))
		companies := map[int64]int{}
		reseal := func(company int64, sealed []byte) ([]byte, error) {
			companies[company]++
			if string(sealed[:3]) == "new" {
				return nil, nil
			}
			return slices.Concat([]byte("new"), sealed[3:]), nil
		}
		for _, want := range []int64{many + 1, 0} {
			changed, err := s.ResealWebhooks(ctx, reseal)
			if err != nil || changed != want {
				t.Errorf("%d webhooks were changed, %v; want %d", changed, err, want)
			}
		}
		equal(t, "secrets by company", companies, map[int64]int{f.c.Company.ID: 2 * many, other.c.Company.ID: 6})
		old := number(t, s, `SELECT count(*) FROM endpoints WHERE secret = $1 OR previous_secret = $1 OR headers = $1`, []byte("old"))
		equal(t, "those that are left as they were", old, 0)
		for _, want := range []int64{1, 0} {
			changed, err := s.ResealSecondFactors(ctx, reseal)
			if err != nil || changed != want {
				t.Errorf("%d factors were changed, %v; want %d", changed, err, want)
			}
		}
		equal(t, "factors", sealedFactors(t, s), []string{"ann@x.test new ann", "bob@x.test new bob"})
		unreadable := errors.New("unreadable")
		_, err := s.ResealWebhooks(ctx, func(int64, []byte) ([]byte, error) { return nil, unreadable })
		if !errors.Is(err, unreadable) {
			t.Errorf("a secret that cannot be read: %v", err)
		}
	})
}

func TestTestEventsAndRedeliveries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		t.Run("test events", func(t *testing.T) { testLoggedTestEvents(t, s) })
		t.Run("redeliveries", func(t *testing.T) { testRedeliveriesFail(t, s) })
	})
}

// testLoggedTestEvents expects that a test event is in the log, marked as one, and is not
// sent again.
func testLoggedTestEvents(t *testing.T, s *store.Store) {
	h, ctx := newEndpointFixture(t, s), t.Context()
	send := func(kind string) domain.DeliveryDetail {
		t.Helper()
		id := uuid.Must(uuid.NewV7()).String()
		in := domain.TestEvent{Endpoint: h.e, ID: id, Event: domain.Event{Kind: domain.EventEmployeeJoined, ExternalID: "sample", Body: []byte(`{"test":1}`)}}
		a := domain.Attempt{URL: h.e.URL, StartedAt: s.Now(), Duration: 1500 * time.Microsecond, StatusCode: 200, ErrorKind: kind,
			RequestHeaders: domain.Headers{{Name: "X-A", Value: "1"}}, ResponseBody: []byte("hello")}
		wantNoError(t, "record", s.RecordTest(ctx, h.c, in, a, "It answered."))
		return h.delivery(id)
	}
	got := send("")
	equal(t, "the delivery", fmt.Sprintln(got.State, got.Test, got.Attempts, got.ExternalID, string(got.Body), got.RequestedBy), "delivered true 1 sample {\"test\":1} test\n")
	tries := got.Tries
	if len(tries) != 1 || tries[0].Duration != 1500*time.Microsecond || tries[0].RequestHeaders.Get("x-a") != "1" || string(tries[0].ResponseBody) != "hello" || tries[0].RequestedBy != "test" {
		t.Errorf("the attempts are %+v", tries)
	}
	failed := send("timeout")
	equal(t, "one that failed", string(failed.State)+" "+failed.ErrorKind, "failed timeout")
	wantCode(t, "send it again", s.Redeliver(ctx, h.c, failed.ID), domain.CodeInvalid)
	if due := h.claim("server", 10).Due; len(due) != 0 {
		t.Errorf("%d deliveries are to be sent", len(due))
	}
	equal(t, "audit", testCompany{t, s, h.c}.audit()[1:], []string{"webhook.tested", "webhook.tested"})
}

func testRedeliveriesFail(t *testing.T, s *store.Store) {
	h, ctx := newEndpointFixture(t, s), t.Context()
	h.hire("a", 3)
	h.deliveriesIn(domain.DeliveryFailed, 3, s.Now())
	in := domain.RedeliveryFilter{}
	wantNoError(t, "normalize", in.Normalize(s.Now().Add(time.Minute)))
	j, err := s.AddRedelivery(ctx, h.c, in)
	wantNoError(t, "add", err)
	untouched, err := s.AddRedelivery(ctx, h.c, in)
	wantNoError(t, "add", err)
	state := func(id int64) string {
		t.Helper()
		got, err := s.Redelivery(ctx, h.c.Company.ID, id)
		wantNoError(t, "read", err)
		return fmt.Sprint(got.Done, " ", got.FinishedAt != nil, " ", got.Problem)
	}
	wantNoError(t, "fail", s.RecordRedeliveryFailure(ctx, j, "no luck", 2))
	equal(t, "after one failure", state(j.ID), "0 false ")
	if _, err = s.ContinueRedelivery(ctx, h.c.Company.ID, j.ID, 1); err != nil {
		t.Fatal(err)
	}
	wantNoError(t, "fail", s.RecordRedeliveryFailure(ctx, j, "no luck", 2))
	equal(t, "after a failure, a step and a failure", state(j.ID), "1 false ")
	wantNoError(t, "fail", s.RecordRedeliveryFailure(ctx, j, "no luck", 2))
	equal(t, "after two failures in a row", state(j.ID), "1 true no luck")
	wantNoError(t, "fail", s.RecordRedeliveryFailure(ctx, j, "later", 1))
	equal(t, "after its end", state(j.ID), "1 true no luck")
	equal(t, "another one", state(untouched.ID), "0 false ")
	if finished, err := s.ContinueRedelivery(ctx, h.c.Company.ID, j.ID, 10); err != nil || !finished {
		t.Errorf("a redelivery that has ended goes on: %v", err)
	}
	equal(t, "deliveries put back into the queue", number(t, s, `SELECT count(*) FROM deliveries WHERE company_id = $1 AND state = 'pending'`, h.c.Company.ID), 1)
}
