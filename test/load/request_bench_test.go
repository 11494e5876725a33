package load

import (
	"fmt"
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

// logRounds is how often BenchmarkRequestLog measures each server.
const logRounds = 11

// BenchmarkRequestLog compares point reads of a server that logs requests with those of
// a server that does not. Both use one database, alternately, and what counts is the
// processor time of the server and of PostgreSQL for one read.
func BenchmarkRequestLog(b *testing.B) {
	f := newCompany(b, engines["postgres"](b))
	conn := connect(b, f.database)
	for _, sql := range employeesSQL {
		if _, err := conn.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	database := postmaster(b, conn)
	next := func(int) []byte { return get(fmt.Sprintf("%se-%d", employeePath, 1+rand.IntN(20000)), f.token) }
	cost := func(p *program, clients fleet) float64 {
		time.Sleep(pauseBetweenTurns) // until the other server has written its log
		before := processTime(b, p.cmd.Process.Pid) + processTime(b, database)
		began := time.Now()
		reads := clients.drive(b, 2*time.Second, next) * time.Since(began).Seconds()
		time.Sleep(pauseBetweenTurns) // until this one has
		return (processTime(b, p.cmd.Process.Pid) + processTime(b, database) - before).Seconds() * 1e6 / reads
	}
	on, off := serve(b, f.database), serve(b, f.database, "--request-retention", "0")
	onFleet, offFleet := newFleet(b, on.address, connections), newFleet(b, off.address, connections)
	for b.Loop() {
		var with, without, ratios []float64
		for i := range logRounds + 1 {
			o, w := 0.0, 0.0
			if i%2 == 0 {
				w, o = cost(on, onFleet), cost(off, offFleet)
			} else {
				o, w = cost(off, offFleet), cost(on, onFleet)
			}
			if i > 0 { // the first round warms up
				with, without, ratios = append(with, w), append(without, o), append(ratios, w/o)
			}
		}
		b.ReportMetric(median(with), "us-with-log")
		b.ReportMetric(median(without), "us-without-log")
		below(b, "a point read with the log of requests, of one without, by processor time", 100*median(ratios), 103, "%")
	}
}
