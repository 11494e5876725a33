package view_test

import (
	"fmt"
	"net/url"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func reportSamples() []sample {
	courses := []view.Option{{Value: "1", Label: "Fire safety"}, {Value: "2", Label: longName}}
	tags := []view.Option{{Value: "warehouse", Label: "warehouse"}}
	report := func(kind string) view.Report {
		return view.Report{Kind: kind, Courses: courses, Tags: tags, CanChange: true}
	}
	overdue := view.OverdueReport{Report: report("overdue"), Late: []view.LateStep{{Label: "Up to 7 days", Count: 12}, {Label: "More than 90 days"}}, Rows: []view.Assignment{
		{ID: 1, PersonID: 2, Person: longName, Email: "x@x.example", Course: longName, Status: "needs_retry", Overdue: true, Deadline: ago(300 * time.Hour), Required: true},
		{ID: 2, PersonID: 2, Person: "Ø", Email: "o@x.example", Course: "Fire safety", Status: "assigned", Overdue: true, Deadline: ago(time.Hour)},
	}}
	overdue.Pager.Next = "/cabinet/reports/overdue?after=x"
	completion := view.CompletionReport{Report: report("courses")}
	for i := range 240 {
		completion.Rows = append(completion.Rows, view.CompletionRow{Label: fmt.Sprintf("%s %d", longName, i), CourseID: int64(i + 1), Assigned: 1_000_000, Started: 3, Completed: 123_456, NeedsRetry: 4, Failed: 5, Overdue: int64(i % 2)})
	}
	byTag := view.CompletionReport{Report: report("tags"), Rows: []view.CompletionRow{{Label: "warehouse", People: 12, Assigned: 24, Completed: 24}}}
	compliance := view.ComplianceReport{Report: report("compliance"), Day: "14 Nov 2026", Rows: []view.ComplianceRow{{Course: longName, InTime: 10, Late: 2, Missing: 1}}}
	compliance.Filter.On, compliance.Filter.Today, compliance.CountedAt = "2026-11-14", "2026-11-18", ago(time.Minute)
	matrix := view.MatrixReport{Report: report("matrix"), First: 9, AllCourses: 30, Earlier: "/cabinet/reports/matrix", Later: "/cabinet/reports/matrix?part=2"}
	for i := range 8 {
		matrix.Columns = append(matrix.Columns, fmt.Sprintf("%s %d", longName, i))
	}
	for i := range 20 {
		row := view.MatrixRow{PersonID: int64(i + 1), Person: fmt.Sprintf("%s %d", longName, i), Email: "x@x.example"}
		for n := range 8 {
			status := []string{"", "assigned", "started", "completed", "needs_retry", "failed"}[(i+n)%6]
			row.Cells = append(row.Cells, view.MatrixCell{AssignmentID: 1, Status: status, Overdue: status != "" && status != "completed" && n%2 == 0})
		}
		matrix.Rows = append(matrix.Rows, row)
	}
	pending := report("tags")
	pending.Pending = true
	record := view.Record{Employee: people()[1], JoinedAt: ago(900 * time.Hour), Assigned: 600, Completed: 1, Assignments: overdue.Rows, More: true}
	views := []view.SavedView{
		{ID: 1, Page: "overdue", Name: longName, Filter: url.Values{"tag": {longName}, "required": {"yes"}, "course": {"1"}}, SavedBy: "x@x.example", SavedAt: ago(time.Hour)},
		{ID: 2, Page: "employees", Name: "New", Filter: url.Values{"show": {"unassigned"}}, SavedBy: "x@x.example", SavedAt: ago(time.Minute)},
		{ID: 3, Page: "compliance", Name: "Year's end", Filter: url.Values{"on": {"2026-01-01"}}, SavedBy: "x@x.example", SavedAt: ago(time.Minute)},
	}
	overdue.Views = views[:1]
	return []sample{
		{"reports", view.ReportsPage(longShell("/cabinet/reports"), view.Reports{Views: views, CanChange: true})},
		{"reports-viewer", view.ReportsPage(shell("/cabinet/reports"), view.Reports{Views: views})},
		{"reports-none", view.ReportsPage(shell("/cabinet/reports"), view.Reports{CanChange: true})},
		{"view-new", view.SavedViewNewPage(shell("/cabinet/reports/views/new"), view.SavedViewForm{View: views[0], Errors: view.Errors{"name": "Another view has this name."}})},
		{"view-rename", view.SavedViewRenamePage(shell("/cabinet/reports/views/1/rename"), view.SavedViewForm{View: views[0]})},
		{"view-remove", view.ConfirmPage(shell("/cabinet/reports/views/1/remove"), view.SavedViewRemove(views[0]))},
		{"report-overdue", view.OverdueReportPage(longShell("/cabinet/reports/overdue"), overdue)},
		{"report-overdue-none", view.OverdueReportPage(shell("/cabinet/reports/overdue"), view.OverdueReport{Report: report("overdue")})},
		{"report-courses", view.CompletionReportPage(longShell("/cabinet/reports/courses"), completion)},
		{"report-courses-none", view.CompletionReportPage(shell("/cabinet/reports/courses"), view.CompletionReport{Report: report("courses")})},
		{"report-tags", view.CompletionReportPage(shell("/cabinet/reports/tags"), byTag)},
		{"report-tags-pending", view.CompletionReportPage(shell("/cabinet/reports/tags"), view.CompletionReport{Report: pending})},
		{"report-compliance", view.ComplianceReportPage(shell("/cabinet/reports/compliance"), compliance)},
		{"report-compliance-none", view.ComplianceReportPage(shell("/cabinet/reports/compliance"), view.ComplianceReport{Report: report("compliance"), Day: "1 Jan 2001"})},
		{"report-matrix", view.MatrixPage(longShell("/cabinet/reports/matrix"), matrix)},
		{"report-matrix-none", view.MatrixPage(shell("/cabinet/reports/matrix"), view.MatrixReport{Report: report("matrix")})},
		{"report-person", view.PersonSearchPage(shell("/cabinet/reports/person"), view.PersonSearch{Report: view.Report{Kind: "person"}, Rows: people()[:3], More: true})},
		{"report-person-none", view.PersonSearchPage(shell("/cabinet/reports/person"), view.PersonSearch{Report: view.Report{Kind: "person"}})},
		{"record", view.RecordPage(longShell("/cabinet/employees/2/record"), record)},
		{"record-none", view.RecordPage(shell("/cabinet/employees/1/record"), view.Record{Employee: people()[0], JoinedAt: ago(time.Hour)})},
	}
}
