package publicapi

import (
	"context"
	"net/http"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/service"
)

// ReportService writes report files. Codes: too_many_reports.
type ReportService interface {
	Assignments(ctx context.Context, c domain.Caller, f domain.AssignmentFilter, form service.ReportForm, begin service.BeginReport) error
	Employees(ctx context.Context, c domain.Caller, f domain.EmployeeFilter, form service.ReportForm, begin service.BeginReport) error
}

// reportAssignments answers with a file of assignments.
func (h *handler) reportAssignments(format service.ReportFormat) httpapi.Handler[domain.Token] {
	return httpapi.File(func(ctx context.Context, w http.ResponseWriter, r *request) error {
		p := r.Params()
		filter, form := assignmentFilter(p), reportForm(p, format)
		if err := p.Err(); err != nil {
			return err
		}
		return httpapi.Download(ctx, w, func(begin httpapi.Begin) error {
			return h.reports.Assignments(ctx, callerOf(r), filter, form, service.BeginReport(begin))
		})
	})
}

// reportEmployees answers with a file of employees.
func (h *handler) reportEmployees(format service.ReportFormat) httpapi.Handler[domain.Token] {
	return httpapi.File(func(ctx context.Context, w http.ResponseWriter, r *request) error {
		p := r.Params()
		filter, form := domain.EmployeeFilter{Tag: p.Tag("tag")}, reportForm(p, format)
		if err := p.Err(); err != nil {
			return err
		}
		return httpapi.Download(ctx, w, func(begin httpapi.Begin) error {
			return h.reports.Employees(ctx, callerOf(r), filter, form, service.BeginReport(begin))
		})
	})
}

// reportForm reads whether a CSV file is to start with a byte order mark.
func reportForm(p *httpapi.Params, format service.ReportFormat) service.ReportForm {
	form := service.ReportForm{Format: format}
	if format == service.ReportCSV {
		form.BOM = p.Bool("bom")
	}
	return form
}
