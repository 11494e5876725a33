package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// manyRows is more than one step of the retention removes.
const manyRows = 1200

func TestAuditEntriesExpire(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		companies := []testCompany{newTestCompany(t, s), newTestCompany(t, s), newTestCompany(t, s)}
		limit := before(s, time.Hour)
		for i, c := range companies {
			c.join("E1", "e1")
			if i == 1 {
				continue // a company that has nothing old
			}
			change(t, s, `INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id,
					employee_id, request_id, address, detail)
				WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
				SELECT $1, $2, 'token', 1, '', 'old', '', '', 0, '', '', '' FROM n`, c.c.Company.ID, limit.Add(-time.Millisecond))
			change(t, s, `INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id,
					employee_id, request_id, address, detail)
				VALUES ($1, $2, 'token', 1, '', 'at the limit', '', '', 0, '', '', '')`, c.c.Company.ID, limit)
		}
		watched, r := recordStatements(s)
		statements := r.during(t, func() error { return watched.ExpireAudit(t.Context(), limit) })
		if len(statements) < 2*manyRows/500 {
			t.Errorf("%d entries were removed by %d statements, want small steps", 2*manyRows, len(statements))
		}
		for i, c := range companies {
			want := []string{"employee.provisioned", "at the limit"}
			if i == 1 {
				want = want[:1]
			}
			equal(t, fmt.Sprintf("entries of company %d", i), c.audit(), want)
		}
		if err := s.ExpireAudit(t.Context(), limit); err != nil {
			t.Error(err)
		}
	})
}

func TestActivitiesExpire(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		a := f.assign("A1", "E1", f.addAssessment())
		acts := make([]domain.Activity, manyRows)
		for i := range acts {
			acts[i] = progress(fmt.Sprintf("old %d", i), a.ID, time.Time{}, 10_00)
		}
		f.report(acts[:1000]...)
		f.report(acts[1000:]...)
		waitUntil(t, s, s.Now().Add(2*time.Millisecond))
		limit := s.Now()
		f.report(progress("new", a.ID, time.Time{}, 20_00))
		if err := s.ExpireActivities(t.Context(), limit); err != nil {
			t.Fatal(err)
		}
		equal(t, "activities", texts(t, s, `SELECT id FROM activities`), []string{"new"})
	})
}

// What expired on SQLite leaves free pages, which new rows use, and compacting returns
// to the file system.
func TestFileShrinksAfterRetention(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	f := newTestCompany(t, s)
	size := func() int64 {
		t.Helper()
		n, err := s.Engine().Size(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	fill := func(first int) {
		t.Helper()
		change(t, s, `INSERT INTO events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)
			WITH RECURSIVE n (i) AS (SELECT $1 UNION ALL SELECT i + 1 FROM n WHERE i < $1 + 4000)
			SELECT $2, i, 'employee.joined', $3, 0, 0, 'old', zeroblob(1000) FROM n`, first, f.c.Company.ID, before(s, time.Hour))
	}
	expire := func() {
		t.Helper()
		for more := true; more; {
			var err error
			if more, err = s.ExpireEvents(t.Context(), s.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	empty := size()
	fill(1_000_000)
	filled := size()
	expire()
	fill(2_000_000)
	if again := size(); again > filled+filled/10 {
		t.Errorf("%d bytes after the first month, %d after the second: free pages are not used again", filled, again)
	}
	expire()
	if err := s.Engine().Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := size(); filled < empty+4_000_000 || left > empty+empty/10 {
		t.Errorf("%d bytes when empty, %d when filled, %d after retention and compacting", empty, filled, left)
	}
}
