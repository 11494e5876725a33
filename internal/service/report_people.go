package service

import (
	"context"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/report"
)

// WriteEmployeeList writes the employees that the cabinet's list shows, all pages of it.
// Codes: invalid_request, too_many_reports.
func (r *Reports) WriteEmployeeList(ctx context.Context, c domain.Caller, f domain.EmployeeListFilter, file ReportFile) error {
	if err := f.Check(); err != nil {
		return err
	}
	return employeeListTable.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.EmployeeOverview) error) error {
		return r.store.EmployeeListReport(ctx, c.Company.ID, f, yield)
	})
}

var employeeListTable = reportTable[domain.EmployeeOverview]{
	name: "employee-list", sheet: "Employees",
	columns: []report.Column{
		{Name: "id", Kind: report.KindInteger},
		{Name: "name", Kind: report.KindText},
		{Name: "email", Kind: report.KindText},
		{Name: "externalId", Kind: report.KindText},
		{Name: "role", Kind: report.KindText},
		{Name: "tags", Kind: report.KindText},
		{Name: "joinedAt", Kind: report.KindTime},
		{Name: "leftAt", Kind: report.KindTime},
		{Name: "open", Kind: report.KindInteger},
		{Name: "overdue", Kind: report.KindInteger},
		{Name: "lastActivityAt", Kind: report.KindTime},
	},
	cells: func(cells []report.Cell, e *domain.EmployeeOverview, _ time.Time) []report.Cell {
		return append(cells,
			report.Int(e.ID), report.Text(e.Name), report.Text(e.Email), report.Text(e.ExternalID), report.Text(string(e.Role)),
			report.Text(strings.Join(e.Tags, "; ")), report.Time(e.JoinedAt), optionalTime(e.LeftAt), report.Int(e.Open),
			report.Int(e.Overdue), optionalTime(e.LastActivityAt))
	},
}
