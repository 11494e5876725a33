package storetest_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// testCompany is a company under test, with helpers that act for it and that read
// what was written.
type testCompany struct {
	t *testing.T
	s *store.Store
	c domain.Caller
}

func newTestCompany(t *testing.T, s *store.Store) testCompany {
	t.Helper()
	return testCompany{t, s, storetest.Company(t, s, t.Name())}
}

// with returns the company on another store of the same database.
func (f testCompany) with(s *store.Store) testCompany { return testCompany{f.t, s, f.c} }

func (f testCompany) provision(externalID, email string) (domain.Employee, domain.ProvisionStatus, error) {
	return f.s.Provision(f.t.Context(), f.c, domain.Provision{ExternalID: externalID, Email: email, Name: "Name of " + externalID})
}

// provisionAll provisions employees; see address for their addresses.
func (f testCompany) provisionAll(externalIDs ...string) {
	f.t.Helper()
	for _, id := range externalIDs {
		if _, _, err := f.provision(id, address(id)); err != nil {
			f.t.Fatalf("provision %s: %v", id, err)
		}
	}
}

func address(externalID string) string { return strings.ToLower(externalID) + "@x.test" }

func (f testCompany) employee(externalID string) domain.Employee {
	f.t.Helper()
	e, _, err := f.s.Employee(f.t.Context(), f.c.Company.ID, externalID)
	if err != nil && !errors.Is(err, domain.ErrLargeEmployee) {
		f.t.Fatalf("employee %s: %v", externalID, err)
	}
	return e
}

func (f testCompany) patch(externalID string, p domain.EmployeePatch) (domain.EmployeePatched, error) {
	return f.s.PatchEmployee(f.t.Context(), f.c, externalID, p)
}

func (f testCompany) offboard(externalID string) {
	f.t.Helper()
	if _, err := f.patch(externalID, domain.EmployeePatch{Active: ptr(false)}); err != nil {
		f.t.Fatalf("offboard %s: %v", externalID, err)
	}
}

func (f testCompany) erase(externalID string) error {
	return f.s.DeleteEmployee(f.t.Context(), f.c, externalID)
}

// addAssessment adds an assessment with a pass mark of 80 and two attempts.
func (f testCompany) addAssessment() int64 {
	return f.addCourse(domain.Course{Name: "Exam", IsAssessment: true, PassMark: 80_00, AllowedAttempts: 2})
}

func (f testCompany) addCourse(c domain.Course) int64 {
	f.t.Helper()
	id, err := f.s.AddCourse(f.t.Context(), f.c, c)
	if err != nil {
		f.t.Fatalf("add a course: %v", err)
	}
	return id
}

func (f testCompany) tryAssign(in domain.NewAssignment) (domain.Assignment, error) {
	results, err := f.s.Assign(f.t.Context(), f.c, []domain.BulkItem{{New: in}})
	if err != nil {
		return domain.Assignment{}, err
	}
	return results[0].Assignment, results[0].Err
}

func (f testCompany) assign(externalID, employee string, course int64) domain.Assignment {
	f.t.Helper()
	a, err := f.tryAssign(domain.NewAssignment{ExternalID: externalID, EmployeeExternalID: employee, CourseID: course})
	if err != nil {
		f.t.Fatalf("assign %s: %v", externalID, err)
	}
	return a
}

func (f testCompany) assignment(id int64) domain.Assignment {
	f.t.Helper()
	a, err := f.s.Assignment(f.t.Context(), f.c.Company.ID, id)
	if err != nil {
		f.t.Fatalf("assignment %d: %v", id, err)
	}
	return a
}

// report sends activities and returns the result of each: a status or an error code.
func (f testCompany) report(acts ...domain.Activity) []string {
	f.t.Helper()
	items := make([]domain.ActivityItem, len(acts))
	for i, a := range acts {
		items[i].Activity = a
	}
	results, err := f.s.RecordActivities(f.t.Context(), items)
	if err != nil {
		f.t.Errorf("record activities: %v", err) // not fatal: races call this
	}
	out := make([]string, len(results))
	for i, r := range results {
		out[i] = string(r.Status)
		if r.Err != nil {
			out[i] = string(domain.CodeOf(r.Err))
		}
	}
	return out
}

// events returns the company's events, the oldest first, as "kind externalId".
func (f testCompany) events() []string {
	f.t.Helper()
	return texts(f.t, f.s, `SELECT kind || ' ' || external_id FROM events WHERE company_id = $1 ORDER BY id`, f.c.Company.ID)
}

// audit returns the actions in the company's audit log, the oldest first.
func (f testCompany) audit() []string {
	f.t.Helper()
	return texts(f.t, f.s, `SELECT action FROM audit_entries WHERE company_id = $1 ORDER BY id`, f.c.Company.ID)
}

// texts returns the rows of a query with one text column.
func texts(t *testing.T, s *store.Store, sql string, args ...any) []string {
	t.Helper()
	return column[string](t, s, sql, args...)
}

func number(t *testing.T, s *store.Store, sql string, args ...any) int64 {
	t.Helper()
	all := column[int64](t, s, sql, args...)
	if len(all) != 1 {
		t.Fatalf("got %d rows, want 1: %s", len(all), sql)
	}
	return all[0]
}

func column[T any](t *testing.T, s *store.Store, sql string, args ...any) []T {
	t.Helper()
	out := []T{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var v T
		err := r.Scan(&v)
		out = append(out, v)
		return err
	}, sql, args...)
	if err := s.Engine().Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func change(t *testing.T, s *store.Store, sql string, args ...any) {
	t.Helper()
	err := s.Engine().Write(t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(t.Context(), sql, args...)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// race calls fn n times in parallel and waits for all calls.
func race(n int, fn func(i int)) {
	var ready, done sync.WaitGroup
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			fn(i)
		})
	}
	done.Wait()
}

// resultCounts counts the results of concurrent calls.
type resultCounts struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *resultCounts) add(what string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	if err != nil {
		if what = string(domain.CodeOf(err)); what == string(domain.CodeInternal) {
			what = err.Error()
		}
	}
	c.counts[what]++
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := difference(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// difference is cmp.Diff, which takes seconds for some thousand equal records under the
// race detector, and so is left out where the values are the same in every bit.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

func wantCode(t *testing.T, what string, err error, want domain.Code) {
	t.Helper()
	var e *domain.Error
	if !errors.As(err, &e) || e.Code != want {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}

func ptr[T any](v T) *T { return &v }

// before returns the instant that lies d before the database's clock.
func before(s *store.Store, d time.Duration) time.Time { return s.Now().Add(-d) }

func numbered(format string, from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}
