package cabinet_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

// exportedRow is a row of a file by the names of its columns.
type exportedRow map[string]string

// export downloads the file of a list and checks what holds for every file.
func (v *visitor) export(path, name string) []exportedRow {
	v.Helper()
	file := v.get(path).wantStatus(http.StatusOK)
	if got := file.header.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="`+name+`-20`) || !strings.HasSuffix(got, `.csv"`) {
		v.Errorf("%s is %q", path, got)
	}
	if got := file.header.Get("Cache-Control"); got != "no-store" {
		v.Errorf("%s has Cache-Control %q", path, got)
	}
	text, marked := strings.CutPrefix(file.raw, "\ufeff")
	if !marked {
		v.Errorf("%s has no byte order mark", path)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		v.Fatalf("%s: %q, %v", path, file.raw, err)
	}
	out := make([]exportedRow, len(rows)-1)
	for i, row := range rows[1:] {
		out[i] = exportedRow{}
		for column, cell := range row {
			out[i][rows[0][column]] = cell
		}
	}
	return out
}

// wantExport checks that the list at an address leads to its file and that the file has
// n rows.
func (v *visitor) wantExport(list, query, name string, n int) []exportedRow {
	v.Helper()
	link := v.get(list + query).wantStatus(http.StatusOK).find(`href="(` + list + `/export\.csv[^"]*)"`)
	rows := v.export(strings.ReplaceAll(link, "&amp;", "&"), name)
	if len(rows) != n {
		v.Errorf("the file of %s%s has %d rows, want %d", list, query, len(rows), n)
	}
	return rows
}

func (r exportedRow) want(v *visitor, pairs ...string) {
	v.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := r[pairs[i]]; got != pairs[i+1] {
			v.Errorf("%s is %q, want %q: %v", pairs[i], got, pairs[i+1], r)
		}
	}
}

// inIndia moves the company to a zone that no test machine is in.
func (f fixture) inIndia() {
	f.Helper()
	f.exec(`UPDATE companies SET time_zone = 'Asia/Kolkata'`)
}

func (v *visitor) wantIndian(text string) {
	v.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !strings.HasSuffix(text, "+05:30") || time.Since(at).Abs() > 48*time.Hour {
		v.Errorf("%q is not a recent time in the company's zone", text)
	}
}

func (v *visitor) wantDownloadsLogged(n int) {
	v.Helper()
	if got := strings.Count(v.get(view.PathAudit+"?action=report.").wantStatus(http.StatusOK).text, "Report downloaded"); got != n {
		v.Errorf("%d downloads are in the audit log, want %d", got, n)
	}
}

func TestDeliveriesAreExported(t *testing.T) {
	t.Parallel()
	onEachEngineWith(t, apptest.Options{Serve: noWebhooks}, func(f fixture) {
		f.inIndia()
		v := f.administrator()
		_, token := v.createToken("HR sync")
		webhook := v.addWebhook("https://hooks.example.com/hr")
		f.provision(token, 1, 60)
		f.exec(`UPDATE deliveries SET attempts = 2 WHERE event_id IN (SELECT id FROM events WHERE external_id = 'HR-9')`)
		f.exec(`UPDATE deliveries SET state = 'failed', attempts = 6, status_code = 500, error_kind = 'status' WHERE event_id IN (SELECT id FROM events WHERE external_id = 'HR-8')`)
		rows := v.wantExport(view.PathDeliveries, "", "deliveries", 60)
		id := webhook[strings.LastIndex(webhook, "/")+1:]
		rows[0].want(v, "externalId", "HR-60", "state", "pending", "event", "employee.joined", "webhookId", id, "webhookUrl", "https://hooks.example.com/hr", "attempts", "0", "isTest", "false", "statusCode", "")
		v.wantIndian(rows[0]["createdAt"])
		v.wantIndian(rows[0]["nextAttemptAt"])
		rows[59].want(v, "externalId", "HR-1")
		v.wantExport(view.PathDeliveries, "?state=retrying", "deliveries", 1)[0].want(v, "externalId", "HR-9", "state", "retrying", "attempts", "2")
		v.wantExport(view.PathDeliveries, "?state=failed&endpoint="+id, "deliveries", 1)[0].want(v, "externalId", "HR-8", "statusCode", "500", "errorKind", "status", "nextAttemptAt", "")
		v.wantExport(view.PathDeliveries, "?q=HR-7&period=1h&event=employee.joined", "deliveries", 1)[0].want(v, "externalId", "HR-7")
		v.wantExport(view.PathDeliveries, "?to=2001-01-01T00:00", "deliveries", 0)
		v.wantDownloadsLogged(5)
		v.get(view.PathDeliveriesExport + "?from=soon").wantRedirect(view.PathDeliveries + "?from=soon")
		v.get(view.PathDeliveriesExport + "?state=lost").wantRedirect(view.PathDeliveries + "?state=lost").wantText("pending, delivered, failed or held")
	})
}

