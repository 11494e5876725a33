package publicapi_test

import (
	gocmp "cmp"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/xuri/excelize/v2"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// companyService is a fake service whose tokens all belong to one company.
type companyService struct {
	*fake
	company domain.Company
}

func (o companyService) Authenticate(ctx context.Context, bearer string, from netip.Addr) (domain.Token, error) {
	t, err := o.fake.Authenticate(ctx, bearer, from)
	t.CompanyID, t.Company = o.company.ID, o.company
	return t, err
}

// reportServer serves the reports of one company.
type reportServer struct {
	*httptest.Server
	store   *store.Store
	company int64
	ended   chan struct{} // one for each request that was answered, in whatever way
	// detached keeps requests running when the client leaves, as the server does
	// for the answers of an API; then only a failing write ends them.
	detached atomic.Bool
}

func newReportServer(t *testing.T, m hookedStore, options service.ReportOptions) *reportServer {
	t.Helper()
	c := storetest.Company(t, m.Store, "Report").Company
	c.TimeZone = "Asia/Kolkata"
	api := publicapi.New(companyService{fake: &fake{}, company: c}, service.NewReports(m, options), publicapi.Options{})
	d := &reportServer{store: m.Store, company: c.ID, ended: make(chan struct{}, 100)}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { d.ended <- struct{}{} }()
		if d.detached.Load() {
			r = r.WithContext(context.WithoutCancel(r.Context()))
		}
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *reportServer) get(t *testing.T, path string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+"/api/v1/reports/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+readToken)
	answer, err := d.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// readCSV reads a whole CSV file.
func readCSV(t *testing.T, answer *http.Response) [][]string {
	t.Helper()
	if answer.StatusCode != http.StatusOK {
		all, _ := io.ReadAll(answer.Body)
		t.Fatalf("%s: %d %s", answer.Request.URL, answer.StatusCode, all)
	}
	all, err := csv.NewReader(answer.Body).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var ist = time.FixedZone("IST", 5*3600+1800)

// reportRow returns an assignment as a report must show it.
func reportRow(a domain.Assignment, now time.Time) []string {
	at := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return t.In(ist).Format("2006-01-02T15:04:05.999-07:00")
	}
	text := func(s string) string {
		if strings.ContainsAny(s[:min(1, len(s))], "=+-@") {
			return "'" + s
		}
		return s
	}
	last, score := a.LastActivity(), ""
	if a.Score != nil {
		score = a.Score.String()
	}
	return []string{
		strconv.FormatInt(a.ID, 10), a.ExternalID, a.EmployeeExternalID, text(a.EmployeeName), a.EmployeeEmail,
		strconv.FormatInt(a.CourseID, 10), a.CourseName, string(a.Status), string(a.Category(now)), strconv.FormatBool(a.Overdue(now)),
		a.Percent.String(), score, strconv.Itoa(a.Attempts), strconv.FormatBool(a.IsRequired), at(&a.AssignedAt), at(&a.Deadline),
		at(a.StartedAt), at(a.CompletedAt), at(&last),
	}
}

func (d *reportServer) list(t *testing.T, f domain.AssignmentFilter) (all [][]string) {
	t.Helper()
	for page := 1; ; page++ {
		got, err := d.store.Assignments(t.Context(), d.company, f, domain.PageRequest{Number: page, Limit: domain.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range got.Items {
			all = append(all, reportRow(a, d.store.Now()))
		}
		if !got.More {
			slices.SortFunc(all, func(a, b []string) int { return gocmp.Or(len(a[0])-len(b[0]), strings.Compare(a[0], b[0])) }) // by id
			return all
		}
	}
}

func TestReportFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d := newReportServer(t, hookedStore{Store: s}, service.DefaultReportOptions)
		filled := storetest.Fill(t, s, d.company, storetest.Size{Employees: 40, Courses: 4, Assignments: 2500})
		since := storetest.FilledFrom.Add(9*time.Hour + 2000*time.Second)
		for _, c := range []struct {
			query  string
			filter domain.AssignmentFilter
		}{
			{"?updatedSince=" + since.In(ist).Format(time.RFC3339), domain.AssignmentFilter{UpdatedSince: &since}}, // the + is not encoded
			{"", domain.AssignmentFilter{}},
			{"?status=needs_retry", domain.AssignmentFilter{Status: domain.StatusNeedsRetry}},
			{"?employeeExternalId=emp-7", domain.AssignmentFilter{EmployeeExternalID: "emp-7"}},
			{"?courseId=" + strconv.FormatInt(filled.Courses[1], 10), domain.AssignmentFilter{CourseID: filled.Courses[1]}},
			{"?employeeExternalId=nobody", domain.AssignmentFilter{EmployeeExternalID: "nobody"}},
		} {
			answer := d.get(t, "assignments.csv"+c.query)
			got := readCSV(t, answer)
			if diff := cmp.Diff(d.list(t, c.filter), got[1:], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -list +report:\n%s", c.query, diff)
			}
			name := "assignments-" + s.Now().In(ist).Format(time.DateOnly) + ".csv"
			if _, disposition, err := mime.ParseMediaType(answer.Header.Get("Content-Disposition")); err != nil || disposition["filename"] != name {
				t.Errorf("Content-Disposition %q, want %s", answer.Header.Get("Content-Disposition"), name)
			}
			if answer.Header.Get("Content-Type") != "text/csv; charset=utf-8" || answer.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%v", answer.Header)
			}
		}
	})
}

