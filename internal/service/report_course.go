package service

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/report"
)

// WriteCourses writes the courses that the cabinet's list shows, all pages of it. Codes:
// too_many_reports.
func (r *Reports) WriteCourses(ctx context.Context, c domain.Caller, q domain.CourseQuery, file ReportFile) error {
	return courseListTable.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.CourseOverview) error) error {
		all, err := r.store.CourseOverviews(ctx, c.Company.ID)
		if err != nil {
			return err
		}
		return yield(q.Select(all))
	})
}

var courseListTable = reportTable[domain.CourseOverview]{
	name: "courses", sheet: "Courses",
	columns: []report.Column{
		{Name: "id", Kind: report.KindInteger},
		{Name: "name", Kind: report.KindText},
		{Name: "externalId", Kind: report.KindText},
		{Name: "isSlice", Kind: report.KindBool},
		{Name: "isAssessment", Kind: report.KindBool},
		{Name: "modules", Kind: report.KindInteger},
		{Name: "assigned", Kind: report.KindInteger},
		{Name: "completed", Kind: report.KindInteger},
		{Name: "overdue", Kind: report.KindInteger},
		{Name: "failed", Kind: report.KindInteger},
		{Name: "needsRetry", Kind: report.KindInteger},
		{Name: "archivedAt", Kind: report.KindTime},
	},
	cells: func(cells []report.Cell, o *domain.CourseOverview, _ time.Time) []report.Cell {
		count := func(s domain.Status) report.Cell { return report.Int(int64(o.Totals.ByStatus[s])) }
		return append(cells,
			report.Int(o.ID), report.Text(o.Name), report.Text(o.ExternalID), report.Bool(o.ParentID != 0), report.Bool(o.IsAssessment),
			report.Int(int64(o.ModuleCount)), report.Int(o.Assigned()), report.Int(o.Completed()), report.Int(int64(o.Totals.Overdue)),
			count(domain.StatusFailed), count(domain.StatusNeedsRetry), optionalTime(o.ArchivedAt))
	},
}
