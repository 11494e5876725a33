package publicapi_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// erasingService erases in a store; everything else is faked.
type erasingService struct {
	companyService
	store *store.Store
}

func (e erasingService) DeleteEmployee(ctx context.Context, c domain.Caller, externalID string) error {
	return e.store.DeleteEmployee(ctx, c, externalID)
}

// DELETE is answered 200 once the erasure is committed, whatever happens after that: a
// repeated request would find nobody. A replica that does not answer makes it wait for
// longer than a request may take, and the request log can't be cleared.
func TestDeleteSucceedsOnceItIsCommitted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const requestTime = 200 * time.Millisecond
		c := storetest.Company(t, s, "Erasing")
		_, _, err := s.Provision(t.Context(), c, domain.Provision{ExternalID: "E1", Email: "e1@x.test", Name: "E1"})
		if err != nil {
			t.Fatal(err)
		}
		isStopped := false
		s.OnErased(func(ctx context.Context, records []domain.RecordKey) error {
			if len(records) != 1 {
				t.Errorf("%d people are erased, want 1", len(records))
			}
			select {
			case <-ctx.Done():
				return errors.New("something about the person may still be sent")
			case <-time.After(3 * requestTime):
				isStopped = true
				return nil
			}
		})
		err = s.Engine().Write(t.Context(), func(tx db.Tx) error {
			_, err := tx.Exec(t.Context(), `ALTER TABLE api_request_mentions RENAME TO hidden_mentions`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		h := testAPI{publicapi.New(erasingService{companyService{&fake{}, c.Company}, s}, fakeReports{}, publicapi.Options{Timeout: requestTime})}
		rec := h.ask(allToken, http.MethodDelete, "/employees/E1", "")
		if rec.Code != http.StatusOK || !isStopped {
			t.Errorf("DELETE answers %d %s; nothing is sent any more: %t", rec.Code, rec.Body, isStopped)
		}
		rec = h.ask(allToken, http.MethodDelete, "/employees/E1", "")
		if rec.Code != http.StatusNotFound {
			t.Errorf("the second DELETE answers %d %s", rec.Code, rec.Body)
		}
	})
}
