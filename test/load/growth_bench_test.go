package load

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// growthSmall is the number of assignments of the small company.
const growthSmall = 10_000

// formEnv selects how long the benchmarks take; scripts/bench.sh documents it.
const formEnv = "BENCH_FORM"

func fullForm() bool  { return os.Getenv(formEnv) == "full" }
func shortForm() bool { return os.Getenv(formEnv) == "short" }

// sizeEnv sets the number of assignments of the large company.
const sizeEnv = "COURSEBRIDGE_BENCH_GROWTH"

func growthLarge(b *testing.B, engine string) int {
	b.Helper()
	size := 1_000_000
	switch {
	case engine == "sqlite" || shortForm():
		size = 500_000
	case fullForm():
		size = 5_000_000
	}
	return envNumber(b, sizeEnv, size)
}

const (
	// maxGrowth is how many times as much an operation may cost in the large company.
	maxGrowth = 1.5
	// maxPaceGrowth is the same for bulks and reports, which keep 80 % of their pace.
	maxPaceGrowth = 1.25
)

// beforeGrowthSQL and afterGrowthSQL let a company be filled without checking foreign keys,
// keeping totals and inserting into the indexes of assignments, which would take longer than
// all else.
var (
	beforeGrowthSQL = []string{
		`SET session_replication_role = replica`,
		`CREATE TEMP TABLE dropped AS SELECT indexname, indexdef FROM pg_indexes
			WHERE schemaname = 'public' AND tablename = 'assignments' AND indexname <> 'assignments_pkey'`,
		`DO $$ DECLARE i record; BEGIN FOR i IN SELECT * FROM dropped LOOP EXECUTE 'DROP INDEX ' || i.indexname; END LOOP; END $$`,
	}
	afterGrowthSQL = []string{
		`DO $$ DECLARE i record; BEGIN FOR i IN SELECT * FROM dropped LOOP EXECUTE i.indexdef; END LOOP; END $$`,
		`VACUUM ANALYZE`,
	}
)

// rareCourseEvery is how many assignments there are for one of the rare course. It has no
// factor in common with the number of statuses, so that the rare course has all of them.
const rareCourseEvery = 997

// growthSQL fills a company on PostgreSQL with the keys that storetest.Fill uses. Records are
// a second apart. One assignment of 1,000 needs another attempt; two of five are assigned, and
// each other status has a fifth.
var growthSQL = []string{
	`INSERT INTO accounts SELECT 'person' || (i - 1) || '.' || @company::bigint || '@example.com', @now FROM generate_series(1, @employees::bigint) i`,
	`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, name_folded, last_name_folded, role, tags, joined_at, updated_at)
		SELECT @company::bigint, i, 'emp-' || (i - 1), 'person' || (i - 1) || '.' || @company::bigint || '@example.com',
			'person' || (i - 1) || '.' || @company::bigint || '@example.com',
			'Name ' || i, 'name ' || i, i::text, 'employee', CASE WHEN i % 3 = 1 THEN '["third"]' ELSE '[]' END, @now::timestamptz, @now::timestamptz
		FROM generate_series(1, @employees::bigint) i`,
	`INSERT INTO employee_tags SELECT @company, 'third', i FROM generate_series(1, @employees::bigint, 3) i`,
	`INSERT INTO assignments (company_id, id, external_id, employee_id, course_id, status, percent, attempts, granted_attempts,
			is_required, assigned_at, deadline, asked_deadline, asked_required, updated_at, live_at_most,
			started_at, attempt_at, last_activity_at, ended_at, completed_at, score)
		SELECT @company, i, 'asg-' || (i - 1), 1 + i % @employees::bigint, CASE WHEN i % @every = 0 THEN @rare::bigint ELSE @course::bigint END,
			k.status, 0, CASE WHEN k.ended THEN 1 ELSE 0 END, 0, true, t.at, t.at + interval '1 year', t.at, true, t.at, 1 + i / @employees::bigint,
			CASE WHEN k.begun THEN t.at END, CASE WHEN k.begun THEN t.at END, CASE WHEN k.begun THEN t.at END,
			CASE WHEN k.ended THEN t.at END, CASE WHEN k.status IN ('completed', 'failed') THEN t.at END, CASE WHEN k.ended THEN 5000 END
		FROM generate_series(1, @size::bigint) i
		CROSS JOIN LATERAL (VALUES ('assigned', 0, false, false), ('started', 1, true, false), ('completed', 2, true, true),
			('failed', 3, true, true), ('needs_retry', 4, true, true)) k (status, n, begun, ended)
		CROSS JOIN LATERAL (SELECT @now::timestamptz - (@size - i) * interval '1 second') t (at)
		WHERE k.n = CASE WHEN i % 5 = 4 AND i % 1000 <> 4 THEN 0 ELSE i % 5 END`,
	`SELECT setval('employee_ids', @employees::bigint)`,
	`SELECT setval('assignment_ids', @size::bigint)`,
}

