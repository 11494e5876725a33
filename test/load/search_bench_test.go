package load

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// searchLog inserts a million entries of the audit log and a million logged requests into
// an SQLite file, over a year and a week. Request ids look random and are those of both.
var searchLog = []string{
	`WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000000)
		INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id, employee_id, request_id, address, detail)
		SELECT 1, (unixepoch() - 365 * 86400 + n * 31) * 1000, CASE WHEN n % 1000 = 0 THEN 'person' WHEN n % 50 = 0 THEN 'platform' ELSE 'token' END, 1,
			CASE WHEN n % 1000 = 0 THEN 'ann@acme.example' WHEN n % 50 = 0 THEN 'the platform' ELSE 'load' END,
			CASE WHEN n % 5000 = 0 THEN 'sign_in.succeeded' WHEN n % 10 < 4 THEN 'employee.linked' WHEN n % 10 = 4 THEN 'assignment.revoked' ELSE 'assignment.created' END,
			CASE WHEN n % 5000 = 0 THEN 'sign_in' WHEN n % 10 < 4 THEN 'employee' ELSE 'assignment' END, 1 + n % 100000, CASE WHEN n % 10 < 4 THEN 1 + n % 100000 ELSE 0 END,
			printf('%08x%024x', n * 2654435761 % 4294967296, n), '10.0.' || n % 200 || '.7', ''
		FROM r`,
	`WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000000)
		INSERT INTO api_requests (company_id, at, token_id, method, route, status, duration_us, request_id, code, message, request_body)
		SELECT 1, unixepoch() * 1000 - (1000000 - n) * 600, 1 + n % 10 / 9, CASE WHEN n % 10 < 8 THEN 'GET' ELSE 'POST' END,
			CASE WHEN n % 10 < 6 THEN '/api/v1/employees/{externalId}' ELSE '/api/v1/assignments' END, CASE WHEN n % 97 = 0 THEN 400 ELSE 200 END, 1500 + n % 20000,
			printf('%08x%024x', n * 2654435761 % 4294967296, n), CASE WHEN n % 97 = 0 THEN 'invalid_request' ELSE '' END, '', ''
		FROM r`,
	`ANALYZE`,
}

// BenchmarkSearchSQLite searches a company of 100,000 employees with a million
// entries of the audit log and a million logged requests, all in one SQLite file. It is
// BenchmarkPages' searches for the other engine.
func BenchmarkSearchSQLite(b *testing.B) {
	v := visit(b, filled(b, "sqlite", "coursebridge_search", func(database string) {
		f := newCompany(b, database)
		s := storetest.Open(b, database)
		storetest.Fill(b, s, f.id, storetest.Size{Employees: 100_000, Courses: 10, Assignments: 10_000})
		s.Close()
		conn := openFile(b, database)
		for _, sql := range searchLog {
			if _, err := conn.ExecContext(b.Context(), sql); err != nil {
				b.Fatalf("%.60s: %v", sql, err)
			}
		}
	}))
	// The id of request 777,777 begins with 9ec0c8.
	var pages []string
	for path, searches := range map[string][]string{
		"/cabinet/find?q=":      {"e", "emp-4242", "work", "nobody", "ann"},
		"/cabinet/employees?q=": {"e", "emp-4242", "nobody"},
		"/cabinet/requests?q=":  {"9", "9e", "9EC0C8", "nothing", "9e&outcome=failed", "9&period=1h"},
		"/cabinet/audit?q=": {
			"emp-4242", "4242", "load", "ann@acme.example", "nobody", "9ec0c8", "load&action=sign_in.", "emp-4&actor=token", "e", "load&actor=person",
		},
	} {
		for _, search := range searches {
			pages = append(pages, path+search)
		}
	}
	for b.Loop() {
		v.measure(b, pages, pageRequests(b), 50)
	}
}
