package cabinet

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

const (
	reportPersons = "person" // finds a person's record; it has no file
	foundPersons  = 20
)

func (c *Cabinet) reportPages(private register) {
	private("GET "+view.PathReports, reports)
	for kind, r := range map[domain.ReportKind]struct {
		show, export func(*page, reportRequest) error
	}{
		domain.ReportOverdue: {overdueReport, exportOverdue}, domain.ReportCourses: {completionByCourse, exportCourses},
		domain.ReportTags: {completionByTag, exportTags}, domain.ReportCompliance: {complianceReport, exportCompliance},
		domain.ReportMatrix: {matrixReport, exportMatrix},
	} {
		private("GET "+view.PathReport(string(kind)), withReport(kind, r.show))
		private("GET "+view.PathReport(string(kind), "export"), withReport(kind, r.export))
	}
	private("GET "+view.PathReport(reportPersons), personSearch)
	c.recordPages(private)
	c.savedViewPages(private)
}

func reports(p *page) error {
	views, err := p.savedViews("")
	if err != nil {
		return err
	}
	names, err := p.courseNames()
	if err != nil {
		return err
	}
	for i := range views {
		views[i].Courses = names
	}
	return p.renderOK(view.ReportsPage(p.shell(), view.Reports{Views: views, CanChange: p.mayChange()}))
}

// reportRequest is a report as the address asks for it.
type reportRequest struct {
	kind     domain.ReportKind
	shown    view.ReportFilter
	question domain.ReportQuestion
	part     int // of the matrix's courses
}

// withReport returns a handler that reads the filter of a report.
func withReport(kind domain.ReportKind, handle func(*page, reportRequest) error) handler {
	return func(p *page) error { return handle(p, p.reportRequest(kind)) }
}

// reportRequest reads the filter from the address. What is no filter is ignored.
func (p *page) reportRequest(kind domain.ReportKind) reportRequest {
	out := reportRequest{kind: kind}
	shown, q := &out.shown, &out.question
	shown.Search, shown.Tag, q.Tag = strings.TrimSpace(p.query("q")), p.query("tag"), p.query("tag")
	q.CourseID, _ = strconv.ParseInt(p.query("course"), 10, 64) // anything else is no course's id
	if q.CourseID != 0 {
		shown.Course = strconv.FormatInt(q.CourseID, 10)
	}
	if required := domain.Requirement(p.query("required")); required.Flag() != nil {
		q.Required, shown.Required = required, string(required)
	}
	out.part, _ = strconv.Atoi(p.query("part"))
	if out.part > 0 {
		shown.Part = strconv.Itoa(out.part)
	}
	if kind == domain.ReportOverdue {
		q.Search = shown.Search
	}
	if kind == domain.ReportCompliance {
		p.readDay(shown, q)
	}
	if kind == domain.ReportTags {
		shown.Tag, q.Tag = "", ""
	}
	return out
}

// readDay reads the day of the compliance report: today, unless the address has an
// earlier one. The report looks at the end of that day in the company's zone.
func (p *page) readDay(shown *view.ReportFilter, q *domain.ReportQuestion) {
	today := p.Now().In(p.zone())
	day, err := time.ParseInLocation(time.DateOnly, p.query("on"), p.zone())
	if err != nil || day.After(today) || day.Year() < 2000 {
		day = today
	}
	shown.On, shown.Today = day.Format(time.DateOnly), today.Format(time.DateOnly)
	year, month, date := day.Date()
	q.On = time.Date(year, month, date+1, 0, 0, 0, 0, p.zone()).UTC()
}

// reportView returns what all reports show.
func (p *page) reportView(r reportRequest) (view.Report, error) {
	out := view.Report{Kind: string(r.kind), Filter: r.shown, CanChange: p.mayChange()}
	courses, err := p.Reports.UsedCourses(p.r.Context(), p.caller())
	if err != nil {
		return out, err
	}
	for _, c := range courses {
		out.Courses = append(out.Courses, view.Option{Value: strconv.FormatInt(c.ID, 10), Label: c.Name})
	}
	if out.Tags, err = p.tagOptions(); err != nil {
		return out, err
	}
	out.Views, err = p.savedViews(domain.ViewPage(r.kind))
	return out, err
}

// setCounted notes when the figures were counted, unless it was for this page.
func setCounted[T any](p *page, v *view.Report, c service.Counted[T]) {
	v.Pending = c.Pending
	if !c.Pending && p.Now().Sub(c.At) > time.Second {
		v.CountedAt = c.At
	}
}

func (r reportRequest) assignmentQuery() domain.AssignmentQuery {
	return domain.AssignmentQuery{
		Tab: domain.TabOverdue, CourseID: r.question.CourseID, Tag: r.question.Tag, Required: r.question.Required.Flag(), Search: r.question.Search,
	}
}