// grownCompany is a filled company and a client of its server.
type grownCompany struct {
	company
	size, employees int
	rareCourseID    int64
	newest          time.Time // about when the last assignment changed; each one before did so a second earlier
	platformToken   string
	server          *program
	cost            *costMeter
	client          *client
	made            *atomic.Int64
}

// newGrownCompany fills a company.
func newGrownCompany(b *testing.B, engine string, size int) *grownCompany {
	b.Helper()
	g := &grownCompany{company: newCompany(b, engines[engine](b)), size: size, made: &atomic.Int64{}}
	g.rareCourseID = runJSON[struct{ CourseID int64 }](b, g.database, "course", "add", "--company", formatID(g.id), "--name", "Rarely assigned").CourseID
	if engine == "postgres" {
		g.fillPostgres(b)
	} else {
		g.fillSQLite(b)
	}
	// The server would add up the totals of all records while the first requests are measured.
	runJSON[struct{ Repaired bool }](b, g.database, "check", "--repair")
	g.platformToken = runJSON[struct{ Token string }](b, g.database, "platform-token", "create", "--name", "load").Token
	return g
}

// serve starts the company's server and connects the client, once the server has done what
// it does after its start: it gathers statistics and figures, 5 s of processor time for
// 500,000 assignments on SQLite.
func (g *grownCompany) serve(b *testing.B) {
	b.Helper()
	g.server = serve(b, g.database)
	g.cost = newCostMeter(b, g.server, g.database)
	for busy, end := g.cost.total(b), time.Now().Add(2*time.Minute); time.Now().Before(end); {
		time.Sleep(3 * time.Second)
		before := busy
		if busy = g.cost.total(b); busy-before < 60*time.Millisecond {
			break
		}
	}
	g.client = newFleet(b, g.server.address, 1)[0]
}

func (g *grownCompany) fillPostgres(b *testing.B) {
	b.Helper()
	g.employees, g.newest = g.size/10, time.Now()
	conn := connect(b, g.database)
	for _, sql := range slices.Concat(beforeGrowthSQL, growthSQL, afterGrowthSQL) {
		args := pgx.NamedArgs{
			"company": g.id, "course": g.courseID, "rare": g.rareCourseID, "every": rareCourseEvery,
			"employees": g.employees, "size": g.size, "now": g.newest,
		}
		if _, err := conn.Exec(b.Context(), sql, args); err != nil {
			b.Fatalf("%s: %v", sql, err)
		}
	}
}

// fillSQLite makes a fifth as many employees as assignments. Their last change is up to nine
// hours after they were assigned. All statuses are as frequent.
func (g *grownCompany) fillSQLite(b *testing.B) {
	b.Helper()
	g.employees, g.newest = g.size/5, storetest.FilledFrom.Add(9*time.Hour+time.Duration(g.size)*time.Second)
	s := storetest.Open(b, g.database)
	g.courseID = storetest.Fill(b, s, g.id, storetest.Size{Employees: g.employees, Courses: 1, Assignments: g.size}).Courses[0]
	err := s.Engine().Write(b.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(b.Context(), `INSERT INTO course_grants (company_id, course_id, granted_at) VALUES ($1, $2, $3)`, g.id, g.courseID, s.Now())
		if err == nil {
			_, err = tx.Exec(b.Context(), `UPDATE assignments SET course_id = $2 WHERE company_id = $1 AND id % $3 = 0`, g.id, g.rareCourseID, rareCourseEvery)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkGrowth compares the cost of every kind of request in a small and in a
// large company, each in a database of its own. SQLite is measured up to 100,000
// employees with 500,000 assignments.
func BenchmarkGrowth(b *testing.B) {
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			small, large := newGrownCompany(b, engine, growthSmall), newGrownCompany(b, engine, growthLarge(b, engine))
			small.serve(b)
			large.serve(b)
			for b.Loop() {
				for _, op := range growthReads {
					op.compare(b, engine, small, large)
				}
				for _, r := range growthReports {
					r.compare(b, engine, small, large)
				}
				for _, op := range growthChanges { // after the reports, which are divided by the numbers of rows
					op.compare(b, engine, small, large)
				}
			}
		})
	}
}

