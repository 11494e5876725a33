package service_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// shelf is a store with given rows.
type shelf struct {
	service.ReportCountStore // not called
	service.ReportLogStore   // not called

	now         time.Time
	assignments []domain.Assignment
	employees   []domain.EmployeeSummary
	err         error                     // after the rows
	reading     func(ctx context.Context) // before the rows
}

func (s *shelf) Now() time.Time { return s.now }

func (*shelf) RecordAudit(context.Context, domain.AuditEntry) error { return nil }

func (s *shelf) AssignmentReport(ctx context.Context, _ int64, _ domain.AssignmentFilter, yield func([]domain.Assignment) error) error {
	return deliver(ctx, s, s.assignments, yield)
}

func (*shelf) AuditReport(context.Context, int64, domain.AuditFilter, func([]domain.AuditEntry) error) error {
	return nil
}

func (*shelf) EmployeeListReport(context.Context, int64, domain.EmployeeListFilter, func([]domain.EmployeeOverview) error) error {
	return nil
}

func (*shelf) CourseOverviews(context.Context, int64) ([]domain.CourseOverview, error) {
	return nil, nil
}

func (*shelf) AssignmentListReport(context.Context, int64, domain.AssignmentQuery, func([]domain.Assignment) error) error {
	return nil
}

func (s *shelf) EmployeeReport(ctx context.Context, _ int64, _ domain.EmployeeFilter, _ time.Time, yield func([]domain.EmployeeSummary) error) error {
	return deliver(ctx, s, s.employees, yield)
}

