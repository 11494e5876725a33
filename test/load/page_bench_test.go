package load

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// pageRequestsEnv sets how often each page is requested; 200 times by default. The
// many pages of BenchmarkPeoplePages are requested a fifth as often.
const pageRequestsEnv = "COURSEBRIDGE_BENCH_PAGES"

func pageRequests(b *testing.B) int {
	b.Helper()
	text := os.Getenv(pageRequestsEnv)
	if text == "" {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatalf("%s: %v", pageRequestsEnv, err)
	}
	return n
}

// pageLog inserts a month of a company's history: 280,000 events for four webhooks.
// The first two accept nearly everything, the second does not subscribe to the most
// frequent kind, the third has failed for two days, the fourth failed for five and
// has been disabled for two. Retries are due after the measurement. The audit log
// has half a million entries.
var pageLog = []string{
	`INSERT INTO events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)
		SELECT 1, nextval('event_ids'), CASE WHEN n % 100 < 40 THEN 'assignment.created' WHEN n % 100 < 70 THEN 'assignment.completed'
			WHEN n % 100 < 75 THEN 'assignment.failed' WHEN n % 100 < 85 THEN 'assignment.overdue'
			WHEN n % 100 < 98 THEN 'employee.joined' ELSE 'employee.removed' END,
			now() - interval '30 days' * (280000 - n) / 280000, 1 + n % 100000, n % 100000, 'asg-' || n % 100000,
			convert_to('{"event":"assignment.created","companyId":1,"data":{"id":' || n || ',"note":"' || repeat('x', 400) || '"}}', 'UTF8')
		FROM generate_series(1, 280000) n`,
	`INSERT INTO deliveries (company_id, id, endpoint_id, event_id, kind, state, attempts, round_start, due_at, created_at,
			finished_at, status_code, error_kind, requested_by)
		SELECT 1, (lpad(to_hex((extract(epoch FROM v.occurred_at) * 1000)::bigint), 12, '0') ||
				substr(md5(v.id || '-' || e.id), 1, 20))::uuid, e.id, v.id, v.kind, s.state,
			CASE s.state WHEN 'delivered' THEN 1 + (v.id % 50 = 0)::int WHEN 'failed' THEN 8 WHEN 'held' THEN 0 ELSE (v.id % 5)::int END, 0,
			CASE s.state WHEN 'pending' THEN now() + interval '6 hours' + v.id % 40000 * interval '1 second' ELSE v.occurred_at END,
			v.occurred_at, CASE WHEN s.state IN ('delivered', 'failed') THEN v.occurred_at + interval '1 second' END,
			CASE s.state WHEN 'delivered' THEN 200 WHEN 'failed' THEN 503 ELSE 0 END, CASE s.state WHEN 'failed' THEN 'http' ELSE '' END, ''
		FROM events v CROSS JOIN (SELECT id, row_number() OVER (ORDER BY id) AS n FROM endpoints WHERE company_id = 1) e
		CROSS JOIN LATERAL (SELECT CASE
			WHEN e.n = 4 AND v.occurred_at > now() - interval '2 days' THEN 'held'
			WHEN v.kind = 'employee.removed' THEN 'delivered'
			WHEN e.n = 4 AND v.occurred_at > now() - interval '7 days' THEN 'failed'
			WHEN e.n = 3 AND v.occurred_at > now() - interval '1 day' THEN 'pending'
			WHEN e.n = 3 AND v.occurred_at > now() - interval '2 days' THEN 'failed'
			WHEN (v.id * 7919 + e.n) % 1000 < 5 * e.n THEN 'failed' ELSE 'delivered' END AS state) s
		WHERE v.company_id = 1 AND NOT (e.n = 2 AND v.kind = 'assignment.created')`,
	`INSERT INTO delivery_attempts (company_id, delivery_id, number, url, started_at, duration_us, status_code, error_kind, error,
			request_headers, response_headers, response_body, requested_by)
		SELECT d.company_id, d.id, n, 'https://example.com/hook', d.created_at, 84000, d.status_code, d.error_kind, '',
			'[{"name":"Content-Type","value":"application/json"},{"name":"X-Service-Signature","value":"` + strings.Repeat("0a", 64) + `"}]',
			'[{"name":"Date","value":"Mon, 16 Nov 2026 09:00:00 GMT"},{"name":"Server","value":"nginx"}]', 'ok', ''
		FROM deliveries d CROSS JOIN LATERAL generate_series(1, d.attempts) n`,
	`UPDATE endpoints SET events = CASE WHEN id = 2 THEN replace(k.all_kinds, '"assignment.created",', '') ELSE k.all_kinds END
		FROM (SELECT '["assignment.created","assignment.completed","assignment.failed","assignment.overdue","employee.joined","employee.removed"]' AS all_kinds) k
		WHERE company_id = 1`,
	`UPDATE endpoints SET disabled_at = now() - interval '2 days', disabled_reason = 'failing'
		WHERE company_id = 1 AND id = (SELECT max(id) FROM endpoints WHERE company_id = 1)`,
	`INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id, employee_id, request_id, address, detail)
		SELECT 1, now() - interval '365 days' * (500000 - n) / 500000, CASE WHEN n % 1000 = 0 THEN 'person' WHEN n % 50 = 0 THEN 'platform' ELSE 'token' END,
			1, CASE WHEN n % 1000 = 0 THEN 'ann@acme.example' WHEN n % 50 = 0 THEN 'the platform' ELSE 'load' END, a.action,
			split_part(a.action, '.', 1), n % 100000, CASE WHEN n % 10 < 4 THEN 1 + n % 100000 ELSE 0 END, md5(n::text), '10.0.' || n % 200 || '.7', ''
		FROM generate_series(1, 500000) n CROSS JOIN LATERAL (SELECT CASE WHEN n IN (9000, 17000, 31000) THEN 'second_factor.turned_on'
			WHEN n % 5000 = 0 THEN 'sign_in.succeeded' WHEN n % 9001 = 0 THEN 'webhook.tested' WHEN n % 7001 = 0 THEN 'token.created'
			WHEN n % 10 < 4 THEN 'employee.linked' WHEN n % 10 = 4 THEN 'assignment.revoked' ELSE 'assignment.created' END AS action) a`,
}