func overdueReport(p *page, r reportRequest) error {
	frame, err := p.reportView(r)
	if err != nil {
		return err
	}
	v := view.OverdueReport{Report: frame}
	pg := domain.PageRequest{Limit: assignmentRows, After: p.position(domain.CabinetList)}
	list, err := p.Learning.ListAssignments(p.r.Context(), p.caller(), r.assignmentQuery(), pg)
	if err != nil {
		return err
	}
	for _, a := range list.Items {
		v.Rows = append(v.Rows, p.assignmentView(a))
	}
	v.Pager = p.assignmentPager(r.assignmentQuery(), list, pg)
	if len(v.Rows) > 0 {
		late, err := p.Reports.Lateness(p.r.Context(), p.caller(), r.question)
		if err != nil {
			return err
		}
		setCounted(p, &v.Report, late)
		for i, n := range late.Value {
			v.Late = append(v.Late, view.LateStep{Label: lateLabel(i), Count: n})
		}
	}
	return p.renderOK(view.OverdueReportPage(p.shell(), v))
}

// lateLabel describes one of the steps of domain.LateSteps.
func lateLabel(step int) string {
	last := len(domain.LateSteps)
	switch step {
	case 0:
		return fmt.Sprintf("Up to %d days", domain.LateSteps[0])
	case last:
		return fmt.Sprintf("More than %d days", domain.LateSteps[last-1])
	}
	return fmt.Sprintf("%d to %d days", domain.LateSteps[step-1]+1, domain.LateSteps[step])
}

func completionByCourse(p *page, r reportRequest) error {
	found, err := p.Reports.CompletionByCourse(p.r.Context(), p.caller(), r.question)
	if err != nil {
		return err
	}
	return p.renderCompletion(r, found)
}

func completionByTag(p *page, r reportRequest) error {
	found, err := p.Reports.CompletionByTag(p.r.Context(), p.caller(), r.question)
	if err != nil {
		return err
	}
	return p.renderCompletion(r, found)
}

func (p *page) renderCompletion(r reportRequest, found service.Counted[[]domain.Completion]) error {
	frame, err := p.reportView(r)
	if err != nil {
		return err
	}
	setCounted(p, &frame, found)
	v, names := view.CompletionReport{Report: frame}, courseLabels(frame)
	for _, c := range found.Value {
		row := view.CompletionRow{
			Label: c.Tag, CourseID: c.CourseID, People: c.People, Assigned: c.Assigned, Started: c.Started, Completed: c.Completed,
			NeedsRetry: c.NeedsRetry, Failed: c.Failed, Overdue: c.Overdue,
		}
		if c.CourseID != 0 {
			row.Label = names(c.CourseID)
		}
		v.Rows = append(v.Rows, row)
	}
	return p.renderOK(view.CompletionReportPage(p.shell(), v))
}

// courseLabels returns a function that looks up the names of the courses in use. A
// course that has lost its last assignment since it was counted has no name here.
func courseLabels(frame view.Report) func(int64) string {
	names := map[string]string{}
	for _, o := range frame.Courses {
		names[o.Value] = o.Label
	}
	return func(id int64) string {
		key := strconv.FormatInt(id, 10)
		if name, ok := names[key]; ok {
			return name
		}
		return "Course " + key
	}
}

func complianceReport(p *page, r reportRequest) error {
	frame, err := p.reportView(r)
	if err != nil {
		return err
	}
	found, err := p.Reports.Compliance(p.r.Context(), p.caller(), r.question)
	if err != nil {
		return err
	}
	setCounted(p, &frame, found)
	v, names := view.ComplianceReport{Report: frame, Day: p.clock().Day(r.question.On.Add(-time.Second))}, courseLabels(frame)
	for _, c := range found.Value {
		v.Rows = append(v.Rows, view.ComplianceRow{Course: names(c.CourseID), InTime: c.InTime, Late: c.Late, Missing: c.Missing})
	}
	return p.renderOK(view.ComplianceReportPage(p.shell(), v))
}

func exportOverdue(p *page, r reportRequest) error {
	return download(p, p.requestedFile(), p.Reports.WriteAssignmentList, r.assignmentQuery())
}

func exportCourses(p *page, r reportRequest) error {
	return download(p, p.requestedFile(), p.Reports.WriteCourseCompletion, r.question)
}

func exportTags(p *page, r reportRequest) error {
	return download(p, p.requestedFile(), p.Reports.WriteTagCompletion, r.question)
}

func exportCompliance(p *page, r reportRequest) error {
	return download(p, p.requestedFile(), p.Reports.WriteCompliance, r.question)
}

func exportMatrix(p *page, r reportRequest) error {
	return download(p, p.requestedFile(), p.Reports.WriteMatrix, r.matrixQuery())
}