func deliver[T any](ctx context.Context, s *shelf, rows []T, yield func([]T) error) error {
	if s.reading != nil {
		s.reading(ctx)
	}
	for i := range rows {
		if err := yield(rows[i : i+1]); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.err
}

// file is what a report was written to.
type file struct {
	bytes.Buffer
	name, contentType string
}

func (f *file) begin(_ context.Context, name, contentType string) io.Writer {
	f.name, f.contentType = name, contentType
	return f
}

func (f *file) csv() service.ReportFile {
	return service.ReportFile{Format: service.ReportCSV, Begin: f.begin}
}

func (f *file) xlsx() service.ReportFile {
	return service.ReportFile{Format: service.ReportXLSX, Begin: f.begin}
}

func instant(s string) time.Time {
	t, err := domain.ParseInstant(s)
	if err != nil {
		panic(err)
	}
	return t
}

var (
	riga       = domain.Caller{Company: domain.Company{ID: 7, TimeZone: "Europe/Riga"}}
	activeAt   = instant("2026-07-02T08:00:00.250Z")
	halfPoints = domain.Points(92_50)
)

func stocked() *shelf {
	return &shelf{
		now: instant("2026-07-02T22:30:00Z"), // already the 3rd in Riga
		assignments: []domain.Assignment{
			{
				ID: 1, ExternalID: "A-1", EmployeeExternalID: "E-1", EmployeeName: "=1+1", EmployeeEmail: "e1@x.test", CourseID: 5,
				CourseName: `Охорона "праці", 1`, IsRequired: true, AssignedAt: instant("2026-01-02T08:00:00Z"), Deadline: instant("2026-07-02T22:30:00Z"),
				Progress: domain.Progress{Status: domain.StatusCompleted, Percent: 100_00, Score: &halfPoints, Attempts: 2, StartedAt: &activeAt, CompletedAt: &activeAt, LastActivityAt: &activeAt},
			},
			{
				ID: 2, ExternalID: "A-2", AssignedAt: instant("2026-07-01T08:00:00Z"), Deadline: instant("2026-07-02T22:30:00Z"),
				Progress: domain.Progress{Status: domain.StatusAssigned},
			},
			{
				ID: 3, ExternalID: "A-3", AssignedAt: instant("2026-07-01T08:00:00Z"), Deadline: instant("2026-07-02T22:30:01Z"),
				Progress: domain.Progress{Status: domain.StatusNeedsRetry, Percent: 33_30, Attempts: 1},
			},
		},
		employees: []domain.EmployeeSummary{
			{
				Employee: domain.Employee{ID: 9, ExternalID: "E-9", Email: "e9@x.test", Name: "Eve", Role: domain.RoleManager, Tags: []string{"a", "b; c"}, JoinedAt: activeAt},
				Assigned: 1, Started: 2, Completed: 3, Failed: 4, NeedsRetry: 5, Overdue: 6,
			},
			{Employee: domain.Employee{ID: 10, Email: "e10@x.test", Name: "Ann", Role: domain.RoleEmployee, JoinedAt: activeAt}},
		},
	}
}

const assignmentLines = "id,externalId,employeeExternalId,employeeName,employeeEmail,courseId,courseName,status,statusCategory,isOverdue," +
	"completionPercent,score,numberOfAttempts,isRequired,assignedAt,deadline,startedAt,completedAt,lastActivityAt\r\n" +
	`1,A-1,E-1,'=1+1,e1@x.test,5,"Охорона ""праці"", 1",completed,completed,false,100,92.5,2,true,` +
	"2026-01-02T10:00:00+02:00,2026-07-03T01:30:00+03:00,2026-07-02T11:00:00.25+03:00,2026-07-02T11:00:00.25+03:00,2026-07-02T11:00:00.25+03:00\r\n" +
	"2,A-2,,,,0,,assigned,overdue,true,0,,0,false,2026-07-01T11:00:00+03:00,2026-07-03T01:30:00+03:00,,,2026-07-01T11:00:00+03:00\r\n" +
	"3,A-3,,,,0,,needs_retry,in_progress,false,33.3,,1,false,2026-07-01T11:00:00+03:00,2026-07-03T01:30:01+03:00,,,2026-07-01T11:00:00+03:00\r\n"

func TestAssignmentReport(t *testing.T) {
	t.Parallel()
	r := service.NewReports(stocked(), service.DefaultReportOptions)
	var f file
	must(t, "write", r.WriteAssignments(t.Context(), riga, domain.AssignmentFilter{}, f.csv()))
	if diff := cmp.Diff(assignmentLines, f.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if f.name != "assignments-2026-07-03.csv" || f.contentType != "text/csv; charset=utf-8" {
		t.Errorf("%s, %s", f.name, f.contentType)
	}
	var marked file
	must(t, "write", r.WriteAssignments(t.Context(), riga, domain.AssignmentFilter{}, service.ReportFile{Format: service.ReportCSV, BOM: true, Begin: marked.begin}))
	if marked.String() != "\uFEFF"+assignmentLines {
		t.Errorf("with a BOM: %q", marked.String())
	}
}

func TestEmployeeReport(t *testing.T) {
	t.Parallel()
	r := service.NewReports(stocked(), service.DefaultReportOptions)
	var f file
	must(t, "write", r.WriteEmployees(t.Context(), riga, domain.EmployeeFilter{}, f.csv()))
	want := "id,externalId,email,name,role,tags,joinedAt,assigned,started,completed,failed,needsRetry,overdue\r\n" +
		"9,E-9,e9@x.test,Eve,manager,a; b; c,2026-07-02T11:00:00.25+03:00,1,2,3,4,5,6\r\n" +
		"10,,e10@x.test,Ann,employee,,2026-07-02T11:00:00.25+03:00,0,0,0,0,0,0\r\n"
	if diff := cmp.Diff(want, f.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if f.name != "employees-2026-07-03.csv" {
		t.Error(f.name)
	}
}

func TestReportWorkbook(t *testing.T) {
	t.Parallel()
	r := service.NewReports(stocked(), service.DefaultReportOptions)
	var f file
	must(t, "write", r.WriteAssignments(t.Context(), riga, domain.AssignmentFilter{}, f.xlsx()))
	if f.name != "assignments-2026-07-03.xlsx" || f.contentType != "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" {
		t.Errorf("%s, %s", f.name, f.contentType)
	}
	book, err := excelize.OpenReader(&f)
	must(t, "open", err)
	rows, err := book.GetRows("Assignments")
	must(t, "read", err)
	if len(rows) != 4 || strings.Join(rows[0], ",") != strings.TrimSuffix(strings.SplitAfter(assignmentLines, "\n")[0], "\r\n") {
		t.Fatalf("%q", rows)
	}
	want := []string{
		"1", "A-1", "E-1", "=1+1", "e1@x.test", "5", `Охорона "праці", 1`, "completed", "completed", "FALSE", "100", "92.5", "2", "TRUE",
		"2026-01-02 10:00:00", "2026-07-03 01:30:00", "2026-07-02 11:00:00", "2026-07-02 11:00:00", "2026-07-02 11:00:00",
	}
	if diff := cmp.Diff(want, rows[1]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEmptyReportHasItsHeader(t *testing.T) {
	t.Parallel()
	r := service.NewReports(&shelf{}, service.DefaultReportOptions)
	var f file
	must(t, "write", r.WriteAssignments(t.Context(), riga, domain.AssignmentFilter{}, f.csv()))
	if got := f.String(); !strings.HasPrefix(got, "id,externalId,") || strings.Count(got, "\r\n") != 1 {
		t.Errorf("%q", got)
	}
	var book file
	must(t, "write", r.WriteEmployees(t.Context(), riga, domain.EmployeeFilter{}, book.xlsx()))
	opened, err := excelize.OpenReader(&book)
	must(t, "open", err)
	if rows, err := opened.GetRows("Employees"); err != nil || len(rows) != 1 {
		t.Errorf("%q, %v", rows, err)
	}
}

// A failure before the first row promises nothing; one after it leaves a file
// without its end.
func TestReportFails(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	before := &shelf{err: gone}
	var f file
	if err := service.NewReports(before, service.DefaultReportOptions).WriteAssignments(t.Context(), riga, domain.AssignmentFilter{}, f.csv()); !errors.Is(err, gone) || f.name != "" {
		t.Errorf("before the first row: %v, file %q", err, f.name)
	}
	after := stocked()
	after.err = gone
	if err := service.NewReports(after, service.DefaultReportOptions).WriteAssignments(t.Context(), riga, domain.AssignmentFilter{}, f.xlsx()); !errors.Is(err, gone) || f.name == "" {
		t.Errorf("after the last row: %v, file %q", err, f.name)
	}
	if _, err := excelize.OpenReader(&f); err == nil {
		t.Error("a part of a workbook opens like a whole one")
	}
}

// A report never shows the times of another zone than the company's.
func TestReportOfUnknownTimeZoneFails(t *testing.T) {
	t.Parallel()
	caller := domain.Caller{Company: domain.Company{ID: 7, TimeZone: "Mars/Olympus_Mons"}}
	var f file
	err := service.NewReports(stocked(), service.DefaultReportOptions).WriteAssignments(t.Context(), caller, domain.AssignmentFilter{}, f.csv())
	if err == nil || f.Len() > 0 {
		t.Errorf("error %v, %d bytes", err, f.Len())
	}
}

func TestReportTakesTooLong(t *testing.T) {
	t.Parallel()
	slow := stocked()
	slow.reading = func(ctx context.Context) { <-ctx.Done() }
	r := service.NewReports(slow, service.ReportOptions{Timeout: time.Millisecond})
	var f file
	if err := r.WriteAssignments(t.Context(), riga, domain.AssignmentFilter{}, f.csv()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestReportsAtOnce(t *testing.T) {
	t.Parallel()
	reading, goOn := make(chan struct{}), make(chan struct{})
	s := stocked()
	s.reading = func(context.Context) { reading <- struct{}{}; <-goOn }
	r := service.NewReports(s, service.ReportOptions{PerCompany: 2, Total: 3})
	done := make(chan error)
	run := func(company int64) {
		c := riga
		c.Company.ID = company
		var f file
		done <- r.WriteEmployees(t.Context(), c, domain.EmployeeFilter{}, f.csv())
	}
	start := func(company int64) {
		go run(company)
		<-reading
	}
	refuse := func(company int64) {
		t.Helper()
		go run(company)
		select {
		case err := <-done:
			if domain.CodeOf(err) != domain.CodeTooManyReports {
				t.Errorf("one more of company %d: %v", company, err)
			}
		case <-reading:
			t.Fatalf("one more of company %d is running", company)
		}
	}
	start(1)
	start(1)
	refuse(1) // the company's limit, while there is room for others
	start(2)
	refuse(2) // everybody's limit
	goOn <- struct{}{}
	must(t, "the first to end", <-done)
	go run(2)
	<-reading
	close(goOn)
	for range 3 {
		must(t, "the rest", <-done)
	}
}
