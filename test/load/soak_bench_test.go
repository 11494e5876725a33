package load

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// soakRequests is how many requests a second the soak sends: few, so that what it measures
// is how tables age, not how fast the machine is.
const soakRequests = 30

// soakTime is how long the soak takes: COURSEBRIDGE_SOAK=20m for a long one.
func soakTime(b *testing.B) time.Duration {
	b.Helper()
	text := os.Getenv("COURSEBRIDGE_SOAK")
	if text == "" {
		return 20 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// tableState is what PostgreSQL knows of a table; partitions are added up.
type tableState struct {
	heap, index           int64 // bytes
	live, dead            int64 // rows
	inserted, deleted     int64
	updated, updatedInRow int64 // rows; the second are HOT updates, which touch no index
	vacuums               int64
}

const tableStatesSQL = `SELECT coalesce(p.relname, c.relname)::text, sum(pg_table_size(c.oid))::bigint, sum(pg_indexes_size(c.oid))::bigint,
		sum(s.n_live_tup)::bigint, sum(s.n_dead_tup)::bigint, sum(s.n_tup_ins)::bigint, sum(s.n_tup_del)::bigint,
		sum(s.n_tup_upd)::bigint, sum(s.n_tup_hot_upd)::bigint, sum(s.autovacuum_count)::bigint
	FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
	LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
	WHERE c.relkind = 'r' GROUP BY 1`

func tableStates(b *testing.B, conn *pgx.Conn) map[string]tableState {
	b.Helper()
	rows, err := conn.Query(b.Context(), tableStatesSQL)
	if err != nil {
		b.Fatal(err)
	}
	out := map[string]tableState{}
	var name string
	var s tableState
	_, err = pgx.ForEachRow(rows, []any{&name, &s.heap, &s.index, &s.live, &s.dead, &s.inserted, &s.deleted, &s.updated, &s.updatedInRow, &s.vacuums},
		func() error { out[name] = s; return nil })
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// soak is a server with steady load, a retention that ends again and again, and a minute's
// measurements at a time.
type soak struct {
	*mixedLoad
	conn *pgx.Conn
	// minutes is into how many parts the time is divided; a short soak has short minutes.
	minutes int
	minute  time.Duration

	mu     sync.Mutex
	took   []time.Duration // of this minute
	p95    []float64
	work   []float64 // processor time of a request in microseconds
	tables []map[string]tableState
}

// request returns a random request. Most of them change rows that exist, so that tables
// need not grow.
func (l *soak) request() []byte {
	switch n := rand.IntN(100); {
	case n < 35:
		return l.get(fmt.Sprintf("/employees/emp-%d", l.randomEmployee()))
	case n < 45:
		return l.get(fmt.Sprintf("/assignments?status=started&employeeExternalId=emp-%d", l.randomEmployee()))
	case n < 65:
		body := fmt.Appendf(nil, `{"name":"Renamed %d"}`, l.unused())
		request := post(fmt.Sprintf("/api/v1/employees/emp-%d", l.randomEmployee()), l.token, body)
		return append([]byte("PATCH"), request[len("POST"):]...)
	case n < 90:
		items := make([]string, 10)
		for i := range items {
			items[i] = fmt.Sprintf(`{"id":"act-%d","assignmentId":%d,"type":"progress","completionPercent":%d}`,
				l.unused(), 1+l.randomAssignment(), 10+10*rand.IntN(10))
		}
		return post("/platform/v1/activities", l.platformToken, []byte(`{"items":[`+strings.Join(items, ",")+`]}`))
	case n < 95:
		return l.post("/employees/provision", `{"externalId":"n-%d","email":"n-%[1]d@grow.test","name":"New %[1]d"}`, l.unused())
	}
	return l.post("/assignments", `{"employeeExternalId":"emp-%d","courseId":%d,"externalId":"n-%d"}`, l.randomEmployee(), l.courseID, l.unused())
}

// send sends requests at a steady rate until ctx ends.
func (l *soak) send(ctx context.Context, b *testing.B) {
	b.Helper()
	due := make(chan time.Time, 1<<16)
	var senders sync.WaitGroup
	for _, c := range l.clients {
		senders.Go(func() {
			for range due {
				began := time.Now()
				if err := c.do(l.request()); err != nil {
					b.Log(err)
					l.failed.Add(1)
				}
				l.mu.Lock()
				l.took = append(l.took, time.Since(began))
				l.mu.Unlock()
			}
		})
	}
	tick := time.NewTicker(time.Second / soakRequests)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			close(due)
			senders.Wait()
			return
		case at := <-tick.C:
			due <- at
		}
	}
}

// expire does what servers do for retention, with one that lasts for two minutes.
func (l *soak) expire(ctx context.Context, b *testing.B) {
	b.Helper()
	s := storetest.Open(b, l.database)
	retention, rounds := 2*l.minute, 0
	for ctx.Err() == nil {
		old := s.Now().Add(-retention)
		errs := []error{
			s.AddPartitionsAhead(ctx, retention), s.DropPartitions(ctx, old), s.ExpireAPIRequests(ctx, old), s.ExpireActivities(ctx, old),
		}
		for more := true; more; {
			var err error
			more, err = s.ExpireEvents(ctx, s.Now().Add(-s.RowRetention(retention)))
			errs = append(errs, err)
		}
		for _, err := range errs {
			if err != nil && ctx.Err() == nil {
				b.Error("retention:", err)
				return
			}
		}
		rounds++
		select {
		case <-ctx.Done():
		case <-time.After(l.minute / 6):
		}
	}
	b.Logf("%d rounds of retention", rounds)
}

// resetStorage takes all settings of tables away, as they were before they had any.
func resetStorage(b *testing.B, conn *pgx.Conn) {
	b.Helper()
	rows, err := conn.Query(b.Context(), `SELECT format('ALTER TABLE %I RESET (%s)', c.relname, (SELECT string_agg(split_part(o, '=', 1), ', ') FROM unnest(c.reloptions) o))
		FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.reloptions IS NOT NULL AND c.relname <> 'total_changes'`)
	if err != nil {
		b.Fatal(err)
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		b.Fatal(err)
	}
	for _, sql := range append(statements, "VACUUM FULL ANALYZE") {
		if _, err := conn.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
}

// measure prints what the minute was like: requests, the largest tables, processor time.
func (l *soak) measure(b *testing.B, minute int, work, database time.Duration) {
	b.Helper()
	l.mu.Lock()
	took := l.took
	l.took = nil
	l.mu.Unlock()
	states := tableStates(b, l.conn)
	l.tables = append(l.tables, states)
	size, dead := int64(0), int64(0)
	for _, s := range states {
		size, dead = size+s.heap+s.index, dead+s.dead
	}
	l.p95 = append(l.p95, percentile(took, 0.95))
	l.work = append(l.work, float64((work+database).Microseconds())/float64(len(took)))
	b.Logf("minute %2d: %5d requests, p50 %6.1f ms, p95 %6.1f ms; %6.1f MB, %6d dead rows; processor time of the server %4.1f s, of PostgreSQL %4.1f s",
		minute, len(took), percentile(took, 0.5), percentile(took, 0.95), float64(size)/(1<<20), dead, work.Seconds(), database.Seconds())
}

// print prints what has become of each table that changed.
func (l *soak) print(b *testing.B) {
	b.Helper()
	first, middle, last := l.tables[0], l.tables[len(l.tables)/3], l.tables[len(l.tables)-1]
	names := slices.SortedFunc(maps.Keys(last), func(x, y string) int {
		return int(last[y].updated + last[y].deleted - last[x].updated - last[x].deleted)
	})
	kb := func(n int64) string { return fmt.Sprintf("%d", n>>10) }
	b.Logf("%-22s %9s %9s %9s %5s %9s %8s %29s %29s", "table", "inserted", "updated", "deleted", "HOT", "dead", "vacuums",
		"heap KB (0, 1/3, end)", "indexes KB (0, 1/3, end)")
	for _, name := range names {
		s := last[name]
		if s.updated+s.deleted+s.inserted == 0 {
			continue
		}
		hot := "-"
		if s.updated > 0 {
			hot = fmt.Sprintf("%.0f%%", 100*float64(s.updatedInRow)/float64(s.updated))
		}
		b.Logf("%-22s %9d %9d %9d %5s %9d %8d %9s %9s %9s %9s %9s %9s", name, s.inserted, s.updated, s.deleted, hot, s.dead, s.vacuums,
			kb(first[name].heap), kb(middle[name].heap), kb(s.heap), kb(first[name].index), kb(middle[name].index), kb(s.index))
	}
}

// BenchmarkSoak sends a steady load for COURSEBRIDGE_SOAK and prints, minute by minute, how
// the tables age. With COURSEBRIDGE_SOAK_PLAIN=1 it does so without the settings of
// migration 37.
func BenchmarkSoak(b *testing.B) {
	l := &soak{mixedLoad: newSoakLoad(b), minutes: 20}
	l.conn, l.minute = connect(b, l.database), time.Minute
	total := soakTime(b)
	if l.minutes = int(total / time.Minute); l.minutes < 6 {
		l.minutes, l.minute = 6, total/6
	}
	if os.Getenv("COURSEBRIDGE_SOAK_PLAIN") != "" {
		resetStorage(b, l.conn)
	}
	l.start(b)
	master := postmaster(b, l.conn)
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		var running sync.WaitGroup
		running.Go(func() { l.send(ctx, b) })
		running.Go(func() { l.expire(ctx, b) })
		work, database := processTime(b, l.server.cmd.Process.Pid), processTime(b, master)
		for minute := range l.minutes {
			<-time.After(l.minute)
			workNow, databaseNow := processTime(b, l.server.cmd.Process.Pid), processTime(b, master)
			l.measure(b, minute+1, workNow-work, databaseNow-database)
			work, database = workNow, databaseNow
		}
		cancel()
		running.Wait()
		l.print(b)
		l.recordAging(b)
	}
}

// newSoakLoad fills a company. A table of attempts that was there before lasts for a day,
// and would keep what it got.
func newSoakLoad(b *testing.B) *mixedLoad {
	b.Helper()
	l := &mixedLoad{grownCompany: newGrownCompany(b, "postgres", envNumber(b, sizeEnv, 200_000))}
	if _, err := connect(b, l.database).Exec(b.Context(), `DROP TABLE delivery_attempts_first`); err != nil {
		b.Fatal(err)
	}
	return l
}

func (l *soak) start(b *testing.B) {
	b.Helper()
	for range 2 {
		r := newReceiver(b, 0)
		for _, kind := range []string{"employee.joined", "assignment.created", "assignment.completed"} {
			l.addWebhook(b, r.url, kind)
		}
	}
	l.server = serve(b, l.database)
	l.clients = newFleet(b, l.server.address, connections)
}

// steadyTables have as many rows at the end of the soak as in its middle. The load adds
// rows to the others.
var steadyTables = []string{
	"activities", "api_request_hours", "api_requests", "deliveries", "delivery_attempts", "endpoints", "events", "leases", "tokens", "total_changes",
}

// recordAging records how much larger and slower the last third is than the second one.
func (l *soak) recordAging(b *testing.B) {
	b.Helper()
	third := len(l.tables) / 3
	size := func(minutes []map[string]tableState) float64 {
		var sizes []float64
		for _, states := range minutes {
			sum := int64(0)
			for _, name := range steadyTables {
				sum += states[name].heap + states[name].index
			}
			sizes = append(sizes, float64(sum))
		}
		return median(sizes)
	}
	below(b, "soak: failed requests", float64(l.failed.Load()), 1, "failed")
	below(b, "soak: size of the tables that retention empties, last third against the second", size(l.tables[2*third:])/size(l.tables[third:2*third]), 1.1, "times-size")
	grown := func(minutes []float64) float64 { return median(minutes[2*third:]) / median(minutes[third:2*third]) }
	p95 := grown(l.p95)
	figure{
		What: "soak: p95, last third against the second", Value: p95, Unit: "times-p95", Sign: "<", Target: 1.5,
		Wall: p95, ProcessorTime: grown(l.work), Cost: median(l.work[2*third:]), Per: "request with its webhooks and retention",
	}.record(b)
}