func TestReportsOfEmployeesAndWorkbooks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d := newReportServer(t, hookedStore{Store: s}, service.DefaultReportOptions)
		storetest.Fill(t, s, d.company, storetest.Size{Employees: 40, Courses: 4, Assignments: 500})
		all, third := readCSV(t, d.get(t, "employees.csv")), readCSV(t, d.get(t, "employees.csv?tag=third"))
		if len(all) != 41 || len(third) != 15 || third[1][5] != "third; Склад" {
			t.Errorf("%d employees, %d of them third: %q", len(all)-1, len(third)-1, third[1])
		}
		assignments := 0
		for _, row := range all[1:] {
			for _, count := range row[7:12] {
				n, _ := strconv.Atoi(count)
				assignments += n
			}
		}
		if assignments != 500 || all[4][3] != "'=cmd|' /C calc'!A0" {
			t.Errorf("%d assignments, %q", assignments, all[4])
		}
		marked, err := io.ReadAll(d.get(t, "employees.csv?bom=true").Body)
		if err != nil || !strings.HasPrefix(string(marked), "\uFEFFid,") {
			t.Errorf("%.20q, %v", marked, err)
		}
		for path, sheet := range map[string]string{"employees.xlsx?tag=third": "Employees", "assignments.xlsx?status=started": "Assignments"} {
			answer := d.get(t, path)
			if got := answer.Header.Get("Content-Type"); got != "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" {
				t.Error(got)
			}
			book, err := excelize.OpenReader(answer.Body)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			rows, err := book.GetRows(sheet)
			plain := readCSV(t, d.get(t, strings.Replace(path, ".xlsx", ".csv", 1)))
			if err != nil || len(rows) != len(plain) || rows[1][0] != plain[1][0] || !cmp.Equal(rows[0], plain[0]) {
				t.Errorf("%s: %d rows, want %d: %v", path, len(rows), len(plain), err)
			}
			if sheet == "Employees" && rows[2][3] != "=cmd|' /C calc'!A0" {
				t.Errorf("%q", rows[2])
			}
		}
	})
}

func TestReportRefusals(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	d := newReportServer(t, hookedStore{Store: s}, service.DefaultReportOptions)
	for _, path := range []string{
		"assignments.csv?status=done", "assignments.xlsx?status=", "assignments.csv?courseId=x", "assignments.csv?updatedSince=2026-01-01",
		"assignments.csv?bom=1", "assignments.csv?employeeExternalId=", "employees.csv?tag=", "employees.csv?bom=yes", "employees.xlsx?tag=%00",
		"assignments.csv?status=started&status=failed",
	} {
		answer := d.get(t, path)
		if got := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusBadRequest || got != "application/json; charset=utf-8" || answer.Header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %d %v", path, answer.StatusCode, answer.Header)
		}
	}
}

// hookedStore calls back before a report's rows and after the first ones.
type hookedStore struct {
	*store.Store
	before func() error
	first  func()
}

