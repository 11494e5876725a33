package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// deadlocks returns how often PostgreSQL had to resolve a deadlock.
func deadlocks(t *testing.T, s *store.Store) int64 {
	t.Helper()
	return number(t, s, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
}

// Changes of addresses, activities and renames lock the same rows. They must do
// so in one order: a deadlock costs its victim a second.
func TestWritersDoNotDeadlock(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
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
		writers := []func(int){changeEmail(f, "E1"), changeEmail(other, "E3"), learn, learnMore, rename, assign}
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
