package postgres_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/postgres"
)

// backlogSQL adds pending deliveries of one company, a second apart until $1, as a receiver
// leaves them that is down, and an old one that was sent.
var backlogSQL = []string{
	`INSERT INTO companies (id, name, time_zone, default_deadline_days, created_at) VALUES (1, '', 'UTC', 30, $1)`,
	`INSERT INTO endpoints (company_id, id, url, description, events, secret, created_at, created_by, disabled_reason, lease_owner, lease_until)
		VALUES (1, 1, '', '', '[]', '', $1, '', '', '', $1)`,
	`INSERT INTO deliveries (company_id, id, endpoint_id, event_id, kind, state, attempts, round_start, due_at, created_at, status_code, error_kind, requested_by)
		SELECT 1, CAST(lpad(to_hex(CAST(extract(epoch FROM at) * 1000 AS bigint)), 12, '0') || lpad(to_hex(i), 20, '0') AS uuid), 1, i, 'kind ' || i % 6,
			state, 1, 0, at, at, 0, '', ''
		FROM (SELECT i, 'pending' AS state, CAST($1 AS timestamptz) - i * interval '1 second' AS at FROM generate_series(1, 20000) i
			UNION ALL SELECT 0, 'delivered', CAST($1 AS timestamptz) - interval '36 days') d`,
}

// buffers matches the numbers of pages in the line of a plan's first node.
var buffers = regexp.MustCompile(`\b(?:hit|read)=(\d+)`)

// How long it takes to see whether a partition may go, with the table of attempts locked,
// does not depend on how many deliveries are waiting.
func TestBacklogIsNotReadToDropAPartition(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	now := e.Now()
	for _, sql := range backlogSQL {
		if err := write(t, e, sql, now); err != nil {
			t.Fatal(err)
		}
	}
	days := func(n int) time.Time { return now.Add(-time.Duration(n) * 24 * time.Hour) }
	for _, c := range []struct {
		when       string
		from, to   time.Time
		hasPending bool
	}{
		{"before the backlog", days(40), days(30), false},
		{"of the backlog", days(1), now, true},
		{"between two deliveries", now.Add(-2*time.Second + 1*time.Millisecond), now.Add(-1*time.Second - 1*time.Millisecond), false},
	} {
		sql, args := postgres.PendingQuery(c.from, c.to)
		if got := strings.Join(lines(t, e, "SELECT CAST(p AS text) FROM ("+sql+") q (p)", args...), ""); got != strconv.FormatBool(c.hasPending) {
			t.Errorf("%s: a delivery is pending: %s, want %v", c.when, got, c.hasPending)
		}
		if c.when == "between two deliveries" {
			continue // maxIDSkew around it is the whole backlog
		}
		plan := strings.Join(lines(t, e, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) "+sql, args...), "\n")
		pages := 0
		for _, m := range buffers.FindAllStringSubmatch(strings.SplitN(plan, "\n", 3)[1], -1) {
			n, _ := strconv.Atoi(m[1])
			pages += n
		}
		if pages == 0 || pages > 60 {
			t.Errorf("%s: %d pages are read, want at most 60:\n%s", c.when, pages, plan)
		}
	}
}

// lines returns the rows of a query, each of which has one column.
func lines(t *testing.T, e *postgres.Engine, sql string, args ...any) (out []string) {
	t.Helper()
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var line string
		err := r.Scan(&line)
		out = append(out, line)
		return err
	}, sql, args...)
	if err := e.Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
		t.Fatal(err)
	}
	return out
}
