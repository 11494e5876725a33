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
	WriteAssignments(ctx context.Context, c domain.Caller, f domain.AssignmentFilter, file service.ReportFile) error
	WriteEmployees(ctx context.Context, c domain.Caller, f domain.EmployeeFilter, file service.ReportFile) error
}

// reportAssignments answers with a file of assignments.
func (h *handler) reportAssignments(format service.ReportFormat) httpapi.Handler[domain.Token] {
	return httpapi.File(func(ctx context.Context, w http.ResponseWriter, r *request) error {
		p := r.Params()
		filter, file := assignmentFilter(p), reportFile(p, format)
		if err := p.Err(); err != nil {
			return err
		}
		return httpapi.Download(ctx, w, func(begin httpapi.Begin) error {
			file.Begin = service.BeginReport(begin)
			return h.reports.WriteAssignments(ctx, callerOf(r), filter, file)
		})
	})
}

// reportEmployees answers with a file of employees.
func (h *handler) reportEmployees(format service.ReportFormat) httpapi.Handler[domain.Token] {
	return httpapi.File(func(ctx context.Context, w http.ResponseWriter, r *request) error {
		p := r.Params()
		filter, file := domain.EmployeeFilter{Tag: p.Tag("tag")}, reportFile(p, format)
		if err := p.Err(); err != nil {
			return err
		}
		return httpapi.Download(ctx, w, func(begin httpapi.Begin) error {
			file.Begin = service.BeginReport(begin)
			return h.reports.WriteEmployees(ctx, callerOf(r), filter, file)
		})
	})
}

// reportFile reads whether a CSV file is to start with a byte order mark.
func reportFile(p *httpapi.Params, format service.ReportFormat) service.ReportFile {
	file := service.ReportFile{Format: format}
	if format == service.ReportCSV {
		file.BOM = p.Bool("bom")
	}
	return file
}
