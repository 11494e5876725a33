package service

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/report"
)

// WriteCourseCompletion writes the completion by course. Codes: too_many_reports.
func (r *Reports) WriteCourseCompletion(ctx context.Context, c domain.Caller, q domain.ReportQuestion, file ReportFile) error {
	names, err := r.usedCourseNames(ctx, c)
	if err != nil {
		return err
	}
	return courseCompletionTable(names).write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.Completion) error) error {
		rows, err := r.countByCourse(ctx, c, q)
		if err != nil {
			return err
		}
		return yield(rows)
	})
}

// WriteTagCompletion writes the completion by tag. Codes: too_many_reports.
func (r *Reports) WriteTagCompletion(ctx context.Context, c domain.Caller, q domain.ReportQuestion, file ReportFile) error {
	return tagCompletionTable.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.Completion) error) error {
		rows, err := r.countByTag(ctx, c, q)
		if err != nil {
			return err
		}
		return yield(rows)
	})
}

var completionCounts = []report.Column{
	{Name: "assigned", Kind: report.KindInteger},
	{Name: "started", Kind: report.KindInteger},
	{Name: "completed", Kind: report.KindInteger},
	{Name: "needsRetry", Kind: report.KindInteger},
	{Name: "failed", Kind: report.KindInteger},
	{Name: "overdue", Kind: report.KindInteger},
	{Name: "completedPercent", Kind: report.KindNumber},
}

func completionCells(cells []report.Cell, c *domain.Completion) []report.Cell {
	return append(cells, report.Int(c.Assigned), report.Int(c.Started), report.Int(c.Completed), report.Int(c.NeedsRetry),
		report.Int(c.Failed), report.Int(c.Overdue), report.Num(100*float64(c.Completed)/float64(c.Assigned)))
}

func courseCompletionTable(names map[int64]string) reportTable[domain.Completion] {
	return reportTable[domain.Completion]{
		name: "completion-by-course", sheet: "Completion by course",
		columns: append([]report.Column{{Name: "courseId", Kind: report.KindInteger}, {Name: "courseName", Kind: report.KindText}}, completionCounts...),
		cells: func(cells []report.Cell, row *domain.Completion, _ time.Time) []report.Cell {
			return completionCells(append(cells, report.Int(row.CourseID), report.Text(names[row.CourseID])), row)
		},
	}
}

var tagCompletionTable = reportTable[domain.Completion]{
	name: "completion-by-tag", sheet: "Completion by tag",
	columns: append([]report.Column{{Name: "tag", Kind: report.KindText}, {Name: "people", Kind: report.KindInteger}}, completionCounts...),
	cells: func(cells []report.Cell, row *domain.Completion, _ time.Time) []report.Cell {
		return completionCells(append(cells, report.Text(row.Tag), report.Int(row.People)), row)
	},
}

// WriteCompliance writes the compliance on a day by course. Codes: too_many_reports.
func (r *Reports) WriteCompliance(ctx context.Context, c domain.Caller, q domain.ReportQuestion, file ReportFile) error {
	names, err := r.usedCourseNames(ctx, c)
	if err != nil {
		return err
	}
	table := reportTable[domain.Compliance]{
		name: "compliance", sheet: "Compliance",
		columns: []report.Column{
			{Name: "courseId", Kind: report.KindInteger},
			{Name: "courseName", Kind: report.KindText},
			{Name: "due", Kind: report.KindInteger},
			{Name: "completedInTime", Kind: report.KindInteger},
			{Name: "completedLate", Kind: report.KindInteger},
			{Name: "notCompleted", Kind: report.KindInteger},
			{Name: "compliantPercent", Kind: report.KindNumber},
		},
		cells: func(cells []report.Cell, row *domain.Compliance, _ time.Time) []report.Cell {
			return append(cells, report.Int(row.CourseID), report.Text(names[row.CourseID]), report.Int(row.Due()), report.Int(row.InTime),
				report.Int(row.Late), report.Int(row.Missing), report.Num(100*float64(row.InTime+row.Late)/float64(row.Due())))
		},
	}
	return table.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.Compliance) error) error {
		rows, err := r.countCompliance(ctx, c, q)
		if err != nil {
			return err
		}
		return yield(rows)
	})
}

// matrixRow is a person with the cells of the courses, in the order of the columns.
type matrixRow struct {
	person domain.EmployeeOverview
	cells  []domain.MatrixCell
}

// WriteMatrix writes the matrix: all people that match, and the courses of the part
// that is shown. Codes: invalid_request, too_many_reports.
func (r *Reports) WriteMatrix(ctx context.Context, c domain.Caller, q domain.MatrixQuery, file ReportFile) error {
	shown, err := r.matrixCourses(ctx, c, q)
	if err != nil {
		return err
	}
	table := matrixTable(shown.Courses)
	return table.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]matrixRow) error) error {
		return r.store.EmployeeListReport(ctx, c.Company.ID, q.People, func(people []domain.EmployeeOverview) error {
			cells, err := r.matrixCells(ctx, c, people, shown.Courses)
			if err != nil {
				return err
			}
			rows := make([]matrixRow, len(people))
			for i, e := range people {
				rows[i].person = e
				for _, course := range shown.Courses {
					rows[i].cells = append(rows[i].cells, cells[domain.MatrixKey{EmployeeID: e.ID, CourseID: course.ID}])
				}
			}
			return yield(rows)
		})
	})
}

func matrixTable(courses []domain.NamedCourse) reportTable[matrixRow] {
	columns := []report.Column{
		{Name: "id", Kind: report.KindInteger}, {Name: "name", Kind: report.KindText}, {Name: "email", Kind: report.KindText},
		{Name: "externalId", Kind: report.KindText},
	}
	for _, course := range courses {
		columns = append(columns, report.Column{Name: course.Name, Kind: report.KindText})
	}
	return reportTable[matrixRow]{
		name: "people-and-courses", sheet: "People and courses", columns: columns,
		cells: func(cells []report.Cell, row *matrixRow, now time.Time) []report.Cell {
			cells = append(cells, report.Int(row.person.ID), report.Text(row.person.Name), report.Text(row.person.Email), report.Text(row.person.ExternalID))
			for _, cell := range row.cells {
				status := string(cell.Status)
				if cell.AssignmentID != 0 && cell.Overdue(now) {
					status += ", overdue"
				}
				cells = append(cells, report.Text(status))
			}
			return cells
		},
	}
}
