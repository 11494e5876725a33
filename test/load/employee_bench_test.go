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

// ownName is the application_name of the benchmarks' connections, whose processor time is not
// the program's.
const ownName = "load"

func ownConfig(b *testing.B, database string) *pgx.ConnConfig {
	b.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		b.Fatal(err)
	}
	config.RuntimeParams["application_name"] = ownName
	return config
}

func connect(b *testing.B, database string) *pgx.Conn {
	b.Helper()
	conn, err := pgx.ConnectConfig(b.Context(), ownConfig(b, database))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(b.Context()) })
	return conn
}

// employeesSQL inserts 20,000 employees. Those with an odd number have three
// assignments.
var employeesSQL = []string{
	`INSERT INTO accounts (email_folded, created_at) SELECT 'e-' || n || '@acme.example', now() FROM generate_series(1, 20000) n`,
	`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, role, tags, joined_at, updated_at)
		SELECT 1, nextval('employee_ids'), 'e-' || n, 'e-' || n || '@acme.example', 'e-' || n || '@acme.example',
			'Employee ' || n, 'employee', '["sales"]', now(), now() FROM generate_series(1, 20000) n`,
	`INSERT INTO assignments (company_id, id, external_id, employee_id, course_id, status, percent, attempts, granted_attempts,
			is_required, assigned_at, deadline, asked_deadline, asked_required, updated_at)
		SELECT 1, nextval('assignment_ids'), e.external_id || '-' || n, e.id, 1, 'assigned', 0, 0, 0, true, now(), now() + '30 days',
			now() + '30 days', true, now() FROM employees e, generate_series(1, 3) n WHERE substr(e.external_id, 3)::bigint % 2 = 1`,
	`VACUUM ANALYZE`,
}

// BenchmarkEmployee compares GET /employees/{externalId} on PostgreSQL with handlers
// that select the same rows without any checks: for employees without assignments,
// and for employees with three.
func BenchmarkEmployee(b *testing.B) {
	f := newCompany(b, engines["postgres"](b))
	conn := connect(b, f.database)
	for _, sql := range employeesSQL {
		if _, err := conn.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	ours := newFleet(b, serve(b, f.database).address, 16)
	for _, c := range []struct {
		bare, what string
		odd        int
	}{
		{"row", "GET /employees/{externalId}, PostgreSQL, of one SELECT of the row", 0},
		{"whole", "GET /employees/{externalId}, PostgreSQL, with 3 assignments, of one SELECT of all", 1},
	} {
		b.Run(c.bare, func(b *testing.B) {
			least := newFleet(b, startBaseline(b, c.bare, f.database), 16)
			next := func(int) []byte {
				return get(fmt.Sprintf("%se-%d", employeePath, 2*(1+rand.IntN(9999))+c.odd), f.token)
			}
			for b.Loop() {
				got := compare(9,
					func() float64 { return ours.drive(b, time.Second, next) },
					func() float64 { return least.drive(b, time.Second, next) })
				ratio(b, c.what, got, 0.84, "req/s")
			}
		})
	}
}

// BenchmarkProvision compares provisioning of new employees on PostgreSQL with a
// handler that inserts the same rows in one statement.
func BenchmarkProvision(b *testing.B) {
	f, other := newCompany(b, engines["postgres"](b)), newCompany(b, engines["postgres"](b))
	var n atomic.Int64
	next := func(int) []byte {
		i := n.Add(1)
		body := fmt.Appendf(nil, `{"externalId":"n-%d","email":"n-%d@acme.example","name":"New Employee %d"}`, i, i, i)
		return post("/api/v1/employees/provision", f.token, body)
	}
	ours := newFleet(b, serve(b, f.database).address, connections)
	least := newFleet(b, startBaseline(b, "provision", other.database), connections)
	for b.Loop() {
		c := compare(9,
			func() float64 { return ours.drive(b, 2*time.Second, next) },
			func() float64 { return least.drive(b, 2*time.Second, next) })
		ratio(b, "provision, PostgreSQL, of one statement with the same rows", c, 0.90, "req/s")
	}
}