func TestRequestsAreExported(t *testing.T) {
	t.Parallel()
	onEachEngineWith(t, apptest.Options{Serve: recordRequests}, func(f fixture) {
		f.inIndia()
		v := f.administrator()
		_, token := v.createToken("=HR sync")
		f.callAPI(token, http.MethodPost, "/employees/provision", map[string]string{"externalId": "nobody-here"})
		v.waitForText(view.PathRequests, "400 invalid request")
		f.exec(`INSERT INTO api_requests (company_id, at, token_id, method, route, status, duration_us, request_id, code)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
			SELECT r.company_id, r.at, r.token_id, 'GET', '/api/v1/courses', 200, 1500, 'req-' || n.i, '' FROM n, api_requests r`)
		rows := v.wantExport(view.PathRequests, "", "requests", 1101)
		seen := map[string]bool{}
		for _, row := range rows {
			seen[row["requestId"]] = true
		}
		if len(seen) != 1101 {
			f.Errorf("%d different requests, want 1101", len(seen))
		}
		rows[0].want(v, "token", "'=HR sync", "method", "GET", "route", "/api/v1/courses", "status", "200", "code", "", "durationMs", "1.5")
		v.wantIndian(rows[0]["at"])
		failed := v.wantExport(view.PathRequests, "?outcome=failed", "requests", 1)
		failed[0].want(v, "status", "400", "code", "invalid_request", "route", "/api/v1/employees/provision")
		if text := fmt.Sprint(failed); strings.Contains(text, "nobody-here") || strings.Contains(text, token) {
			f.Errorf("the file has what only the request's page shows: %s", text)
		}
		v.wantExport(view.PathRequests, "?q=req-1100&outcome=succeeded", "requests", 1)
		v.wantExport(view.PathRequests, "?token=99999", "requests", 0)
		v.wantDownloadsLogged(4)
		v.get(view.PathRequestsExport + "?from=soon").wantRedirect(view.PathRequests + "?from=soon")
	})
}

func TestRequestsThatAreNotRecordedHaveNoFile(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.get(view.PathRequests).wantStatus(http.StatusOK).wantNoText("Export CSV")
		v.get(view.PathRequestsExport).wantRedirect(view.PathRequests)
	})
}

func TestTokensAreExported(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		f.inIndia()
		v := f.administrator()
		path, secret := v.createToken("=Payroll")
		var old string
		for i := range 3 {
			old, _ = v.createToken("Sync " + strconv.Itoa(i))
		}
		v.post(old + "/revoke").wantRedirect(view.PathTokens)
		f.exec(`UPDATE tokens SET last_used_at = $1, last_used_ip = '192.0.2.7' WHERE name = '=Payroll'`, time.Now().UTC())
		rows := v.wantExport(view.PathTokens, "", "tokens", 3)
		rows[2].want(v, "id", path[strings.LastIndex(path, "/")+1:], "name", "'=Payroll", "lastFour", secret[len(secret)-4:], "state", "active", "createdBy", admin,
			"lastUsedAddress", "192.0.2.7", "revokedAt", "")
		v.wantIndian(rows[2]["createdAt"])
		v.wantIndian(rows[2]["lastUsedAt"])
		if !strings.Contains(rows[2]["scopes"], "b2b_") || strings.Contains(fmt.Sprint(rows), secret) {
			f.Errorf("the file of the tokens is %v", rows)
		}
		all := v.wantExport(view.PathTokens, "?all=1", "tokens", 4)
		all[0].want(v, "state", "revoked", "name", "Sync 2")
		v.wantIndian(all[0]["revokedAt"])
		v.wantExport(view.PathTokens, "?all=1&q=sync", "tokens", 3)
		v.wantExport(view.PathTokens, "?q=nothing", "tokens", 0)
		v.wantDownloadsLogged(4)
	})
}

