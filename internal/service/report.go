package service

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/report"
)

// ReportStore is the part of the store that Reports uses. Each report is read from
// one snapshot, ordered by ascending id unless its comment names another order, and
// passed to yield in batches. The rows of a batch are reused after yield has
// returned. An error of yield ends the report.
type ReportStore interface {
	ReportCountStore
	ReportLogStore
	AssignmentReport(ctx context.Context, company int64, f domain.AssignmentFilter, yield func([]domain.Assignment) error) error
	EmployeeReport(ctx context.Context, company int64, f domain.EmployeeFilter, now time.Time, yield func([]domain.EmployeeSummary) error) error
	EmployeeListReport(ctx context.Context, company int64, f domain.EmployeeListFilter, yield func([]domain.EmployeeOverview) error) error
	// AssignmentListReport reads the cabinet's list of assignments.
	AssignmentListReport(ctx context.Context, company int64, q domain.AssignmentQuery, yield func([]domain.Assignment) error) error
	// AuditReport reads the audit log, the newest entry first.
	AuditReport(ctx context.Context, company int64, f domain.AuditFilter, yield func([]domain.AuditEntry) error) error
	CourseOverviews(ctx context.Context, company int64) ([]domain.CourseOverview, error)
	RecordAudit(ctx context.Context, e domain.AuditEntry) error
	Now() time.Time
}

// ReportOptions are the limits of reports; 0 means no limit.
type ReportOptions struct {
	// Timeout is how long one report may take. A report holds a database connection until
	// the client has read the file.
	Timeout time.Duration
	// PerCompany and Total are how many reports may run at once, for one company and
	// for all. Total keeps reports from taking every database connection.
	PerCompany, Total int
}

// DefaultReportOptions are the limits used unless the operator sets others.
var DefaultReportOptions = ReportOptions{Timeout: 10 * time.Minute, PerCompany: 4, Total: 16}

// ReportFile describes the file that a caller asks for, and where it is written.
type ReportFile struct {
	Format ReportFormat
	BOM    bool // a CSV file starts with a byte order mark, which Excel needs
	Begin  BeginReport
}

// ReportFormat is the format of a report file, and the extension of its name.
type ReportFormat string

// The formats of report files.
const (
	ReportCSV  ReportFormat = "csv"
	ReportXLSX ReportFormat = "xlsx"
)

// BeginReport is called when a report has its first rows, or has none, and returns
// the writer of the file. If the report fails before this call, the caller can still
// answer with an error. If it fails later, a part of the file is already written, and
// the caller must make sure that nobody takes it for the whole. The context ends when
// the report's time is over; nothing may be written after that.
type BeginReport func(ctx context.Context, name, contentType string) io.Writer

// Reports writes report files and limits how many are written at once.
type Reports struct {
	store   ReportStore
	options ReportOptions
	counter *counter

	mu      sync.Mutex
	running map[int64]int // the number of running reports by company id
	total   int           // the number of all running reports
}

// NewReports returns the reports of a store.
func NewReports(store ReportStore, options ReportOptions) *Reports {
	return &Reports{store: store, options: options, counter: newCounter(), running: map[int64]int{}}
}

// WriteAssignments writes the report of the company's assignments. Codes:
// too_many_reports.
func (r *Reports) WriteAssignments(ctx context.Context, c domain.Caller, f domain.AssignmentFilter, file ReportFile) error {
	return assignmentTable.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.Assignment) error) error {
		return r.store.AssignmentReport(ctx, c.Company.ID, f, yield)
	})
}

// WriteAssignmentList writes what the cabinet's list of assignments shows. Codes:
// too_many_reports.
func (r *Reports) WriteAssignmentList(ctx context.Context, c domain.Caller, q domain.AssignmentQuery, file ReportFile) error {
	q.Normalize()
	return assignmentTable.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.Assignment) error) error {
		return r.store.AssignmentListReport(ctx, c.Company.ID, q, yield)
	})
}

// WriteEmployees writes the report of the company's employees, with the number of each
// one's assignments by status. Codes: too_many_reports.
func (r *Reports) WriteEmployees(ctx context.Context, c domain.Caller, f domain.EmployeeFilter, file ReportFile) error {
	return employeeTable.write(ctx, r, c, file, func(ctx context.Context, now time.Time, yield func([]domain.EmployeeSummary) error) error {
		return r.store.EmployeeReport(ctx, c.Company.ID, f, now, yield)
	})
}

// WriteAuditLog writes the company's audit log, the newest entry first. Codes:
// invalid_request, too_many_reports.
func (r *Reports) WriteAuditLog(ctx context.Context, c domain.Caller, f domain.AuditFilter, file ReportFile) error {
	if err := f.Check(); err != nil {
		return err
	}
	return auditTable.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.AuditEntry) error) error {
		return r.store.AuditReport(ctx, c.Company.ID, f, yield)
	})
}

// reportSource passes the rows of a report to yield in batches. All rows are judged
// overdue or not at the same instant, now.
type reportSource[T any] func(ctx context.Context, now time.Time, yield func([]T) error) error

// write writes the rows of a source to a file, within the limits of r. Before that it
// records the download in the audit log.
func (t reportTable[T]) write(ctx context.Context, r *Reports, c domain.Caller, file ReportFile, source reportSource[T]) error {
	if err := r.acquire(c.Company.ID); err != nil {
		return err
	}
	defer r.release(c.Company.ID)
	if r.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.options.Timeout)
		defer cancel()
	}
	zone, err := c.Company.Location()
	if err != nil {
		return err
	}
	download := domain.AuditEntry{
		CompanyID: c.Company.ID, Actor: c.Actor, Action: "report.downloaded", RecordKind: "report", RecordID: t.name,
		Detail: fmt.Sprintf("As %s.", strings.ToUpper(string(file.Format))),
	}
	if err := r.store.RecordAudit(ctx, download); err != nil {
		return err
	}
	now := r.store.Now()
	var w report.Writer
	start := func() (err error) {
		w, err = t.writer(ctx, file, now.In(zone))
		return err
	}
	cells := make([]report.Cell, 0, len(t.columns))
	err = source(ctx, now, func(rows []T) error {
		if w == nil {
			if err := start(); err != nil {
				return err
			}
		}
		for i := range rows {
			cells = t.cells(cells[:0], &rows[i], now)
			if err := w.Row(cells); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && w == nil { // no rows: the file has only the header
		err = start()
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("write the %s report: %w", t.name, err)
	}
	return nil
}

// acquire reserves one of the slots that PerCompany and Total allow, to be returned
// with release.
func (r *Reports) acquire(company int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.options.PerCompany > 0 && r.running[company] >= r.options.PerCompany:
		return domain.Errorf(domain.CodeTooManyReports, "Too many reports of this company are running. Try again when one has finished.")
	case r.options.Total > 0 && r.total >= r.options.Total:
		return domain.Errorf(domain.CodeTooManyReports, "Too many reports are running. Try again in a moment.")
	}
	r.running[company]++
	r.total++
	return nil
}

func (r *Reports) release(company int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total--
	if r.running[company]--; r.running[company] == 0 {
		delete(r.running, company)
	}
}
