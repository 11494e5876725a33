package storetest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// pausingEngine stops one transaction between its last statement and its commit.
type pausingEngine struct {
	db.Engine
	reached, release chan struct{}
}

// pauseBeforeCommit returns a second store on the engine of s, whose first
// transaction closes reached and waits for release.
func pauseBeforeCommit(s *store.Store) (*store.Store, *pausingEngine) {
	p := &pausingEngine{Engine: s.Engine(), reached: make(chan struct{}), release: make(chan struct{})}
	return store.New(p), p
}

func (p *pausingEngine) Write(ctx context.Context, fn func(db.Tx) error) error {
	return p.Engine.Write(ctx, func(tx db.Tx) error {
		err := fn(tx)
		select {
		case <-p.reached: // a later transaction, or the same one run again
		default:
			close(p.reached)
			<-p.release
		}
		return err
	})
}

// waitUntilBlocked waits until a transaction of the database waits for a lock, or
// until done is closed. On SQLite the second writer always waits.
func waitUntilBlocked(t *testing.T, s *store.Store, done <-chan struct{}) {
	t.Helper()
	if s.Engine().Name() == "sqlite" {
		return
	}
	for {
		select {
		case <-done:
			return
		case <-t.Context().Done():
			t.Fatal("no transaction was blocked")
		case <-time.After(time.Millisecond):
		}
		if number(t, s, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0 {
			return
		}
	}
}

// begin runs fn in the background and returns a channel that is closed when it ends.
func begin(t *testing.T, fn func() error) <-chan struct{} {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := fn(); err != nil {
			t.Error(err)
		}
	}()
	return done
}

// A rename that runs while an assignment is being made either waits for it and
// stamps it, or comes first. In both cases a sync learns the new name.
func TestSyncSeesARenameThatRacesAnAssignment(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		course, _ := f.put(domain.Course{ExternalID: "P1", Name: "Old"})
		f.grant("P1", true)

		assigning, assignment := pauseBeforeCommit(s)
		assigned := begin(t, func() error {
			_, err := f.with(assigning).tryAssign(item("A1", "E1", course).New)
			return err
		})
		<-assignment.reached
		waitUntil(t, s, s.Now().Add(2*time.Millisecond)) // the rename is stamped later than the assignment
		renaming, rename := pauseBeforeCommit(s)
		renamed := begin(t, func() error {
			_, _, err := renaming.PutCourse(t.Context(), domain.Actor{}, domain.Course{ExternalID: "P1", Name: "New"})
			return err
		})
		waitUntilBlocked(t, s, rename.reached)
		close(assignment.release)
		<-rename.reached // on SQLite both may share a commit, so that the assignment is not committed yet

		names, since := map[string]string{}, time.Unix(0, 0)
		poll := func() {
			since = *f.walk(domain.AssignmentFilter{UpdatedSince: &since}, 10, func(a domain.Assignment) { names[a.ExternalID] = a.CourseName })
		}
		poll()
		close(rename.release)
		<-assigned
		<-renamed
		if err := s.StampRenamedCourses(t.Context()); err != nil {
			t.Fatal(err)
		}
		poll()
		equal(t, "names known to the sync", names, map[string]string{"A1": "New"})
	})
}

// An assignment that was answered with a course's old name is stamped by the rename, even
// if the rename is done before the assignment is committed.
func TestRenameStampsAnAssignmentThatHasTheOldName(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		course, _ := f.put(domain.Course{ExternalID: "P1", Name: "Old"})
		f.grant("P1", true)
		assigning, assignment := pauseBeforeCommit(s)
		answered := ""
		assigned := begin(t, func() error {
			a, err := f.with(assigning).tryAssign(item("A1", "E1", course).New)
			answered = a.CourseName
			return err
		})
		<-assignment.reached
		waitUntil(t, s, s.Now().Add(2*time.Millisecond)) // the rename is stamped later than the assignment
		renamed := begin(t, func() error {
			_, _, err := s.PutCourse(t.Context(), domain.Actor{}, domain.Course{ExternalID: "P1", Name: "New"})
			return err
		})
		waitUntilBlocked(t, s, renamed) // for ever, or until the rename has stamped everything
		close(assignment.release)
		<-assigned
		<-renamed
		if err := s.StampRenamedCourses(t.Context()); err != nil {
			t.Fatal(err)
		}
		unstamped := number(t, s, `SELECT count(*) FROM assignments a JOIN courses c ON c.id = a.course_id
			WHERE a.company_id = $1 AND c.name = 'New' AND a.updated_at < c.updated_at`, f.c.Company.ID)
		if answered == "Old" && unstamped > 0 {
			t.Error("the assignment was answered with the old name, and the rename has not stamped it")
		}
	})
}

// The name changes at once; the assignments are stamped in small transactions
// that another process can continue.
func TestRenamedCourseIsStampedInSteps(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		filled := storetest.Fill(t, s, f.c.Company.ID, storetest.Size{Employees: 20, Courses: 2, Assignments: 5000})
		change(t, s, `UPDATE courses SET owner_company_id = 0, external_id = 'P1' WHERE id = $1`, filled.Courses[0])
		revoked := filled.Assignments[0]
		change(t, s, `UPDATE assignments SET revoked_at = updated_at WHERE company_id = $1 AND id = $2`, f.c.Company.ID, revoked)
		start := s.Now()
		stamped := func() int64 {
			return number(t, s, `SELECT count(*) FROM assignments WHERE company_id = $1 AND updated_at >= $2`, f.c.Company.ID, start)
		}

		watched, r := recordStatements(s)
		for range 2 { // a second rename before the first is finished starts over
			statements := r.during(t, func() error {
				_, _, err := watched.PutCourse(t.Context(), domain.Actor{}, domain.Course{ExternalID: "P1", Name: "Renamed " + s.Now().String(), IsAssessment: true})
				return err
			})
			if n := stamped(); n == 0 || n > 2000 {
				t.Errorf("the rename itself stamped %d assignments, want at most 2000", n)
			}
			for _, it := range statements {
				if strings.HasPrefix(it.SQL, "UPDATE assignments") && !strings.Contains(it.SQL, "r.id") {
					t.Errorf("a statement is not limited to a step: %s", it.SQL)
				}
			}
		}
		if err := s.StampRenamedCourses(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "stamped", stamped(), 2499)
		equal(t, "assignments of the other course", number(t, s,
			`SELECT count(*) FROM assignments WHERE company_id = $1 AND course_id = $2 AND updated_at >= $3`,
			f.c.Company.ID, filled.Courses[1], start), 0)
		equal(t, "renames left to finish", number(t, s, `SELECT count(*) FROM course_renames`), 0)
	})
}
