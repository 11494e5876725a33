package load

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const employeePath = "/api/v1/employees/"

func connect(b *testing.B, database string) *pgx.Conn {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), database)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(b.Context()) })
	return conn
}

// BenchmarkEmployee compares GET /employees/{externalId} on PostgreSQL to a
// handler that selects the row by key and checks nothing.
func BenchmarkEmployee(b *testing.B) {
	const people = 10_000
	f := newFirm(b, engines["postgres"](b))
	conn := connect(b, f.database)
	for _, sql := range []string{
		`INSERT INTO accounts (email_folded, created_at) SELECT 'e-' || n || '@acme.example', now() FROM generate_series(1, 10000) n`,
		`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, role, tags, joined_at, updated_at)
			SELECT 1, nextval('employee_ids'), 'e-' || n, 'e-' || n || '@acme.example', 'e-' || n || '@acme.example',
				'Employee ' || n, 'employee', '["sales"]', now(), now() FROM generate_series(1, 10000) n`,
		`VACUUM ANALYZE`,
	} {
		if _, err := conn.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	requests := make([][]byte, people)
	for i := range requests {
		requests[i] = get(fmt.Sprintf("%se-%d", employeePath, i+1), f.token)
	}
	next := func(int) []byte { return requests[rand.IntN(people)] }
	ours := newFleet(b, serve(b, f.database).address, 16)
	least := newFleet(b, bare(b, "select", f.database), 16)
	for b.Loop() {
		c := compare(9,
			func() float64 { return ours.drive(b, time.Second, next) },
			func() float64 { return least.drive(b, time.Second, next) })
		ratio(b, "GET /employees/{externalId}, PostgreSQL, of one SELECT by key", c, 0.70, "req/s")
	}
}

// BenchmarkProvision compares provisioning of new employees on PostgreSQL to a
// handler that inserts the same rows in one statement. Each has a database.
func BenchmarkProvision(b *testing.B) {
	f, other := newFirm(b, engines["postgres"](b)), newFirm(b, engines["postgres"](b))
	var n atomic.Int64
	next := func(int) []byte {
		i := n.Add(1)
		body := fmt.Appendf(nil, `{"externalId":"n-%d","email":"n-%d@acme.example","name":"New Employee %d"}`, i, i, i)
		return post("/api/v1/employees/provision", f.token, body)
	}
	ours := newFleet(b, serve(b, f.database).address, connections)
	least := newFleet(b, bare(b, "provision", other.database), connections)
	for b.Loop() {
		c := compare(9,
			func() float64 { return ours.drive(b, 2*time.Second, next) },
			func() float64 { return least.drive(b, 2*time.Second, next) })
		ratio(b, "provision, PostgreSQL, of one statement with the same rows", c, 0.60, "req/s")
	}
}
