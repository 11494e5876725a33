package load

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// growthSmall and the sizes of the large company are numbers of assignments. A
// tenth as many people have them.
const growthSmall = 10_000

// fullForm reports whether the benchmarks may take half an hour.
func fullForm() bool { return os.Getenv("BENCH_FORM") == "full" }

func growthLarge() int {
	if fullForm() {
		return 5_000_000
	}
	return 1_000_000
}

// maxGrowth is how many times as much an operation may cost in the large company.
const maxGrowth = 1.5

// growthSQL fills a company. Neither foreign keys are checked nor totals kept
// meanwhile, which would take longer than all else. Records are a second apart.
var growthSQL = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO accounts SELECT 'g-' || i || '@grow.test', now() FROM generate_series(1, $2::bigint / 10) i WHERE $1::bigint > 0 AND $3::bigint > 0`,
	`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, name_folded, last_name_folded, role, tags, joined_at, updated_at)
		SELECT $1, i, 'g-' || i, 'g-' || i || '@grow.test', 'g-' || i || '@grow.test', 'Name ' || i, 'name ' || i, i::text, 'employee',
			CASE WHEN i % 3 = 0 THEN '["third"]' ELSE '[]' END, now(), now()
		FROM generate_series(1, $2::bigint / 10) i WHERE $3::bigint > 0`,
	`INSERT INTO employee_tags SELECT $1, 'third', i FROM generate_series(3, $2::bigint / 10, 3) i WHERE $3::bigint > 0`,
	`INSERT INTO assignments (company_id, id, external_id, employee_id, course_id, status, percent, attempts, granted_attempts,
			is_required, assigned_at, deadline, asked_deadline, asked_required, updated_at, live_at_most)
		SELECT $1, i, 'g-' || i, 1 + i % ($2::bigint / 10), $3, (ARRAY['assigned', 'started', 'completed', 'failed', 'needs_retry'])[1 + i % 5], 0, 0, 0,
			true, now(), now() + interval '1 year', now(), true, now() - ($2 - i) * interval '1 second', 1 + i / ($2 / 10)
		FROM generate_series(1, $2::bigint) i`,
	`SELECT setval('employee_ids', $2::bigint) WHERE $1::bigint > 0 AND $3::bigint > 0`,
	`SELECT setval('assignment_ids', $2::bigint) WHERE $1::bigint > 0 AND $3::bigint > 0`,
}

// grownCompany is a filled company and a client of its server.
type grownCompany struct {
	company
	size   int
	client *client
	made   *atomic.Int64
}

func newGrownCompany(b *testing.B, size int) grownCompany {
	b.Helper()
	g := grownCompany{company: newCompany(b, engines["postgres"](b)), size: size, made: &atomic.Int64{}}
	conn := connect(b, g.database)
	for _, sql := range growthSQL {
		var args []any
		if sql != growthSQL[0] {
			args = []any{g.id, size, g.courseID}
		}
		if _, err := conn.Exec(b.Context(), sql, args...); err != nil {
			b.Fatalf("%s: %v", sql, err)
		}
	}
	if _, err := conn.Exec(b.Context(), "VACUUM ANALYZE"); err != nil {
		b.Fatal(err)
	}
	runJSON[struct{ Repaired bool }](b, g.database, "check", "--repair")
	return g
}

// serve starts the company's server and connects the client.
func (g *grownCompany) serve(b *testing.B) {
	b.Helper()
	g.client = newFleet(b, serve(b, g.database).address, 1)[0]
}

// growthOperation is a request whose cost must not grow.
type growthOperation struct {
	name    string
	request func(g grownCompany) []byte
}

func (g grownCompany) get(path string) []byte { return get("/api/v1"+path, g.token) }

func (g grownCompany) since(ago int) string {
	return time.Now().Add(-time.Duration(ago) * time.Second).UTC().Format(time.RFC3339)
}

var growthOperations = []growthOperation{
	{"GET /assignments", func(g grownCompany) []byte { return g.get("/assignments") }},
	{"GET /assignments?status", func(g grownCompany) []byte { return g.get("/assignments?status=started") }},
	{"GET /assignments?courseId", func(g grownCompany) []byte { return g.get(fmt.Sprintf("/assignments?courseId=%d", g.courseID)) }},
	{"GET /assignments?employeeExternalId", func(g grownCompany) []byte {
		return g.get(fmt.Sprintf("/assignments?employeeExternalId=g-%d", 1+rand.IntN(g.size/10)))
	}},
	{"GET /assignments?updatedSince, all", func(g grownCompany) []byte { return g.get("/assignments?updatedSince=2020-01-01T00:00:00Z") }},
	{"GET /assignments?updatedSince, half", func(g grownCompany) []byte { return g.get("/assignments?updatedSince=" + g.since(g.size/2)) }},
	{"GET /employees", func(g grownCompany) []byte { return g.get("/employees") }},
	{"GET /employees?tag", func(g grownCompany) []byte { return g.get("/employees?tag=third") }},
	{"GET /employees?email", func(g grownCompany) []byte {
		return g.get(fmt.Sprintf("/employees?email=g-%d@grow.test", 1+rand.IntN(g.size/10)))
	}},
	{"GET /employees/{externalId}", func(g grownCompany) []byte { return g.get(fmt.Sprintf("/employees/g-%d", 1+rand.IntN(g.size/10))) }},
	{"GET /assignments/{id}", func(g grownCompany) []byte { return g.get(fmt.Sprintf("/assignments/%d", 1+rand.IntN(g.size))) }},
	{"GET /assignments/by-external-id", func(g grownCompany) []byte {
		return g.get(fmt.Sprintf("/assignments/by-external-id/g-%d", 1+rand.IntN(g.size)))
	}},
	{"POST /employees/provision", func(g grownCompany) []byte {
		n := g.made.Add(1)
		return post("/api/v1/employees/provision", g.token, fmt.Appendf(nil, `{"externalId":"n-%d","email":"n-%[1]d@grow.test","name":"New %[1]d"}`, n))
	}},
	{"POST /assignments", func(g grownCompany) []byte {
		return post("/api/v1/assignments", g.token, fmt.Appendf(nil, `{"employeeExternalId":"g-%d","courseId":%d,"externalId":"n-%d"}`,
			1+rand.IntN(g.size/10), g.courseID, g.made.Add(1)))
	}},
	{"POST /assignments/bulk, 500", func(g grownCompany) []byte {
		items := make([]map[string]any, bulkSize)
		for i := range items {
			items[i] = map[string]any{
				"employeeExternalId": fmt.Sprintf("g-%d", 1+rand.IntN(g.size/10)), "courseId": g.courseID, "externalId": fmt.Sprintf("n-%d", g.made.Add(1)),
			}
		}
		body, err := json.Marshal(map[string]any{"items": items})
		if err != nil {
			panic(err) // unreachable: strings and numbers always encode
		}
		return post("/api/v1/assignments/bulk", g.token, body)
	}},
}

// BenchmarkGrowth compares the cost of every kind of request in a small and in a
// large company, each on a PostgreSQL database of its own.
func BenchmarkGrowth(b *testing.B) {
	small, large := newGrownCompany(b, growthSmall), newGrownCompany(b, growthLarge())
	small.serve(b)
	large.serve(b)
	for b.Loop() {
		for _, op := range growthOperations {
			growth := op.measure(b, small, large)
			results.add(figure{
				what: fmt.Sprintf("%s, %d against %d", op.name, large.size, small.size), got: fmt.Sprintf("%.2f times (%.2f against %.2f ms)", growth.ratio, growth.large, growth.small),
				want: fmt.Sprintf("<= %.1f", maxGrowth), reached: growth.ratio <= maxGrowth,
			})
		}
	}
}

// growth is how many times as long a request takes in the large company, and the
// medians in milliseconds.
type growth struct{ ratio, small, large float64 }

// measure sends requests to both companies alternately. Medians of single requests
// hardly notice other load on the machine.
func (op growthOperation) measure(b *testing.B, small, large grownCompany) growth {
	b.Helper()
	const warmUp, samples = 20, 150
	var took [2][]time.Duration
	for i := range warmUp + samples {
		for k, g := range [2]grownCompany{small, large} {
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
	g := growth{small: percentile(took[0], 0.5), large: percentile(took[1], 0.5)}
	g.ratio = g.large / g.small
	return g
}
