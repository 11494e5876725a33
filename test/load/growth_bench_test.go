package load

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// growthSmall is the number of assignments of the small company.
const growthSmall = 10_000

// fullForm reports whether the benchmarks may take half an hour.
func fullForm() bool { return os.Getenv("BENCH_FORM") == "full" }

// shortForm reports whether the benchmarks should take three minutes in all.
func shortForm() bool { return os.Getenv("BENCH_FORM") == "short" }

// sizeEnv sets the number of assignments of the large company.
const sizeEnv = "COURSEBRIDGE_BENCH_GROWTH"

func growthLarge(b *testing.B, engine string) int {
	b.Helper()
	size := 1_000_000
	switch {
	case engine == "sqlite":
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

// growthSQL fills a company on PostgreSQL with the keys that storetest.Fill uses. Records are
// a second apart.
var growthSQL = []string{
	`INSERT INTO accounts SELECT 'person' || (i - 1) || '.' || $1::bigint || '@example.com', now() FROM generate_series(1, $2::bigint / 10) i WHERE $3::bigint > 0`,
	`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, name_folded, last_name_folded, role, tags, joined_at, updated_at)
		SELECT $1::bigint, i, 'emp-' || (i - 1), 'person' || (i - 1) || '.' || $1::bigint || '@example.com', 'person' || (i - 1) || '.' || $1::bigint || '@example.com',
			'Name ' || i, 'name ' || i, i::text, 'employee', CASE WHEN i % 3 = 1 THEN '["third"]' ELSE '[]' END, now(), now()
		FROM generate_series(1, $2::bigint / 10) i WHERE $3::bigint > 0`,
	`INSERT INTO employee_tags SELECT $1, 'third', i FROM generate_series(1, $2::bigint / 10, 3) i WHERE $3::bigint > 0`,
	`INSERT INTO assignments (company_id, id, external_id, employee_id, course_id, status, percent, attempts, granted_attempts,
			is_required, assigned_at, deadline, asked_deadline, asked_required, updated_at, live_at_most,
			started_at, attempt_at, last_activity_at, ended_at, completed_at, score)
		SELECT $1, i, 'asg-' || (i - 1), 1 + i % ($2::bigint / 10), $3, k.status, 0, CASE WHEN k.ended THEN 1 ELSE 0 END, 0,
			true, t.at, t.at + interval '1 year', t.at, true, t.at, 1 + i / ($2 / 10),
			CASE WHEN k.begun THEN t.at END, CASE WHEN k.begun THEN t.at END, CASE WHEN k.begun THEN t.at END,
			CASE WHEN k.ended THEN t.at END, CASE WHEN k.status IN ('completed', 'failed') THEN t.at END, CASE WHEN k.ended THEN 5000 END
		FROM generate_series(1, $2::bigint) i
		CROSS JOIN LATERAL (VALUES ('assigned', 0, false, false), ('started', 1, true, false), ('completed', 2, true, true),
			('failed', 3, true, true), ('needs_retry', 4, true, true)) k (status, n, begun, ended)
		CROSS JOIN LATERAL (SELECT now() - ($2 - i) * interval '1 second') t (at)
		WHERE k.n = i % 5`,
	`SELECT setval('employee_ids', $2::bigint) WHERE $1::bigint > 0 AND $3::bigint > 0`,
	`SELECT setval('assignment_ids', $2::bigint) WHERE $1::bigint > 0 AND $3::bigint > 0`,
}

// grownCompany is a filled company and a client of its server.
type grownCompany struct {
	company
	size, employees int
	half            time.Time // half of the assignments were changed since then
	platformToken   string
	server          *program
	client          *client
	made            *atomic.Int64
	backends        func() time.Duration // the processor time of the database's own processes
}

// newGrownCompany fills a company.
func newGrownCompany(b *testing.B, engine string, size int) *grownCompany {
	b.Helper()
	g := &grownCompany{company: newCompany(b, engines[engine](b)), size: size, made: &atomic.Int64{}}
	g.backends = func() time.Duration { return 0 }
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
	for busy, end := g.work(b), time.Now().Add(2*time.Minute); time.Now().Before(end); {
		time.Sleep(3 * time.Second)
		before := busy
		if busy = g.work(b); busy-before < 60*time.Millisecond {
			break
		}
	}
	g.client = newFleet(b, g.server.address, 1)[0]
}

func (g *grownCompany) fillPostgres(b *testing.B) {
	b.Helper()
	g.employees, g.half = g.size/10, time.Now().Add(-time.Duration(g.size/2)*time.Second)
	conn := connect(b, g.database)
	run := func(statements []string, args ...any) {
		for _, sql := range statements {
			if _, err := conn.Exec(b.Context(), sql, args...); err != nil {
				b.Fatalf("%s: %v", sql, err)
			}
		}
	}
	run(beforeGrowthSQL)
	run(growthSQL, g.id, g.size, g.courseID)
	run(afterGrowthSQL)
	g.backends = func() time.Duration { return backendWork(b, conn) }
}

// fillSQLite makes a fifth as many employees as assignments.
func (g *grownCompany) fillSQLite(b *testing.B) {
	b.Helper()
	g.employees, g.half = g.size/5, storetest.FilledFrom.Add(time.Duration(g.size/2)*time.Second)
	s := storetest.Open(b, g.database)
	g.courseID = storetest.Fill(b, s, g.id, storetest.Size{Employees: g.employees, Courses: 1, Assignments: g.size}).Courses[0]
	err := s.Engine().Write(b.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(b.Context(), `INSERT INTO course_grants (company_id, course_id, granted_at) VALUES ($1, $2, $3)`, g.id, g.courseID, s.Now())
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
		if engine == "sqlite" && shortForm() {
			continue
		}
		b.Run(engine, func(b *testing.B) {
			small, large := newGrownCompany(b, engine, growthSmall), newGrownCompany(b, engine, growthLarge(b, engine))
			small.serve(b)
			large.serve(b)
			for b.Loop() {
				for _, op := range growthOperations {
					op.compare(b, engine, small, large)
				}
				for _, report := range []string{"assignments.csv", "employees.csv"} {
					compareReports(b, report, small, large)
				}
			}
		})
	}
}

// growth is what an operation costs in the two companies.
type growth struct {
	what         string
	small, large float64 // medians in milliseconds
	work         float64 // how many times as much processor time it takes in the large company, 0 if unknown
	most         float64
}

// record records the figure. On a machine with other load the wall time says little, so
// that an operation also passes by its processor time.
func (g growth) record() {
	reached := g.large/g.small <= g.most || g.work > 0 && g.work <= g.most
	measured := fmt.Sprintf("%.2f times (%.3g against %.3g ms", g.large/g.small, g.large, g.small)
	if g.work > 0 {
		measured += fmt.Sprintf("; processor time %.2f times", g.work)
	}
	results.add(figure{what: g.what, got: measured + ")", want: fmt.Sprintf("<= %.2f", g.most), reached: reached})
}

// compare sends requests to both companies alternately. Medians of single requests
// hardly notice other load on the machine.
func (op growthOperation) compare(b *testing.B, engine string, small, large *grownCompany) {
	b.Helper()
	const warmUp, samples = 20, 150
	companies := [2]*grownCompany{small, large}
	var took [2][]time.Duration
	var work [2]time.Duration
	for i := range warmUp + samples {
		if i == warmUp {
			for k, g := range companies {
				work[k] = -g.work(b)
			}
		}
		for k, g := range companies {
			request := op.request(g)
			began := time.Now()
			if err := g.client.do(request); err != nil {
				b.Fatalf("%s: %v", op.name, err)
			}
			if i >= warmUp {
				took[k] = append(took[k], time.Since(began))
			}
		}
	}
	for k, g := range companies {
		work[k] += g.work(b)
	}
	out := growth{what: fmt.Sprintf("%s, %s, %d against %d", op.name, engine, large.size, small.size), most: op.most()}
	out.small, out.large = percentile(took[0], 0.5), percentile(took[1], 0.5)
	if work[0] > 0 {
		out.work = float64(work[1]) / float64(work[0])
	}
	out.record()
}

// compareReports compares what a row of a report costs.
func compareReports(b *testing.B, path string, small, large *grownCompany) {
	b.Helper()
	perRow := func(g *grownCompany) float64 {
		rows := g.size
		if path == "employees.csv" {
			rows = g.employees
		}
		d, err := reportCompany{company: g.company}.fetch(b.Context(), g.server.address, path)
		if err != nil {
			b.Fatal(err)
		}
		return d.whole.Seconds() * 1000 / float64(rows)
	}
	var took [2][]float64
	for range 3 {
		for range 5 {
			took[0] = append(took[0], perRow(small))
		}
		took[1] = append(took[1], perRow(large))
	}
	growth{
		what: fmt.Sprintf("a row of %s, %d against %d", path, large.size, small.size), most: maxPaceGrowth,
		small: median(took[0]), large: median(took[1]),
	}.record()
}