// visitor is a client of the cabinet that is signed in.
type visitor struct {
	http.Client
	base string
}

// enter signs in through a one-time link and sets a password.
func (v *visitor) enter(ctx context.Context, link string) error {
	u, err := url.Parse(link)
	if err != nil {
		return err
	}
	form := url.Values{"password": {"four unrelated words here"}, "repeat": {"four unrelated words here"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.base+u.Path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := v.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.Request.URL.Path != "/cabinet" {
		return fmt.Errorf("the link led to %s with %s", res.Request.URL, res.Status)
	}
	return nil
}

// visit serves a database and signs in as the company's administrator.
func visit(b *testing.B, database string) *visitor {
	b.Helper()
	link := runJSON[struct{ SignInURL string }](b, database, "admin", "link", "--email", "ann@acme.example").SignInURL
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	v := &visitor{Client: http.Client{Jar: jar}, base: "http://" + serve(b, database).address}
	if err := v.enter(b.Context(), link); err != nil {
		b.Fatal(err)
	}
	return v
}

// open requests a page and returns it with the time it took.
func (v *visitor) open(b *testing.B, path string) (string, time.Duration) {
	b.Helper()
	began := time.Now()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, v.base+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	res, err := v.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	took := time.Since(began)
	if err != nil || res.StatusCode != http.StatusOK || res.Request.URL.Path == "/cabinet/sign-in" {
		b.Fatalf("%s: %s %v", path, res.Status, err)
	}
	return string(body), took
}

var nextLink = regexp.MustCompile(`rel="next" href="([^"]+)"`)

// next returns the address of the page after the one at path, or "".
func (v *visitor) next(b *testing.B, path string) string {
	b.Helper()
	body, _ := v.open(b, path)
	found := nextLink.FindStringSubmatch(body)
	if found == nil {
		return ""
	}
	return html.UnescapeString(found[1])
}

// filteredPages returns the lists with each of their filters, and with combinations
// that match few of many rows.
func filteredPages(now time.Time) (out []string) {
	since := now.Add(-36 * time.Hour).Format("2006-01-02T15:04")
	until := now.Add(-12 * time.Hour).Format("2006-01-02T15:04")
	filters := []string{"", "from=" + since, "to=" + until, "from=" + since + "&to=" + until}
	for _, state := range []string{"delivered", "pending", "retrying", "failed", "failing", "held"} {
		filters = append(filters, "state="+state, "state="+state+"&endpoint=2", "state="+state+"&event=employee.removed",
			"state="+state+"&endpoint=2&event=assignment.created", "state="+state+"&from="+since)
	}
	for endpoint := 1; endpoint <= 4; endpoint++ {
		filters = append(filters, fmt.Sprintf("endpoint=%d", endpoint), fmt.Sprintf("endpoint=%d&event=assignment.created", endpoint))
	}
	for _, kind := range []string{"assignment.created", "assignment.completed", "assignment.failed", "assignment.overdue", "employee.joined", "employee.removed"} {
		filters = append(filters, "event="+kind)
	}
	filters = append(filters, "q=asg-4242", "q=asg-4", "q=a", "q=nobody", "q=asg-4242&state=failed", "q=asg-4242&endpoint=2&event=assignment.created")
	for _, f := range filters {
		out = append(out, "/cabinet/deliveries?"+f)
	}
	for _, f := range []string{
		"", "actor=person", "actor=token", "actor=operator", "actor=platform", "actor=system", "action=employee.", "action=assignment.", "action=course.",
		"action=token.", "action=webhook.", "action=delivery.", "action=administrator.", "action=company.", "action=sign_in.", "action=password.",
		"action=second_factor.", "from=" + since, "to=" + until, "actor=person&action=assignment.", "actor=operator&action=employee.",
		"actor=person&action=second_factor.&from=" + since, "q=emp-4242", "q=4242", "q=load", "q=ann@acme.example", "q=nobody",
		"q=load&action=second_factor.", "q=c4ca4238a0b923820dcc509a6f75849b",
	} {
		out = append(out, "/cabinet/audit?"+f)
	}
	return out
}

// deepLogPages returns pages from the middle and from near the end of the logs, with
// and without filters, as links have them.
func deepLogPages(now time.Time) (out []string) {
	for _, log := range []struct {
		path    string
		list    domain.List
		last    domain.Cursor
		days    []int
		filters []string
	}{
		{"/cabinet/deliveries?", domain.DeliveryList, domain.Cursor{UUID: "00000000-0000-7000-8000-000000000000"}, []int{15, 29},
			[]string{"", "state=failed", "endpoint=2", "event=employee.removed", "endpoint=3&state=delivered"}},
		{"/cabinet/audit?", domain.AuditList, domain.Cursor{ID: 1}, []int{180, 360},
			[]string{"", "actor=person", "action=employee.", "actor=token&action=assignment.", "q=load", "q=emp-4242"}},
		{"/cabinet/requests?period=7d", domain.RequestList, domain.Cursor{ID: 1}, []int{3, 6},
			[]string{"", "outcome=failed", "outcome=succeeded", "token=3", "token=1&outcome=failed", "q=c4"}},
	} {
		for _, days := range log.days {
			log.last.At = now.AddDate(0, 0, -days).UnixMilli()
			for _, filter := range log.filters {
				out = append(out, log.path+"&"+filter+"&after="+log.last.Format(log.list))
			}
		}
	}
	return out
}

// pages returns the addresses of all pages.
func (v *visitor) pages(b *testing.B) []string {
	b.Helper()
	out := []string{
		"/cabinet", "/cabinet/integrations", "/cabinet/tokens", "/cabinet/tokens/new", "/cabinet/tokens/1", "/cabinet/tokens/3", "/cabinet/tokens/4",
		"/cabinet/tokens?all=1", "/cabinet/tokens?q=load", "/cabinet/tokens/1/rename", "/cabinet/tokens/1/regenerate", "/cabinet/tokens/1/revoke",
		"/cabinet/webhooks", "/cabinet/webhooks/new", "/cabinet/webhooks/events", "/cabinet/webhooks/1", "/cabinet/webhooks/2", "/cabinet/webhooks/4/enable",
		"/cabinet/webhooks/3", "/cabinet/webhooks/4", "/cabinet/webhooks/3/edit", "/cabinet/webhooks/3/remove", "/cabinet/deliveries/redeliver",
		"/cabinet/deliveries/redeliver?count=1&state=failed", "/cabinet/deliveries/redeliver?count=1&state=failed&endpoint=3",
		"/cabinet/deliveries/redeliver?count=1&state=failed&event=employee.removed", "/cabinet/deliveries/redeliver?count=1&state=held",
		"/cabinet/settings", "/cabinet/settings/administrators", "/cabinet/settings/sign-in", "/cabinet/settings/sessions", "/cabinet/companies",
		"/cabinet/find", "/cabinet/find?q=a", "/cabinet/find?q=load", "/cabinet/find?q=emp-4242", "/cabinet/find?q=http", "/cabinet/find?q=nobody",
	}
	for _, path := range append(filteredPages(time.Now()), v.requestPages(b)...) {
		out = append(out, path)
		if next := v.next(b, path); next != "" {
			out = append(out, next)
		}
	}
	out = append(out, deepLogPages(time.Now())...)
	body, _ := v.open(b, "/cabinet/deliveries?state=failed")
	one := regexp.MustCompile(`/cabinet/deliveries/([0-9a-f-]{36})`).FindStringSubmatch(body)
	if one == nil {
		b.Fatal("no delivery failed")
	}
	return append(out, one[0], "/cabinet/deliveries?q="+one[1])
}

var cursor = regexp.MustCompile(`&?after=[^&]*`)

// BenchmarkPages requests every page of the cabinet of a company with 100,000
// employees, 1,000,000 deliveries and 1,000,000 logged requests.
func BenchmarkPages(b *testing.B) {
	database := filled(b, "postgres", "coursebridge_pages", func(database string) {
		f := newCompany(b, database)
		for n := 1; n <= 4; n++ {
			f.addWebhook(b, fmt.Sprintf("http://127.0.0.1:9/hook-%d", n), "employee.joined")
		}
		for _, name := range []string{"second", "failing", "unused"} {
			runJSON[struct{ Token string }](b, database, "token", "create", "--company", formatID(f.id), "--name", name, "--scope", "b2b_read")
		}
		storetest.Fill(b, storetest.Open(b, database), f.id, storetest.Size{Employees: 100_000, Courses: 10, Assignments: 10_000})
		conn := connect(b, database)
		for _, sql := range slices.Concat(pageLog, requestLog, []string{"VACUUM ANALYZE"}) {
			if _, err := conn.Exec(b.Context(), sql); err != nil {
				b.Fatalf("%.60s: %v", sql, err)
			}
		}
	})
	v := visit(b, database)
	pages := v.pages(b)
	for b.Loop() {
		v.measure(b, pages, pageRequests(b), 50)
	}
}
