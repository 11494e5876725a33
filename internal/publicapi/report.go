package publicapi

import (
	"context"
	"net/http"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
	"github.com/coursebridge/coursebridge/internal/service"
)

// ReportService writes report files. Both give too_many_reports.
type ReportService interface {
	Assignments(ctx context.Context, c domain.Caller, f domain.AssignmentFilter, form service.ReportForm, begin service.BeginReport) error
	Employees(ctx context.Context, c domain.Caller, f domain.EmployeeFilter, form service.ReportForm, begin service.BeginReport) error
}

// reports implements the operations that answer with a file.
type reports struct{ svc ReportService }

var _ oas.RawHandler = reports{}

// NewReports gives the operations that answer with a file.
func NewReports(svc ReportService) oas.RawHandler { return reports{svc: svc} }

func (h reports) ReportAssignmentsCsv(ctx context.Context, p oas.ReportAssignmentsCsvParams, w http.ResponseWriter) error {
	var q httpapi.Query
	filter := assignmentFilter(&q, p.EmployeeExternalID, p.Status, p.CourseID, p.UpdatedSince)
	form := service.ReportForm{Format: service.ReportCSV, BOM: q.Bool("bom", p.Bom)}
	return h.assignments(ctx, &q, filter, form, w)
}

func (h reports) ReportAssignmentsXlsx(ctx context.Context, p oas.ReportAssignmentsXlsxParams, w http.ResponseWriter) error {
	var q httpapi.Query
	filter := assignmentFilter(&q, p.EmployeeExternalID, p.Status, p.CourseID, p.UpdatedSince)
	return h.assignments(ctx, &q, filter, service.ReportForm{Format: service.ReportXLSX}, w)
}

func (h reports) ReportEmployeesCsv(ctx context.Context, p oas.ReportEmployeesCsvParams, w http.ResponseWriter) error {
	var q httpapi.Query
	filter := domain.EmployeeFilter{Tag: q.Tag("tag", p.Tag)}
	form := service.ReportForm{Format: service.ReportCSV, BOM: q.Bool("bom", p.Bom)}
	return h.employees(ctx, &q, filter, form, w)
}

func (h reports) ReportEmployeesXlsx(ctx context.Context, p oas.ReportEmployeesXlsxParams, w http.ResponseWriter) error {
	var q httpapi.Query
	filter := domain.EmployeeFilter{Tag: q.Tag("tag", p.Tag)}
	return h.employees(ctx, &q, filter, service.ReportForm{Format: service.ReportXLSX}, w)
}

func (h reports) assignments(ctx context.Context, q *httpapi.Query, f domain.AssignmentFilter, form service.ReportForm, w http.ResponseWriter) error {
	if err := q.Err(); err != nil {
		return err
	}
	return httpapi.Download(ctx, w, func(begin httpapi.Begin) error {
		return h.svc.Assignments(ctx, callerFrom(ctx), f, form, service.BeginReport(begin))
	})
}

func (h reports) employees(ctx context.Context, q *httpapi.Query, f domain.EmployeeFilter, form service.ReportForm, w http.ResponseWriter) error {
	if err := q.Err(); err != nil {
		return err
	}
	return httpapi.Download(ctx, w, func(begin httpapi.Begin) error {
		return h.svc.Employees(ctx, callerFrom(ctx), f, form, service.BeginReport(begin))
	})
}