func (m hookedStore) AssignmentReport(ctx context.Context, company int64, f domain.AssignmentFilter, yield func([]domain.Assignment) error) error {
	if m.before != nil {
		if err := m.before(); err != nil {
			return err
		}
	}
	began := false
	return m.Store.AssignmentReport(ctx, company, f, func(rows []domain.Assignment) error {
		err := yield(rows)
		if m.first != nil && !began {
			m.first()
		}
		began = true
		return err
	})
}

func TestTooManyReports(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	begun, goOn := make(chan struct{}), make(chan struct{})
	wait := func() error { begun <- struct{}{}; <-goOn; return nil }
	c := storetest.Company(t, s, "Report").Company
	reports := service.NewReports(hookedStore{Store: s, before: wait}, service.ReportOptions{PerCompany: 1})
	h := testAPI{publicapi.New(companyService{fake: &fake{}, company: c}, reports, publicapi.Options{})}
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- h.ask(readToken, "GET", "/reports/assignments.csv", "") }()
	<-begun
	rec := h.ask(readToken, "GET", "/reports/employees.xlsx", "")
	if f := failureOf(t, rec); rec.Code != 429 || f.Code != "too_many_reports" || rec.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
	close(goOn)
	if rec := <-first; rec.Code != 200 || !strings.HasPrefix(rec.Body.String(), "id,") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if rec := h.ask(readToken, "GET", "/reports/employees.csv", ""); rec.Code != 200 {
		t.Errorf("afterwards: %d %s", rec.Code, rec.Body)
	}
}

func TestReportOfUnreachableDatabase(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	c := storetest.Company(t, s, "Report").Company
	down := func() error { return domain.Errorf(domain.CodeUnavailable, "Not now.") }
	reports := service.NewReports(hookedStore{Store: s, before: down}, service.DefaultReportOptions)
	h := testAPI{publicapi.New(companyService{fake: &fake{}, company: c}, reports, publicapi.Options{})}
	rec := h.ask(readToken, "GET", "/reports/assignments.xlsx", "")
	if f := failureOf(t, rec); rec.Code != 503 || f.Code != "unavailable" || rec.Header().Get("Content-Disposition") != "" {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
}

// largeSize is more than the buffers between the store and a client hold.
var largeSize = storetest.Size{Employees: 50, Courses: 3, Assignments: 60_000}

// A client that leaves stops the work, and the snapshot is given back.
func TestReportClientLeaves(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d := newReportServer(t, hookedStore{Store: s}, service.DefaultReportOptions)
		storetest.Fill(t, s, d.company, largeSize)
		for _, detached := range []bool{false, true} {
			d.detached.Store(detached)
			for _, path := range []string{"assignments.csv", "assignments.xlsx"} {
				answer := d.get(t, path)
				if _, err := io.ReadFull(answer.Body, make([]byte, 1000)); err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				<-d.ended
			}
		}
		err := s.Engine().Write(t.Context(), func(tx db.Tx) error { // needs that nobody reads any more
			_, err := tx.Exec(t.Context(), `DELETE FROM assignments WHERE company_id = $1`, d.company)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A client that takes nothing is cut off when the report's time is over.
func TestReportClientStalls(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d := newReportServer(t, hookedStore{Store: s}, service.ReportOptions{Timeout: 300 * time.Millisecond})
		storetest.Fill(t, s, d.company, largeSize)
		conn, err := net.Dial("tcp", d.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		_, err = io.WriteString(conn, "GET /api/v1/reports/assignments.csv HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+readToken+"\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		<-d.ended
	})
}

// A database that fails midway breaks the connection: what has arrived does not
// look like a whole file.
func TestReportBreaksMidway(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	s := storetest.Open(t, address)
	kill := func() {
		err := s.Engine().Write(t.Context(), func(tx db.Tx) error {
			_, err := tx.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	d := newReportServer(t, hookedStore{Store: s, first: kill}, service.DefaultReportOptions)
	storetest.Fill(t, s, d.company, storetest.Size{Employees: 50, Courses: 3, Assignments: 5000})
	for _, path := range []string{"assignments.csv", "assignments.xlsx"} {
		answer := d.get(t, path)
		if n, err := io.Copy(io.Discard, answer.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: the client sees %v after %d bytes", path, err, n)
		}
	}
}