func TestWebhooksAreExported(t *testing.T) {
	t.Parallel()
	onEachEngineWith(t, apptest.Options{Serve: noWebhooks}, func(f fixture) {
		f.inIndia()
		v := f.administrator()
		_, token := v.createToken("HR sync")
		v.post(view.PathWebhookNew, "url", "https://hooks.example.com/hr", "description", "=Payroll", "event", "employee.joined", "strictOrder", "on",
			"rate", "60", "headers", "X-Api-Key: very-hidden-value\nX-Team: another-hidden-value").wantStatus(http.StatusSeeOther)
		second := v.addWebhook("https://other.example.com/lms")
		v.post(second + "/disable").wantRedirect(second)
		secret := v.post(second + "/secret").follow().secret()
		f.provision(token, 1, 2)
		rows := v.wantExport(view.PathWebhooks, "", "webhooks", 2)
		rows[0].want(v, "url", "https://hooks.example.com/hr", "description", "'=Payroll", "events", "employee.joined", "strictOrder", "true", "requestsPerMinute", "60",
			"ownHeaders", "X-Api-Key: ••••••; X-Team: ••••••", "createdBy", admin, "delivered24h", "0", "failed24h", "0", "disabledAt", "", "lastSentAt", "")
		v.wantIndian(rows[0]["createdAt"])
		rows[1].want(v, "state", "disabled", "disabledReason", "by_person", "requestsPerMinute", "", "ownHeaders", "")
		v.wantIndian(rows[1]["disabledAt"])
		if text := fmt.Sprint(rows); strings.Contains(text, "hidden-value") || strings.Contains(text, secret) || strings.Contains(text, "whsec_") {
			f.Errorf("the file has a secret: %s", text)
		}
		v.wantExport(view.PathWebhooks, "?q=other", "webhooks", 1)[0].want(v, "url", "https://other.example.com/lms")
		v.wantExport(view.PathWebhooks, "?q=nothing", "webhooks", 0)
		v.wantDownloadsLogged(3)
	})
}

// TestUnreadExportsOfLogsAreLimited checks that the exports of the lists count as
// reports: a company can't hold the connections with files that it does not read.
func TestUnreadExportsOfLogsAreLimited(t *testing.T) {
	t.Parallel()
	options := apptest.Options{Serve: func(c *app.ServeConfig) { recordRequests(c); c.ReportLimit, c.ReportTimeout = 1, 5*time.Minute }}
	onEachEngineWith(t, options, func(f fixture) {
		v := f.administrator()
		f.exec(`INSERT INTO api_requests (company_id, at, token_id, method, route, status, duration_us, request_id, code, message)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
			SELECT $1, $2, 0, 'GET', '/api/v1/courses', 400, 1, 'req-' || n.i, '', $3 FROM n`, f.company.CompanyID, time.Now().UTC().Truncate(time.Millisecond), strings.Repeat("x", 1500))
		v.unread(view.PathRequestsExport)
		for _, path := range []string{view.PathRequestsExport, view.PathDeliveriesExport, view.PathTokensExport, view.PathWebhooksExport} {
			if refused := v.waitForStatus(path, http.StatusTooManyRequests); refused.Get("Retry-After") == "" {
				f.Errorf("the refusal of %s has no Retry-After header", path)
			}
		}
	})
}
