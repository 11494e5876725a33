package load

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// rowsEnv sets the number of assignments in the reports; a million by default.
const rowsEnv = "COURSEBRIDGE_BENCH_ROWS"

func reportRows(b *testing.B) int {
	b.Helper()
	return envNumber(b, rowsEnv, 1_000_000)
}

// envNumber returns the number in an environment variable, or the default if it is
// not set.
func envNumber(b *testing.B, name string, otherwise int) int {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	return n
}

// reportCompany is a company with many assignments.
type reportCompany struct {
	company
	rows        int
	assignments []int64
}

func newReportCompany(b *testing.B, engine string) reportCompany {
	b.Helper()
	l := reportCompany{company: newCompany(b, engines[engine](b)), rows: reportRows(b)}
	s := storetest.Open(b, l.database)
	l.assignments = storetest.Fill(b, s, l.id, storetest.Size{Employees: l.rows/10 + 1, Courses: 40, Assignments: l.rows}).Assignments
	return l
}

// reportSelect returns a hand-written statement for the rows of the assignments
// report.
func (l reportCompany) reportSelect() string {
	return fmt.Sprintf(`SELECT a.id, a.external_id, e.external_id, e.name, e.email, a.course_id, c.name, a.status,
		CASE WHEN a.status = 'completed' THEN 'completed' WHEN a.deadline <= a.updated_at THEN 'overdue'
			WHEN a.status = 'assigned' THEN 'not_started' ELSE 'in_progress' END,
		a.status <> 'completed' AND a.deadline <= a.updated_at, a.percent, a.score, a.attempts, a.is_required,
		a.assigned_at, a.deadline, a.started_at, a.completed_at, coalesce(a.last_activity_at, a.assigned_at)
		FROM assignments a JOIN employees e ON e.company_id = a.company_id AND e.id = a.employee_id
		JOIN courses c ON c.id = a.course_id WHERE a.company_id = %d AND a.revoked_at IS NULL ORDER BY a.id`, l.id)
}

// download describes one fetched report.
type download struct {
	first, whole time.Duration
	bytes        int
}

// fetch downloads a report as fast as possible and discards it.
func (l reportCompany) fetch(ctx context.Context, address, path string) (download, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return download{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	began := time.Now()
	if _, err := fmt.Fprintf(conn, "GET /api/v1/reports/%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n", path, l.token); err != nil {
		return download{}, err
	}
	var d download
	var tail []byte
	buf := make([]byte, 256<<10)
	for {
		n, err := conn.Read(buf)
		if d.first == 0 {
			d.first = time.Since(began)
			if !bytes.HasPrefix(buf[:n], []byte("HTTP/1.1 200 ")) {
				return d, fmt.Errorf("%s: %.200s", path, buf[:n])
			}
		}
		d.bytes += n
		tail = append(tail, buf[max(0, n-5):n]...)
		tail = tail[max(0, len(tail)-5):]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return d, err
		}
	}
	d.whole = time.Since(began)
	if string(tail) != "0\r\n\r\n" {
		return d, fmt.Errorf("%s: cut off after %d bytes", path, d.bytes)
	}
	return d, nil
}

// watched fetches a report and returns by how many MB the server's memory grew.
func (l reportCompany) watched(b *testing.B, p *program, path string) (download, float64) {
	b.Helper()
	type result struct {
		download
		error
	}
	done := make(chan result)
	before := p.rss(b)
	go func() {
		d, err := l.fetch(b.Context(), p.address, path)
		done <- result{d, err}
	}()
	most := before
	for {
		select {
		case r := <-done:
			if r.error != nil {
				b.Fatal(r.error)
			}
			return r.download, max(most, p.rss(b)) - before
		case <-time.After(20 * time.Millisecond):
			most = max(most, p.rss(b))
		}
	}
}

// rate returns a function that measures the rows per second of a report.
func (l reportCompany) rate(b *testing.B, p *program, path string) func() float64 {
	return func() float64 {
		d, err := l.fetch(b.Context(), p.address, path)
		if err != nil {
			b.Fatal(err)
		}
		return float64(l.rows) / d.whole.Seconds()
	}
}

