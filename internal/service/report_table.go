package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/report"
)

// reportTable describes the columns and rows of a report, whatever its file format.
type reportTable[T any] struct {
	name    string
	sheet   string
	columns []report.Column
	cells   func(cells []report.Cell, row *T, now time.Time) []report.Cell // appends a row's
}

// writer starts the file. The location of now is the time zone of all times.
func (t *reportTable[T]) writer(ctx context.Context, file ReportFile, now time.Time) (report.Writer, error) {
	name := fmt.Sprintf("%s-%s.%s", t.name, now.Format(time.DateOnly), file.Format)
	switch file.Format {
	case ReportCSV:
		return report.NewCSV(file.Begin(ctx, name, "text/csv; charset=utf-8"), t.columns, now.Location(), file.BOM)
	case ReportXLSX:
		w := file.Begin(ctx, name, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
		return report.NewXLSX(w, t.columns, now.Location(), t.sheet)
	}
	return nil, fmt.Errorf("there are no %q files", file.Format)
}

var assignmentTable = reportTable[domain.Assignment]{
	name: "assignments", sheet: "Assignments",
	columns: []report.Column{
		{Name: "id", Kind: report.KindInteger},
		{Name: "externalId", Kind: report.KindText},
		{Name: "employeeExternalId", Kind: report.KindText},
		{Name: "employeeName", Kind: report.KindText},
		{Name: "employeeEmail", Kind: report.KindText},
		{Name: "courseId", Kind: report.KindInteger},
		{Name: "courseName", Kind: report.KindText},
		{Name: "status", Kind: report.KindText},
		{Name: "statusCategory", Kind: report.KindText},
		{Name: "isOverdue", Kind: report.KindBool},
		{Name: "completionPercent", Kind: report.KindNumber},
		{Name: "score", Kind: report.KindNumber},
		{Name: "numberOfAttempts", Kind: report.KindInteger},
		{Name: "isRequired", Kind: report.KindBool},
		{Name: "assignedAt", Kind: report.KindTime},
		{Name: "deadline", Kind: report.KindTime},
		{Name: "startedAt", Kind: report.KindTime},
		{Name: "completedAt", Kind: report.KindTime},
		{Name: "lastActivityAt", Kind: report.KindTime},
	},
	cells: func(cells []report.Cell, a *domain.Assignment, now time.Time) []report.Cell {
		score := report.Null()
		if a.Score != nil {
			score = report.Num(a.Score.Float())
		}
		return append(cells,
			report.Int(a.ID), report.Text(a.ExternalID), report.Text(a.EmployeeExternalID), report.Text(a.EmployeeName),
			report.Text(a.EmployeeEmail), report.Int(a.CourseID), report.Text(a.CourseName), report.Text(string(a.Status)),
			report.Text(string(a.Category(now))), report.Bool(a.Overdue(now)), report.Num(a.Percent.Float()), score,
			report.Int(int64(a.Attempts)), report.Bool(a.IsRequired), report.Time(a.AssignedAt), report.Time(a.Deadline),
			optionalTime(a.StartedAt), optionalTime(a.CompletedAt), report.Time(a.LastActivity()))
	},
}

func optionalTime(t *time.Time) report.Cell {
	if t == nil {
		return report.Null()
	}
	return report.Time(*t)
}

var employeeTable = reportTable[domain.EmployeeSummary]{
	name: "employees", sheet: "Employees",
	columns: []report.Column{
		{Name: "id", Kind: report.KindInteger},
		{Name: "externalId", Kind: report.KindText},
		{Name: "email", Kind: report.KindText},
		{Name: "name", Kind: report.KindText},
		{Name: "role", Kind: report.KindText},
		{Name: "tags", Kind: report.KindText},
		{Name: "joinedAt", Kind: report.KindTime},
		{Name: "assigned", Kind: report.KindInteger},
		{Name: "started", Kind: report.KindInteger},
		{Name: "completed", Kind: report.KindInteger},
		{Name: "failed", Kind: report.KindInteger},
		{Name: "needsRetry", Kind: report.KindInteger},
		{Name: "overdue", Kind: report.KindInteger},
	},
	cells: func(cells []report.Cell, e *domain.EmployeeSummary, _ time.Time) []report.Cell {
		return append(cells,
			report.Int(e.ID), report.Text(e.ExternalID), report.Text(e.Email), report.Text(e.Name), report.Text(string(e.Role)),
			report.Text(strings.Join(e.Tags, "; ")), report.Time(e.JoinedAt), report.Int(e.Assigned), report.Int(e.Started),
			report.Int(e.Completed), report.Int(e.Failed), report.Int(e.NeedsRetry), report.Int(e.Overdue))
	},
}

var auditTable = reportTable[domain.AuditEntry]{
	name: "audit", sheet: "Audit log",
	columns: []report.Column{
		{Name: "at", Kind: report.KindTime},
		{Name: "actorKind", Kind: report.KindText},
		{Name: "actor", Kind: report.KindText},
		{Name: "action", Kind: report.KindText},
		{Name: "recordKind", Kind: report.KindText},
		{Name: "recordId", Kind: report.KindText},
		{Name: "record", Kind: report.KindText},
		{Name: "detail", Kind: report.KindText},
		{Name: "requestId", Kind: report.KindText},
		{Name: "address", Kind: report.KindText},
	},
	cells: func(cells []report.Cell, e *domain.AuditEntry, _ time.Time) []report.Cell {
		return append(cells,
			report.Time(e.At), report.Text(string(e.Actor.Kind)), report.Text(e.Actor.Label), report.Text(e.Action),
			report.Text(e.RecordKind), report.Text(e.RecordID), report.Text(e.EmployeeLabel+e.RecordLabel), report.Text(e.Detail),
			report.Text(e.Actor.RequestID), report.Text(e.Actor.Address))
	},
}
