package cabinet_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestAuditLog(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		path, secret := v.createToken("HR sync")
		f.provision(secret, 1, 60)
		v.get(view.PathAudit).wantStatus(http.StatusOK).wantText("More than 50 entries")
		v.get(view.PathAudit+"?action=token.&actor=person").wantStatus(http.StatusOK).wantText("Token created", admin, path, "127.0.0.1").wantNoText("Person 7<")
		v.get(view.PathAudit + "?actor=token").wantStatus(http.StatusOK).wantText("Person 60").wantNoText("Token created")
		v.get(view.PathAudit + "?to=2001-01-01T00:00").wantStatus(http.StatusOK).wantText("Nothing matches")
		v.get(view.PathAudit + "?from=2001-01-01T00:00&action=token.").wantStatus(http.StatusOK).wantText("Token created")
		v.get(view.PathAudit + "?from=soon").wantStatus(http.StatusOK).wantText("Enter a date and time")

		const capped = "More match than a search shows"
		v.get(view.PathAudit+"?q=HR-7").wantStatus(http.StatusOK).wantText("1 entry", "Person 7", `value="HR-7"`, `href="`+view.PathEmployee(7)+`"`).wantNoText("Person 8", capped)
		v.get(view.PathAudit + "?q=hr-").wantStatus(http.StatusOK).wantText(capped)
		v.get(view.PathAudit + "?q=HR+sync").wantStatus(http.StatusOK).wantText("More than 50 entries").wantNoText("Token created")
		v.get(view.PathAudit+"?q="+admin+"&action=token.").wantStatus(http.StatusOK).wantText("1 entry", "Token created")
		v.get(view.PathAudit + "?q=nobody").wantStatus(http.StatusOK).wantText("Nothing matches")
		if rows := v.get(view.PathAuditExport + "?q=HR-7").wantStatus(http.StatusOK).raw; strings.Count(rows, "Person 7") != 1 || strings.Contains(rows, "Person 8") {
			f.Errorf("the export of a search is %q", rows)
		}

		next := v.get(view.PathAudit + "?actor=token").find(`href="(` + view.PathAudit + `\?[^"]*after=[^"]+)"`)
		v.get(next).wantStatus(http.StatusOK).wantText("Person 1", "Person 10").wantNoText("Person 60", "Person 11")
		older := view.PathAudit + "?actor=token&after=1794818921123-7" // in the format of older links
		v.get(older).wantStatus(http.StatusOK).wantText("Person 60", "Person 11").wantNoText("Person 10")

		export := v.get(view.PathAuditExport + "?actor=token").wantStatus(http.StatusOK)
		if got := export.header.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="audit-`) {
			f.Errorf("the export is %q", got)
		}
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(export.raw, "\ufeff"))).ReadAll()
		if err != nil || len(rows) != 61 {
			f.Fatalf("%d rows, %v", len(rows), err)
		}
		if text := fmt.Sprint(rows[1]); !strings.Contains(text, "Person 60") || !strings.Contains(text, "employee.") {
			f.Errorf("the first row is %s", text)
		}
		v.get(view.PathAuditExport + "?from=soon").wantRedirect(view.PathAudit + "?from=soon")
	})
}

func TestAuditExportRefusesABadFilter(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.get(view.PathAuditExport + "?actor=robot").wantStatus(http.StatusBadRequest).wantText("This did not work")
		v.get(view.PathAudit + "?actor=robot").wantStatus(http.StatusOK).wantText("Must be person, token")
	})
}

// unread starts a download and reads nothing but its status.
func (v *visitor) unread(path string) {
	v.Helper()
	u, err := url.Parse(v.program.URL)
	if err != nil {
		v.Fatal(err)
	}
	// A small buffer, set before the connection is made, keeps the kernel from reading for us.
	small := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var set error
		err := c.Control(func(fd uintptr) { set = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		return errors.Join(err, set)
	}}
	conn, err := small.DialContext(v.Context(), "tcp", u.Host)
	if err != nil {
		v.Fatal(err)
	}
	v.Cleanup(func() { _ = conn.Close() })
	var cookies []string
	for _, cookie := range v.client.Jar.Cookies(u) {
		cookies = append(cookies, cookie.String())
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n", path, u.Host, strings.Join(cookies, "; ")); err != nil {
		v.Fatal(err)
	}
	status := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, status); err != nil || string(status) != "HTTP/1.1 200" {
		v.Fatalf("GET %s: %q, %v", path, status, err)
	}
}

func TestUnreadAuditExportsAreLimited(t *testing.T) {
	t.Parallel()
	const limit = 2
	options := apptest.Options{Serve: func(c *app.ServeConfig) { c.ReportLimit, c.ReportTimeout = limit, 5*time.Second }}
	onEachEngineWith(t, options, func(f fixture) {
		v := f.administrator()
		f.exec(`INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id, employee_id,
				request_id, address, detail)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
			SELECT $1, $2, 'operator', 0, '', 'company.changed', 'company', '1', 0, '', '', $3 FROM n`,
			f.company.CompanyID, time.Now().UTC(), strings.Repeat("x", 1500))
		for range limit {
			v.unread(view.PathAuditExport)
		}
		refused := v.waitForStatus(view.PathAuditExport, http.StatusTooManyRequests)
		if refused.Get("Retry-After") == "" {
			f.Error("the refusal has no Retry-After header")
		}
		v.get(view.PathAudit).wantStatus(http.StatusOK)
		// The stalled downloads end with their time, and make room for others.
		v.waitForStatus(view.PathAuditExport, http.StatusOK)
		if log := f.program.Log.String(); strings.Contains(log, "database unavailable") || strings.Contains(log, "can't reach its database") {
			f.Errorf("a slow client is logged as an unavailable database:\n%s", log)
		}
	})
}

func TestErasedPeopleLeaveTheAuditLog(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		_, secret := v.createToken("HR sync")
		f.provision(secret, 1, 1)
		v.get(view.PathAudit).wantStatus(http.StatusOK).wantText("Person 1")
		if got := f.callAPI(secret, http.MethodDelete, "/employees/HR-1", nil); got != http.StatusOK {
			f.Fatalf("delete: %d", got)
		}
		v.get(view.PathAudit).wantStatus(http.StatusOK).wantText("Erased employee").wantNoText("Person 1", "p1@baltic.example")
		v.get(view.PathAudit + "?q=HR-1").wantStatus(http.StatusOK).wantText("Nothing matches")
	})
}