// pipeRate returns a function that measures a program that prints the rows.
func (l reportCompany) pipeRate(b *testing.B, name string, args ...string) func() float64 {
	return func() float64 {
		cmd := exec.CommandContext(b.Context(), name, args...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		began := time.Now()
		if err := cmd.Run(); err != nil { // its output is discarded
			b.Fatalf("%s: %v: %s", name, err, stderr.String())
		}
		return float64(l.rows) / time.Since(began).Seconds()
	}
}

// BenchmarkReportPostgres compares the report of assignments with a COPY of the
// same rows by psql.
func BenchmarkReportPostgres(b *testing.B) {
	l := newReportCompany(b, "postgres")
	vacuum(b, l.database)
	least := l.pipeRate(b, "psql", "--quiet", "--no-psqlrc", "--dbname", l.database, "--command", "COPY ("+l.reportSelect()+") TO STDOUT CSV")
	for b.Loop() {
		for _, c := range []struct {
			path   string
			target float64
		}{{"assignments.csv", 0.50}, {"assignments.xlsx", 0.25}} {
			p := serve(b, l.database)
			first, grown := l.watched(b, p, c.path)
			what := fmt.Sprintf("%s, PostgreSQL, %d rows", c.path, l.rows)
			below(b, what+": first byte", float64(first.first.Microseconds())/1000, 200, "ms-first-byte")
			below(b, what+": growth of memory", grown, 40, "MB-growth")
			ratio(b, what+", of psql COPY", compare(3, l.rate(b, p, c.path), least), c.target, "rows/s")
			p.kill()
		}
		p := serve(b, l.database)
		first, grown := l.watched(b, p, "employees.csv")
		what := fmt.Sprintf("employees.csv, PostgreSQL, %d assignments", l.rows)
		below(b, what+": first byte", float64(first.first.Microseconds())/1000, 200, "ms-first-byte")
		below(b, what+": growth of memory", grown, 40, "MB-growth")
		p.kill()
	}
}

// BenchmarkReportSQLite compares the report of assignments with the sqlite3 shell or,
// if that is missing, with a loop over the rows.
func BenchmarkReportSQLite(b *testing.B) {
	l := newReportCompany(b, "sqlite")
	p := serve(b, l.database)
	least, of := l.loopRate(b), "a bare loop over the rows"
	if shell, err := exec.LookPath("sqlite3"); err == nil {
		least, of = l.pipeRate(b, shell, "-csv", strings.TrimPrefix(l.database, "sqlite://"), l.reportSelect()), "the sqlite3 shell"
	}
	for b.Loop() {
		first, grown := l.watched(b, p, "assignments.csv")
		what := fmt.Sprintf("assignments.csv, SQLite, %d rows", l.rows)
		below(b, what+": first byte", float64(first.first.Microseconds())/1000, 200, "ms-first-byte")
		below(b, what+": growth of memory", grown, 40, "MB-growth")
		ratio(b, what+", of "+of, compare(3, l.rate(b, p, "assignments.csv"), least), 0.50, "rows/s")
	}
}

func (l reportCompany) loopRate(b *testing.B) func() float64 {
	b.Helper()
	conn := openFile(b, l.database)
	values := make([]sql.NullString, 19)
	dest := make([]any, len(values))
	for i := range values {
		dest[i] = &values[i]
	}
	return func() float64 {
		began := time.Now()
		rows, err := conn.QueryContext(b.Context(), l.reportSelect())
		if err != nil {
			b.Fatal(err)
		}
		defer rows.Close()
		n := 0
		for ; rows.Next(); n++ {
			if err := rows.Scan(dest...); err != nil {
				b.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil || n != l.rows {
			b.Fatalf("%d rows: %v", n, err)
		}
		return float64(n) / time.Since(began).Seconds()
	}
}

// BenchmarkReadsDuringReport compares the p99 of reads of single assignments during a
// report with the p99 without one, alternately.
func BenchmarkReadsDuringReport(b *testing.B) {
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			l := newReportCompany(b, engine)
			p := serve(b, l.database)
			c := newFleet(b, p.address, 1)[0]
			for b.Loop() {
				for _, path := range []string{"assignments.csv", "assignments.xlsx"} {
					var idle, busy []time.Duration
					for range 5 {
						idle = append(idle, l.reads(b, c, 2*time.Second)...)
						ctx, cancel := context.WithCancel(b.Context())
						ended := make(chan struct{})
						go func() {
							defer close(ended)
							for ctx.Err() == nil {
								_, _ = l.fetch(ctx, p.address, path) // cut off at the end of the turn
							}
						}()
						busy = append(busy, l.reads(b, c, 2*time.Second)...)
						cancel()
						<-ended
					}
					what := fmt.Sprintf("p99 of reads during %s, %s, %d rows, of idle", path, engine, l.rows)
					below(b, what, percentile(busy, 0.99)/percentile(idle, 0.99), 2, "times-idle-p99")
				}
			}
		})
	}
}

// reads requests one assignment every 2 ms for d.
func (l reportCompany) reads(b *testing.B, c *client, d time.Duration) (took []time.Duration) {
	b.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(d); time.Now().Before(end); {
		<-tick.C
		request := get("/api/v1/assignments/"+formatID(l.assignments[len(took)*7919%len(l.assignments)]), l.token)
		began := time.Now()
		if err := c.do(request); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	return took
}
