package publicapi_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// patchingService changes employees in a store; everything else is faked.
type patchingService struct {
	companyService
	store *store.Store
}

func (p patchingService) PatchEmployee(ctx context.Context, c domain.Caller, externalID string, in domain.EmployeePatch) (domain.EmployeePatched, error) {
	return p.store.PatchEmployee(ctx, c, externalID, in)
}

// A change that waits for a lock for too long is refused, and the client is told when to
// try again.
func TestWaitForALockEndsAsUnavailable(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	if address == "" {
		return // SQLite has one writer: nothing can wait for a row
	}
	s, err := store.OpenWith(t.Context(), address, db.Options{LockWait: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := storetest.Company(t, s, "Locked")
	if _, _, err := s.Provision(t.Context(), c, domain.Provision{ExternalID: "E1", Email: "e1@x.test", Name: "E1"}); err != nil {
		t.Fatal(err)
	}
	h := testAPI{publicapi.New(patchingService{companyService{&fake{}, c.Company}, s}, fakeReports{}, publicapi.Options{})}
	release := storetest.HoldLocks(t, storetest.Open(t, address), `SELECT id FROM employees WHERE company_id = $1 FOR UPDATE`, c.Company.ID)
	began := time.Now()
	rec := h.ask(allToken, http.MethodPatch, "/employees/E1", `{"name":"Later"}`)
	wait, err := strconv.Atoi(rec.Header().Get("Retry-After"))
	if f := failureOf(t, rec); rec.Code != http.StatusServiceUnavailable || f.Code != "unavailable" || err != nil || wait < 1 {
		t.Errorf("a change of a locked employee: %d %v %s", rec.Code, rec.Header(), rec.Body)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it was refused after %s", took)
	}
	release()
	if rec := h.ask(allToken, http.MethodPatch, "/employees/E1", `{"name":"Later"}`); rec.Code != http.StatusOK {
		t.Errorf("the change repeated: %d %s", rec.Code, rec.Body)
	}
}
