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

// ReportStore reads the rows of reports, each report from one snapshot, in
// ascending id. Rows are valid until yield returns; reading ends when yield fails.
type ReportStore interface {
	AssignmentReport(ctx context.Context, company int64, f domain.AssignmentFilter, yield func([]domain.Assignment) error) error
	EmployeeReport(ctx context.Context, company int64, f domain.EmployeeFilter, now time.Time, yield func([]domain.EmployeeSummary) error) error
	// AuditReport reads the audit log, the newest entry first.
	AuditReport(ctx context.Context, company int64, f domain.AuditFilter, yield func([]domain.AuditEntry) error) error
	RecordAudit(ctx context.Context, e domain.AuditEntry) error
	Now() time.Time
}

// ReportOptions are the limits of reports; 0 is none.
type ReportOptions struct {
	// Time is how long one report may take. A report holds a database connection for
	// as long as its reader reads.
	Time time.Duration
	// PerCompany and Total are how many may run at once. The total keeps reports
	// from taking every connection there is.
	PerCompany, Total int
}

// DefaultReportOptions are the limits used unless the operator sets others.
var DefaultReportOptions = ReportOptions{Time: 10 * time.Minute, PerCompany: 4, Total: 16}

// ReportForm is the kind of file that is asked for.
type ReportForm struct {
	Format ReportFormat
	BOM    bool // at the start of a CSV, for Excel
}

// ReportFormat is the ending of a report's file name.
type ReportFormat string

// The formats.
const (
	ReportCSV  ReportFormat = "csv"
	ReportXLSX ReportFormat = "xlsx"
)

// BeginReport is called once a report has its first rows and returns the writer of
// the file. A failure before that can still be answered as an error; a failure after
// it leaves a part of a file, which must not be taken for the whole. The context
// ends when the report's time is over; nothing may be written after that.
type BeginReport func(ctx context.Context, name, contentType string) io.Writer

// Reports is the use cases around report files.
type Reports struct {
	store   ReportStore
	options ReportOptions

	mu      sync.Mutex
	running map[int64]int // by company
	total   int
}

// NewReports returns the use cases over a store.
func NewReports(store ReportStore, options ReportOptions) *Reports {
	return &Reports{store: store, options: options, running: map[int64]int{}}
}

// Assignments writes the company's assignments. Codes: too_many_reports.
func (r *Reports) Assignments(ctx context.Context, c domain.Caller, f domain.AssignmentFilter, form ReportForm, begin BeginReport) error {
	return writeReport(ctx, r, c, assignmentTable, form, begin, func(ctx context.Context, _ time.Time, yield func([]domain.Assignment) error) error {
		return r.store.AssignmentReport(ctx, c.Company.ID, f, yield)
	})
}

// Employees writes the company's employees with the numbers of their
// assignments. Codes: too_many_reports.
func (r *Reports) Employees(ctx context.Context, c domain.Caller, f domain.EmployeeFilter, form ReportForm, begin BeginReport) error {
	return writeReport(ctx, r, c, employeeTable, form, begin, func(ctx context.Context, now time.Time, yield func([]domain.EmployeeSummary) error) error {
		return r.store.EmployeeReport(ctx, c.Company.ID, f, now, yield)
	})
}

// AuditLog writes the company's audit log, the newest entry first. Codes:
// invalid_request, too_many_reports.
func (r *Reports) AuditLog(ctx context.Context, c domain.Caller, f domain.AuditFilter, form ReportForm, begin BeginReport) error {
	if err := f.Check(); err != nil {
		return err
	}
	return writeReport(ctx, r, c, auditTable, form, begin, func(ctx context.Context, _ time.Time, yield func([]domain.AuditEntry) error) error {
		return r.store.AuditReport(ctx, c.Company.ID, f, yield)
	})
}

// writeReport writes what source yields. One instant decides for the whole file
// what is overdue.
func writeReport[T any](ctx context.Context, r *Reports, c domain.Caller, t reportTable[T], form ReportForm, begin BeginReport,
	source func(ctx context.Context, now time.Time, yield func([]T) error) error,
) error {
	if err := r.admit(c.Company.ID); err != nil {
		return err
	}
	defer r.leave(c.Company.ID)
	if r.options.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.options.Time)
		defer cancel()
	}
	zone, err := c.Company.Location()
	if err != nil {
		return err
	}
	download := domain.AuditEntry{
		CompanyID: c.Company.ID, Actor: c.Actor, Action: "report.downloaded", RecordKind: "report", RecordID: t.name,
		Detail: fmt.Sprintf("As %s.", strings.ToUpper(string(form.Format))),
	}
	if err := r.store.RecordAudit(ctx, download); err != nil {
		return err
	}
	now := r.store.Now()
	var w report.Writer
	start := func() (err error) {
		w, err = t.writer(ctx, form, now.In(zone), begin)
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
	if err == nil && w == nil {
		err = start()
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("report of %s: %w", t.name, err)
	}
	return nil
}

// admit reserves one of the company's places; leave releases it.
func (r *Reports) admit(company int64) error {
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

func (r *Reports) leave(company int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total--
	if r.running[company]--; r.running[company] == 0 {
		delete(r.running, company)
	}
}