// maxOperationTime bounds how long the rounds of one operation go on. A list whose total is
// counted among a million assignments would take minutes.
const maxOperationTime = 20 * time.Second

// compare sends requests to both companies, in several rounds: the median of their ratios
// hardly notices what else the machine and the servers do. A slow operation gets fewer rounds
// of fewer requests.
func (op growthOperation) compare(b *testing.B, engine string, small, large *grownCompany) {
	b.Helper()
	requests := 30
	if shortForm() {
		requests = 10
	}
	if op.requests > 0 {
		requests = min(requests, op.requests)
	}
	rest()
	for _, g := range []*grownCompany{small, large} { // the server has closed connections that were idle during a report
		g.client = newFleet(b, g.server.address, 1)[0]
	}
	began := time.Now()
	op.round(b, 1, small, large) // warms up
	requests = min(requests, max(1, int(maxOperationTime/time.Since(began)/5)))
	op.round(b, requests, small, large) // warms up too
	var rounds [][2]cost
	for len(rounds) == 0 || len(rounds) < 5 && time.Since(began) < maxOperationTime {
		rounds = append(rounds, op.round(b, requests, small, large))
	}
	recordFactor(fmt.Sprintf("%s, %s, %d against %d", op.name, engine, large.size, small.size), op.most(), rounds...)
}

// round sends requests to the companies alternately and returns what one costs each.
func (op growthOperation) round(b *testing.B, requests int, companies ...*grownCompany) (costs [2]cost) {
	b.Helper()
	var took [2][]time.Duration
	var before [2]time.Duration
	for k, g := range companies {
		before[k] = g.cost.total(b)
	}
	for range requests {
		for k, g := range companies {
			request := op.request(g)
			began := time.Now()
			if err := g.client.do(request); err != nil {
				b.Fatalf("%s: %v", op.name, err)
			}
			took[k] = append(took[k], time.Since(began))
		}
	}
	for k, g := range companies {
		costs[k] = cost{wall: percentile(took[k], 0.5), work: g.cost.since(b, before[k], requests)}
	}
	return costs
}

// growthReport is a report whose rows must cost no more in a large company.
type growthReport struct {
	path string
	rows func(g *grownCompany) int
}

var growthReports = []growthReport{
	{"assignments.csv", func(g *grownCompany) int { return g.size }},
	{"assignments.csv?status=completed", func(g *grownCompany) int { return g.size / 5 }},
	{"assignments.xlsx", func(g *grownCompany) int { return g.size }},
	{"employees.csv", func(g *grownCompany) int { return g.employees }},
}

// compare compares what a row of the report costs. A report that takes long is made once.
func (r growthReport) compare(b *testing.B, engine string, small, large *grownCompany) {
	b.Helper()
	row := func(g *grownCompany, times int) cost {
		rows := times * r.rows(g)
		before, began := g.cost.total(b), time.Now()
		for range times {
			if _, err := (reportCompany{company: g.company}).fetch(b.Context(), g.server.address, r.path); err != nil {
				b.Fatal(err)
			}
		}
		return cost{wall: time.Since(began).Seconds() * 1000 / float64(rows), work: g.cost.since(b, before, rows)}
	}
	row(small, 1) // warms up
	var rounds [][2]cost
	for began := time.Now(); len(rounds) == 0 || len(rounds) < 3 && time.Since(began) < 20*time.Second && !shortForm(); {
		rest()
		rounds = append(rounds, [2]cost{row(small, 10), row(large, 1)})
	}
	recordFactor(fmt.Sprintf("a row of %s, %s, %d against %d", r.path, engine, large.size, small.size), maxPaceGrowth, rounds...)
}
