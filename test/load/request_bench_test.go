package load

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"
)

// requestLog inserts a week of a company's calls of the API: 1,000,000 of three tokens.
// The first two nearly always succeed, the third always fails, and in the last six hours
// nothing has succeeded. The fourth token has never been used.
var requestLog = []string{
	`INSERT INTO api_requests (company_id, at, token_id, method, route, status, duration_us, request_id, code, message, request_body)
		SELECT 1, now() - interval '6 days 23 hours' * (1000000 - n) / 1000000, t.id, CASE WHEN n % 10 < 8 THEN 'GET' ELSE 'POST' END,
			CASE WHEN n % 10 < 6 THEN '/api/v1/employees/{externalId}' WHEN n % 10 < 8 THEN '/api/v1/assignments' ELSE '/api/v1/employees/provision' END,
			CASE WHEN t.fails THEN 400 ELSE 200 END, 1500 + n % 20000, md5(n::text), CASE WHEN t.fails THEN 'invalid_request' ELSE '' END,
			CASE WHEN t.fails THEN 'name: is required' ELSE '' END, CASE WHEN t.fails THEN '{"externalId":"•••","email":"•••"}' ELSE '' END
		FROM generate_series(1, 1000000) n CROSS JOIN LATERAL (SELECT CASE WHEN n % 10 < 7 THEN 1 WHEN n % 10 < 9 THEN 2 ELSE 3 END AS id,
			n % 10 = 9 OR n % 97 = 0 OR n > 964000 AS fails) t`,
	`INSERT INTO api_request_hours (company_id, hour, token_id, succeeded, failed)
		SELECT company_id, date_trunc('hour', at, 'UTC'), token_id, count(*) FILTER (WHERE status < 400), count(*) FILTER (WHERE status >= 400)
		FROM api_requests GROUP BY 1, 2, 3`,
	`INSERT INTO api_request_mentions (company_id, digest, request_id, at)
		SELECT company_id, hashtextextended(request_id, 0), request_id, at FROM api_requests WHERE status >= 400`,
}

// requestPages returns the log of requests with each of its filters, with combinations
// that match few of many rows, and the page of one request.
func (v *visitor) requestPages(b *testing.B) (out []string) {
	b.Helper()
	now := time.Now()
	since, until := now.Add(-36*time.Hour).Format("2006-01-02T15:04"), now.Add(-12*time.Hour).Format("2006-01-02T15:04")
	for _, outcome := range []string{"", "outcome=succeeded", "outcome=failed"} {
		for _, filter := range []string{
			"", "&token=1", "&token=3", "&token=4", "&period=1h", "&period=24h", "&period=7d", "&from=" + since + "&to=" + until, "&token=3&to=" + until,
			"&q=c4ca4238a0b923820dcc509a6f75849b", "&q=C4CA", "&q=c", "&q=nothing", "&q=c&token=3", "&q=c4&period=1h",
		} {
			out = append(out, "/cabinet/requests?"+outcome+filter)
		}
	}
	body, _ := v.open(b, "/cabinet/requests?outcome=failed")
	one := regexp.MustCompile(`/cabinet/requests/\d+`).FindString(body)
	if one == "" {
		b.Fatal("no request failed")
	}
	return append(out, one)
}

// BenchmarkRequestLog starts servers this often, because each process is a little faster
// or slower than others, and measures them in this many rounds.
const (
	logStarts = 3
	logRounds = 4
)

// BenchmarkRequestLog compares point reads of a server that logs requests with those of
// two servers that do not, by the processor time of the server and of PostgreSQL for one
// read, and by the reads per second. They use one database, in turn. How much the two
// differ is what such a comparison can't tell from chance.
func BenchmarkRequestLog(b *testing.B) {
	f := newCompany(b, engines["postgres"](b))
	conn := connect(b, f.database)
	for _, sql := range append(employeesSQL, "VACUUM ANALYZE") {
		if _, err := conn.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	l := &logCost{b: b, f: f, database: postmaster(b, conn)}
	for b.Loop() {
		l.with, l.without, l.control = readCosts{}, readCosts{}, readCosts{}
		for range logStarts {
			l.measure()
		}
		without := readCosts{averages(l.without.work, l.control.work), averages(l.without.rate, l.control.rate)}
		b.ReportMetric(median(l.with.work), "us-with-log")
		b.ReportMetric(median(without.work), "us-without-log")
		below(b, "a point read with the log of requests, of one without, by processor time", percent(l.with.work, without.work), 103, "%")
		below(b, "the same, by time", percent(without.rate, l.with.rate), 103, "%-by-time")
		chance := max(math.Abs(percent(l.control.work, l.without.work)-100), math.Abs(percent(l.control.rate, l.without.rate)-100))
		below(b, "the difference of two servers without a log", chance, 3, "%-by-chance")
	}
}

// readCosts are the processor time of a read in µs and the reads per second of each
// round.
type readCosts struct{ work, rate []float64 }

func averages(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = (x[i] + y[i]) / 2
	}
	return out
}

// percent returns the median of the ratios of x and y.
func percent(x, y []float64) float64 {
	ratios := make([]float64, len(x))
	for i := range x {
		ratios[i] = 100 * x[i] / y[i]
	}
	return median(ratios)
}

type logCost struct {
	b        *testing.B
	f        company
	database int // PostgreSQL's first process

	with, without, control readCosts
}

// measure starts the three servers and measures them in turn.
func (l *logCost) measure() {
	l.b.Helper()
	type turn struct {
		server  *program
		clients fleet
		costs   *readCosts
	}
	var turns []turn
	for _, t := range []struct {
		costs *readCosts
		flags []string
	}{{&l.without, []string{"--request-retention", "0"}}, {&l.with, nil}, {&l.control, []string{"--request-retention", "0"}}} {
		p := serve(l.b, l.f.database, t.flags...)
		turns = append(turns, turn{p, newFleet(l.b, p.address, connections), t.costs})
	}
	for i := range logRounds + 1 {
		for k := range turns {
			t := turns[(i+k)%len(turns)]
			work, rate := l.read(t.server, t.clients)
			if i > 0 { // the first round warms up
				t.costs.work, t.costs.rate = append(t.costs.work, work), append(t.costs.rate, rate)
			}
		}
	}
	for _, t := range turns {
		t.server.kill()
	}
}

// read measures one turn of a server, until it has written its log.
func (l *logCost) read(p *program, clients fleet) (work, rate float64) {
	l.b.Helper()
	used := func() time.Duration { return processTime(l.b, p.cmd.Process.Pid) + processTime(l.b, l.database) }
	before, began := used(), time.Now()
	rate = clients.drive(l.b, 2*time.Second, func(int) []byte {
		return get(fmt.Sprintf("%se-%d", employeePath, 1+rand.IntN(20000)), l.f.token)
	})
	reads := rate * time.Since(began).Seconds()
	time.Sleep(1250 * time.Millisecond) // the log is written within a second
	return (used() - before).Seconds() * 1e6 / reads, rate
}
