package storetest_test

import (
	"fmt"
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

// One company's assignments are locked, and the platform reports more of its activities
// than the platform's share of the connections: those of another company are recorded.
func TestActivitiesThatWaitLeaveThePlatformsShare(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	s, err := store.OpenWith(t.Context(), address, db.Options{MaxConnections: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s = store.New(storetest.WrapEngine(t, s.Engine())) // so that its statements are explained
	elsewhere := storetest.Open(t, address)
	stuck, neighbour := newTestCompany(t, s), newTestCompany(t, s)
	assign := func(f testCompany) int64 {
		f.provisionAll("E1")
		return f.assign("A1", "E1", f.addAssessment()).ID
	}
	locked, free := assign(stuck), assign(neighbour)
	ctx := domain.WithCompany(t.Context(), domain.PlatformWork)
	report := func(id string, assignments ...int64) ([]domain.ActivityResult, error) {
		var items []domain.ActivityItem
		for _, a := range assignments {
			items = append(items, domain.ActivityItem{Activity: progress(fmt.Sprintf("%s-%d", id, a), a, s.Now(), 10_00)})
		}
		return s.RecordActivities(ctx, items)
	}
	release := storetest.HoldLocks(t, elsewhere, `SELECT id FROM assignments WHERE id = $1 FOR UPDATE`, locked)
	var waiting sync.WaitGroup
	for i := range 12 {
		waiting.Go(func() { _, _ = report(fmt.Sprint("stuck", i), locked) }) // refused after a while
	}
	storetest.WaitForLocks(t, elsewhere, 3)
	for i := range 20 {
		began := time.Now()
		if _, err := report(fmt.Sprint("free", i), free); err != nil {
			t.Errorf("an activity of the neighbour: %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("an activity of the neighbour took %s", took)
		}
	}
	if _, err := report("mixed", free, locked); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("a report with a locked assignment: %v, want it to be unavailable", err)
	}
	equal(t, "the neighbour's activities", number(t, s, `SELECT count(*) FROM activities WHERE assignment_id = $1`, free), 21)
	release()
	waiting.Wait()
	results, err := report("mixed", free, locked)
	if err != nil || results[0].Status != domain.StatusStarted || results[1].Status != domain.StatusStarted {
		t.Errorf("the report repeated: %v, %v", results, err)
	}
}
