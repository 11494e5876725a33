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

// deadlocks returns how often PostgreSQL had to resolve a deadlock. A session reports its
// own about once a second; here every session of the pool is made to do so before.
func deadlocks(t *testing.T, s *store.Store) int64 {
	t.Helper()
	size := s.Engine().Stats().Max
	var all, reported sync.WaitGroup
	all.Add(size)
	for range size {
		reported.Go(func() {
			arrived := sync.OnceFunc(all.Done)
			defer arrived() // after an error too
			err := s.Engine().Write(t.Context(), func(tx db.Tx) error {
				_, err := tx.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`)
				arrived()
				all.Wait() // so that each has a session of its own
				return err
			})
			if err != nil {
				t.Error("report the statistics of a session:", err)
			}
		})
	}
	reported.Wait()
	return number(t, s, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
}

// A deadlock is counted as soon as it is resolved, so that a test can't miss one.
func TestDeadlocksAreSeen(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	if address == "" {
		return
	}
	s := storetest.Open(t, address)
	f := newTestCompany(t, s)
	f.provisionAll("E1", "E2")
	before := deadlocks(t, s)
	var bothLock sync.WaitGroup
	bothLock.Add(2)
	race(2, func(i int) {
		locked := sync.OnceFunc(bothLock.Done)
		order := [][]string{{"E1", "E2"}, {"E2", "E1"}}[i]
		err := s.Engine().Write(t.Context(), func(tx db.Tx) error {
			// Found at once, it is within the second for which the session keeps it to itself.
			if _, err := tx.Exec(t.Context(), `SET LOCAL deadlock_timeout = 10`); err != nil {
				return err
			}
			for _, employee := range order {
				_, err := tx.Exec(t.Context(), `SELECT 1 FROM employees WHERE company_id = $1 AND external_id = $2 FOR UPDATE`, f.c.Company.ID, employee)
				if err != nil {
					return err
				}
				locked()
				bothLock.Wait()
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	equal(t, "deadlocks", deadlocks(t, s)-before, 1)
}

// Changes of addresses, activities and renames lock the same rows. They must do
// so in one order: a deadlock costs its victim a second.
func TestWritersDoNotDeadlock(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, third := newTestCompany(t, s), newTestCompany(t, s), newTestCompany(t, s)
		course, _ := f.put(domain.Course{ExternalID: "P1", Name: "Name", IsAssessment: true, PassMark: 80_00})
		f.grant("P1", true)
		var ids []int64
		for _, employee := range []string{"E1", "E2"} {
			f.provisionAll(employee)
		}
		for i := range 40 { // the assignments of the two employees alternate
			ids = append(ids, f.assign(fmt.Sprintf("A%d", i), []string{"E1", "E2"}[i%2], course).ID)
		}
		other.provisionAll("E3")
		// The table holds rows in the order of their last update: here the descending one.
		for i := len(ids) - 1; i >= 0; i-- {
			change(t, s, `UPDATE assignments SET percent = 1 WHERE id = $1`, ids[i])
		}
		before := int64(0)
		if s.Engine().Name() == "postgres" {
			before = deadlocks(t, s)
		}
		changeEmail := func(c testCompany, employee string) func(int) {
			return func(turn int) {
				email := fmt.Sprintf("swap%d@x.test", (turn+len(employee))%2)
				if c.c.Company.ID == other.c.Company.ID {
					email = fmt.Sprintf("swap%d@x.test", (turn+1)%2)
				}
				if _, err := c.patch(employee, domain.EmployeePatch{Email: &email}); err != nil {
					t.Error(err)
				}
			}
		}
		learn := func(turn int) {
			acts := make([]domain.Activity, len(ids))
			for i, id := range ids {
				acts[i] = progress(fmt.Sprintf("%d-%d", turn, i), id, time.Time{}, domain.Points(1+turn%90)*1_00)
			}
			f.report(acts...)
		}
		rename := func(turn int) {
			f.put(domain.Course{ExternalID: "P1", Name: fmt.Sprintf("Name %d", turn), IsAssessment: true, PassMark: 80_00})
		}
		assign := func(turn int) {
			if _, err := f.tryAssign(item(fmt.Sprintf("N%d", turn), "E2", course).New); err != nil {
				t.Error(err)
			}
		}
		learnMore := func(turn int) { learn(1_000_000 + turn) } // with other ids
		erase := func(turn int) {                               // of people whose addresses others move to
			name := fmt.Sprintf("gone%d", turn)
			if _, _, err := third.provision(name, fmt.Sprintf("swap%d@x.test", turn%2)); err == nil {
				_ = third.erase(name)
			}
		}
		writers := []func(int){changeEmail(f, "E1"), changeEmail(other, "E3"), learn, learnMore, rename, assign, erase}
		race(len(writers), func(i int) {
			for turn := range 60 {
				writers[i](turn)
			}
		})
		if s.Engine().Name() == "postgres" {
			equal(t, "deadlocks", deadlocks(t, s)-before, 0)
		}
	})
}

// An activity that waits for a change of the employee's address sees the new one.
func TestEventCarriesTheAddressThatWasWaitedFor(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		exam := f.addAssessment()
		completed, overdue := f.assign("completed", "E1", exam), f.assign("overdue", "E1", exam)

		patching, patch := pauseBeforeCommit(s)
		patched := begin(t, func() error {
			_, err := f.with(patching).patch("E1", domain.EmployeePatch{Email: ptr("new@x.test")})
			return err
		})
		<-patch.reached
		reported := begin(t, func() error {
			f.report(ended("1", completed.ID, s.Now(), 90_00))
			return nil
		})
		waitUntilBlocked(t, s, reported)
		close(patch.release)
		<-patched
		<-reported
		change(t, s, `UPDATE assignments SET deadline = $1 WHERE id = $2`, before(s, time.Minute), overdue.ID)
		f.sweep(10)
		for _, kind := range []string{"assignment.completed", "assignment.overdue"} {
			bodies := eventBodies(t, s, kind)
			if len(bodies) != 1 || len(mentions(bodies, `"employeeEmail":"new@x.test"`)) != 1 {
				t.Errorf("%s carries an older address: %v", kind, bodies)
			}
		}
	})
}

// eventBodies returns the stored bodies of all events of a kind.
func eventBodies(t *testing.T, s *store.Store, kind string) []string {
	t.Helper()
	shown := `CAST(body AS text)`
	if s.Engine().Name() == "postgres" {
		shown = `convert_from(body, 'UTF8')`
	}
	return texts(t, s, `SELECT `+shown+` FROM events WHERE kind = $1 ORDER BY id`, kind)
}
