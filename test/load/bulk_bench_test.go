package load

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

const bulkSize = 500

// provisionWorkers provisions one employee for each item of a bulk request.
func (f company) provisionWorkers(b *testing.B, c *client) {
	b.Helper()
	for i := range bulkSize {
		body := fmt.Appendf(nil, `{"externalId":"w-%d","email":"w-%d@acme.example","name":"Worker %d"}`, i, i, i)
		if err := c.do(post("/api/v1/employees/provision", f.token, body)); err != nil {
			b.Fatal(err)
		}
	}
}

// bulkRequest assigns the course to every worker. The round makes the identifiers
// unique.
func (f company) bulkRequest(round int) []byte {
	items := make([]string, bulkSize)
	for i := range items {
		items[i] = fmt.Sprintf(`{"employeeExternalId":"w-%d","courseId":%d,"externalId":"a-%d-%d","deadline":"2030-01-01T00:00:00Z","isRequired":true}`,
			i, f.courseID, round, i)
	}
	return post("/api/v1/assignments/bulk", f.token, []byte(`{"items":[`+strings.Join(items, ",")+`]}`))
}

// bulkRate sends bulk requests for d and returns the rows per second. Building the
// requests is not measured.
func (f company) bulkRate(b *testing.B, c *client, round *int, d time.Duration) float64 {
	b.Helper()
	rows, spent := 0, time.Duration(0)
	for spent < d {
		*round++
		request := f.bulkRequest(*round)
		began := time.Now()
		body, err := c.body(request, true)
		spent += time.Since(began)
		if err != nil {
			b.Fatal(err)
		}
		if n := bytes.Count(body, []byte(`"ok":true`)); n != bulkSize {
			b.Fatalf("%d of %d items are good: %.300s", n, bulkSize, body)
		}
		rows += bulkSize
	}
	return float64(rows) / spent.Seconds()
}

// referenceBody is the length of an event's body in the reference.
const referenceBody = 350

// bulkRows is the rows that the program would store for one bulk request, for the
// baseline.
type bulkRows struct {
	ids, employees, events []int64
	externals              []string
	bodies                 [][]byte
}

func newBulkRows(f company, round int, employees []int64) bulkRows {
	v := bulkRows{employees: employees}
	for i := range bulkSize {
		n := int64(round)*bulkSize + int64(i)
		external := fmt.Sprintf("a-%d-%d", round, i)
		v.ids, v.events, v.externals = append(v.ids, n), append(v.events, 1_000_000+n), append(v.externals, external)
		body := fmt.Sprintf(`{"event":"assignment.created","companyId":%d,"data":{"id":%d,"externalId":%q,"courseName":"Safety at work","rest":"`, f.id, n, external)
		v.bodies = append(v.bodies, []byte(body+strings.Repeat("x", referenceBody-len(body)-3)+`"}}`))
	}
	return v
}

// bulkBaseline inserts rows without the program.
type bulkBaseline struct {
	company   company
	employees []int64
	run       func(bulkRows) error
	round     int
}

// rate runs the statements for d and returns the rows per second.
func (l *bulkBaseline) rate(b *testing.B, d time.Duration) float64 {
	b.Helper()
	rows, spent := 0, time.Duration(0)
	for spent < d {
		l.round++
		v := newBulkRows(l.company, l.round, l.employees)
		began := time.Now()
		err := l.run(v)
		spent += time.Since(began)
		if err != nil {
			b.Fatal(err)
		}
		rows += bulkSize
	}
	return float64(rows) / spent.Seconds()
}

// referenceSQL creates the tables of the reference: those of the program, but with
// two indexes on assignments and one on events, and without triggers.
const referenceSQL = `CREATE SCHEMA reference;
	CREATE TABLE reference.assignments (LIKE public.assignments, PRIMARY KEY (company_id, id), UNIQUE (company_id, external_id));
	CREATE TABLE reference.events (LIKE public.events, PRIMARY KEY (company_id, id))`

const bulkSQL = `WITH assignment AS (
		INSERT INTO reference.assignments (company_id, id, external_id, employee_id, course_id, status, percent, attempts, granted_attempts,
			is_required, assigned_at, deadline, asked_deadline, asked_required, updated_at)
		SELECT $1, id, external_id, employee_id, $2, 'assigned', 0, 0, 0, true, $3, $4, $4, true, $3
		FROM unnest($5::bigint[], $6::text[], $7::bigint[]) AS u (id, external_id, employee_id)
	)
	INSERT INTO reference.events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)
	SELECT $1, event_id, 'assignment.created', $3, employee_id, id, external_id, body
	FROM unnest($8::bigint[], $7::bigint[], $5::bigint[], $6::text[], $9::bytea[]) AS u (event_id, employee_id, id, external_id, body)`

// BenchmarkBulkPostgres compares bulk requests of 500 items with one statement that
// inserts as many assignments and events of 350 bytes into plain tables.
func BenchmarkBulkPostgres(b *testing.B) {
	f, other := newCompany(b, engines["postgres"](b)), newCompany(b, engines["postgres"](b))
	p := serve(b, f.database)
	ours := newFleet(b, p.address, 1)[0]
	f.provisionWorkers(b, ours)
	q := serve(b, other.database)
	other.provisionWorkers(b, newFleet(b, q.address, 1)[0])
	q.stop(b)
	conn := connect(b, other.database)
	var employees []int64
	if err := conn.QueryRow(b.Context(), "SELECT array_agg(id ORDER BY id) FROM employees").Scan(&employees); err != nil {
		b.Fatal(err)
	}
	run := func(v bulkRows) error {
		now := time.Now()
		_, err := conn.Exec(b.Context(), bulkSQL, other.id, other.courseID, now, now.AddDate(3, 0, 0), v.ids, v.externals, v.employees, v.events, v.bodies)
		return err
	}
	if _, err := conn.PgConn().Exec(b.Context(), referenceSQL).ReadAll(); err != nil {
		b.Fatal(err)
	}
	least := &bulkBaseline{company: other, employees: employees, run: run}
	var round int
	f.bulkRate(b, ours, &round, time.Second)
	vacuum(b, f.database)
	vacuum(b, other.database)
	for b.Loop() {
		c := compare(9,
			func() float64 { return f.bulkRate(b, ours, &round, 1500*time.Millisecond) },
			func() float64 { return least.rate(b, 1500*time.Millisecond) })
		ratio(b, "bulk of 500, PostgreSQL, of one INSERT … unnest into plain tables", c, 0.60, "rows/s")
	}
}
