package storetest_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func keepPartitions(t *testing.T, s *store.Store, span time.Duration) {
	t.Helper()
	if err := s.Engine().AddPartitionsAhead(t.Context(), span); err != nil {
		t.Fatal(err)
	}
}

func dropPartitions(t *testing.T, s *store.Store, before time.Time) {
	t.Helper()
	if err := s.DropPartitions(t.Context(), before); err != nil {
		t.Fatal(err)
	}
}

// dropFirst removes the first partition, which lasts for a day in a new database.
func dropFirst(t *testing.T, s *store.Store) {
	t.Helper()
	storetest.Texts(t, s, `DROP TABLE delivery_attempts_first`)
}

type partition struct {
	Name     string
	From, To time.Time
}

// partitions returns those of the attempts without the default one. Their bounds are
// read from the digits of UUIDs.
func partitions(t *testing.T, s *store.Store) []partition {
	t.Helper()
	var out []partition
	for _, line := range storetest.Texts(t, s, `SELECT c.relname || ' ' || replace(pg_get_expr(c.relpartbound, c.oid), 'MINVALUE', '''00000000-0000-''')
		FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = CAST('delivery_attempts' AS regclass) AND c.relname <> 'delivery_attempts_rest' ORDER BY 1`) {
		name, bounds, _ := strings.Cut(line, " ")
		digits := strings.Split(strings.ReplaceAll(bounds, "-", ""), "'")
		out = append(out, partition{name, uuidTime(t, digits[1]), uuidTime(t, digits[3])})
	}
	slices.SortFunc(out, func(a, b partition) int { return a.From.Compare(b.From) })
	return out
}

func uuidTime(t *testing.T, digits string) time.Time {
	t.Helper()
	ms, err := strconv.ParseInt(digits[:12], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.UnixMilli(ms).UTC()
}

// deliver records a success for everything that is due.
func (h endpointFixture) deliver() {
	h.t.Helper()
	for _, d := range h.claim("me", 100).Due {
		h.record(h.result(d, domain.DeliveryDelivered))
	}
}

func TestPartitionsAreDroppedOnceAllOfThemExpired(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	h := newEndpointFixture(t, s)
	h.hire("e", 3)
	due := h.claim("me", 10).Due
	h.record(h.result(due[0], domain.DeliveryDelivered), h.result(due[1], domain.DeliveryFailed), h.result(due[2], domain.DeliveryPending))
	keepPartitions(t, s, 24*time.Hour)
	if got := partitions(t, s); len(got) != 3 || !got[1].From.Equal(got[0].To) || !got[2].From.Equal(got[1].To) || got[2].To.Before(s.Now().Add(48*time.Hour)) {
		t.Errorf("the first day and two ahead: %v", got)
	}
	attempts := func(want int) {
		t.Helper()
		if got := count(t, s, "delivery_attempts"); got != want {
			t.Errorf("%d attempts, want %d", got, want)
		}
	}
	afterFirst := s.Now().Add(25 * time.Hour)
	dropPartitions(t, s, afterFirst)
	attempts(3) // one is to be tried again
	change(t, s, `UPDATE deliveries SET state = 'failed' WHERE state = 'pending'`)
	dropPartitions(t, s, s.Now())
	attempts(3) // not expired
	dropPartitions(t, s, afterFirst)
	attempts(0)
	if got := partitions(t, s); len(got) != 2 {
		t.Errorf("left are %v, want the two ahead", got)
	}
	if got := h.delivery(due[0].ID); len(got.Tries) != 0 {
		t.Errorf("a delivery has attempts: %v", got.Tries)
	}
	h.hire("later", 1)
	h.deliver()
	attempts(1) // in the default partition
	if more, err := s.ExpireEvents(t.Context(), afterFirst); more || err != nil {
		t.Errorf("more %v, %v", more, err)
	}
	attempts(0)
}

// Where nobody adds partitions, nothing fails, and they begin later. A clock in another
// zone changes nothing.
func TestPartitionsThatAreLate(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	h := newEndpointFixture(t, s)
	dropFirst(t, s)
	h.hire("late", 3)
	h.deliver()
	for range 2 {
		keepPartitions(t, s, time.Hour)
	}
	got := partitions(t, s)
	if len(got) != 2 || got[0].From.Before(s.Now().Add(30*time.Second)) || got[0].From.After(s.Now().Add(time.Minute)) {
		t.Fatalf("the time is %s, and there is %v", s.Now(), got)
	}
	if want := got[0].From.Format("delivery_attempts_20060102_150405"); !strings.HasPrefix(got[0].Name, want) {
		t.Errorf("the name is %s, want %s…", got[0].Name, want)
	}
	h.hire("early", 3)
	h.deliver()
	if got := count(t, s, "delivery_attempts_rest"); got != 6 {
		t.Errorf("%d attempts, want 6", got)
	}
}

// A default partition that has grown large is proved to hold nothing of the new one
// while others write.
func TestPartitionsThatAreVeryLate(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	h := newEndpointFixture(t, s)
	dropFirst(t, s)
	change(t, s, `INSERT INTO delivery_attempts (company_id, delivery_id, number, url, started_at, duration_us, status_code, error_kind, error, request_headers, response_headers, response_body, requested_by)
		SELECT $1, CAST('01930000-0000-7000-8000-000000000000' AS uuid), n, '', $2, 0, 200, '', '', '[]', '[]', CAST(repeat('x', 1800) AS bytea), '' FROM generate_series(1, 40000) n`,
		h.c.Company.ID, s.Now())
	w := startWriters(t, h)
	w.waitFor(10)
	keepPartitions(t, s, time.Hour)
	w.waitFor(10)
	w.stop()
	if got := partitions(t, s); len(got) != 2 || got[0].From.Before(s.Now().Add(23*time.Hour)) {
		t.Errorf("the time is %s, and there is %v", s.Now(), got)
	}
	if left := storetest.Texts(t, s, `SELECT conname::text FROM pg_constraint WHERE conname LIKE '%!_bound' ESCAPE '!'`); len(left) > 0 {
		t.Errorf("constraints are left: %v", left)
	}
}

// The event of an erasure names the person. It goes when the retention ends, and does
// not wait for its partition.
func TestEventsOfErasuresExpireOnTheDay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newEndpointFixture(t, s)
		h.hire("e", 2)
		if err := s.DeleteEmployee(t.Context(), h.c, "e1"); err != nil {
			t.Fatal(err)
		}
		h.deliver()
		change(t, s, `UPDATE events SET occurred_at = $1`, s.Now().Add(-31*24*time.Hour))
		if more, err := s.ExpireRemovals(t.Context(), s.Now().Add(-30*24*time.Hour)); more || err != nil {
			t.Errorf("more %v, %v", more, err)
		}
		left := storetest.Texts(t, s, `SELECT kind || ' ' || external_id FROM events ORDER BY id`)
		if got, want := strings.Join(left, ", "), "employee.joined e0, employee.joined "; got != want {
			t.Errorf("left are %q, want %q", got, want)
		}
	})
}
