package storetest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// TestWaitingWritesOfOneCompanyLeaveConnections has many changes of one company wait
// for one locked row: the changes and reads of another company go on.
func TestWaitingWritesOfOneCompanyLeaveConnections(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	s, err := store.OpenWith(t.Context(), address, db.Options{MaxConnections: 4, ConnectionWait: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	busy, neighbour := newTestCompany(t, s), newTestCompany(t, s)
	for _, f := range []testCompany{busy, neighbour} {
		f.provisionAll("E1")
	}
	rename := func(f testCompany, name string) error {
		ctx := domain.WithCompany(t.Context(), f.c.Company.ID)
		_, err := s.PatchEmployee(ctx, f.c, "E1", domain.EmployeePatch{Name: &name})
		return err
	}
	elsewhere := storetest.Open(t, address)
	var waiting sync.WaitGroup
	err = elsewhere.Engine().Write(t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(t.Context(), `SELECT 1 FROM employees WHERE company_id = $1 FOR UPDATE`, busy.c.Company.ID)
		if err != nil {
			return err
		}
		for range 20 {
			waiting.Go(func() {
				if err := rename(busy, "Later"); err != nil && domain.CodeOf(err) != domain.CodeUnavailable {
					t.Error(err)
				}
			})
		}
		for s.Engine().Stats().InUse < 2 {
			time.Sleep(time.Millisecond)
		}
		for range 10 {
			if err := rename(neighbour, "At once"); err != nil {
				t.Error("a change of the neighbour:", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
}
