package cabinet

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

const assignmentRows = 50

func (c *Cabinet) assignmentPages(private register) {
	private("GET "+view.PathAssignments, assignments)
	private("GET "+view.PathAssignmentsExport, exportAssignments)
	private("GET "+view.PathAssignments+"/{id}", withAssignment(showAssignment))
	c.assignmentActionPages(private)
	c.assignPages(private)
	c.bulkPages(private)
	c.jobPages(private)
}

var tabLabels = map[domain.AssignmentTab]string{
	domain.TabAll: "All", domain.TabOverdue: "Overdue", domain.TabDueSoon: "Due soon", domain.TabInProgress: "In progress",
	domain.TabNeedsRetry: "Needs retry", domain.TabFailed: "Failed", domain.TabCompleted: "Completed",
}

// assignmentQuery reads the filter from the address or from a form. It returns the
// filter as shown and as the list takes it.
func assignmentQuery(read fieldReader) (view.AssignmentFilter, domain.AssignmentQuery) {
	q := domain.AssignmentQuery{Tab: domain.AssignmentTab(read("tab")), Tag: read("tag"), Search: strings.TrimSpace(read("q")), Recent: read("recent") != ""}
	q.Normalize()
	q.CourseID, _ = strconv.ParseInt(read("course"), 10, 64) // anything else is no course's id
	shown := view.AssignmentFilter{Tab: string(q.Tab), Search: q.Search, Tag: q.Tag}
	if q.CourseID != 0 {
		shown.Course = strconv.FormatInt(q.CourseID, 10)
	}
	if q.Recent {
		shown.Recent = "1"
	}
	if required := domain.Requirement(read("required")); required.Flag() != nil {
		q.Required, shown.Required = required.Flag(), string(required)
	}
	return shown, q
}

func assignments(p *page) error {
	ctx, caller := p.r.Context(), p.caller()
	shown, q := assignmentQuery(p.query)
	pg := domain.PageRequest{Limit: assignmentRows, After: p.position(domain.CabinetList)}
	list, err := p.Learning.ListAssignments(ctx, caller, q, pg)
	if err != nil {
		return err
	}
	counts, err := p.Learning.CountTabs(ctx, caller, q)
	if err != nil {
		return err
	}
	v := view.AssignmentList{Filter: shown, Any: counts.N[domain.TabAll] > 0 || shown != view.AssignmentFilter{Tab: shown.Tab}, CanChange: p.mayChange(), Capped: list.Capped}
	if v.Views, err = p.savedViews(domain.ViewAssignments); err != nil {
		return err
	}
	if v.Courses, err = p.courseOptions(); err != nil {
		return err
	}
	if v.Tags, err = p.tagOptions(); err != nil {
		return err
	}
	for _, tab := range domain.AssignmentTabs {
		v.Tabs = append(v.Tabs, view.AssignmentTab{Value: string(tab), Label: tabLabels[tab], Count: counts.N[tab], More: counts.More})
	}
	for _, a := range list.Items {
		v.Rows = append(v.Rows, p.assignmentView(a))
	}
	v.Pager = p.assignmentPager(q, list, pg)
	return p.renderOK(view.AssignmentsPage(p.shell(), v))
}

func (p *page) assignmentPager(q domain.AssignmentQuery, list domain.Page[domain.Assignment], at domain.PageRequest) view.Pager {
	var out view.Pager
	if next := service.NextInList(q, list); next != nil {
		out.Next = p.pageURL(next.Format(domain.CabinetList))
	}
	if at.After != nil {
		out.Previous = p.pageURL("")
	}
	return out
}

// courseOptions lists the company's courses for a filter.
func (p *page) courseOptions() ([]view.Option, error) {
	courses, err := p.Learning.Courses(p.r.Context(), p.caller())
	out := make([]view.Option, len(courses))
	for i, c := range courses {
		out[i] = view.Option{Value: strconv.FormatInt(c.ID, 10), Label: c.Name}
	}
	return out, err
}

// tagOptions lists the tags of the company's employees for a filter.
func (p *page) tagOptions() ([]view.Option, error) {
	tags, err := p.Learning.Tags(p.r.Context(), p.caller())
	out := make([]view.Option, len(tags))
	for i, t := range tags {
		out[i] = view.Option{Value: t, Label: t}
	}
	return out, err
}

func (p *page) assignmentView(a domain.Assignment) view.Assignment {
	v := view.Assignment{
		ID: a.ID, ExternalID: a.ExternalID, PersonID: a.EmployeeID, Person: a.EmployeeName, Email: a.EmployeeEmail, CourseID: a.CourseID,
		Course: a.CourseName, Status: string(a.Status), Overdue: a.Overdue(p.Now()), Percent: a.Percent.String(), Required: a.IsRequired,
		AssignedAt: a.AssignedAt, Deadline: a.Deadline, StartedAt: a.StartedAt, EndedAt: a.CompletedAt, Summary: a.Summary(),
		Attempts: strconv.Itoa(a.Attempts),
	}
	if a.Score != nil {
		v.Score = a.Score.String()
	}
	if most := a.Rule.AllowedAttempts; most > 0 && a.Rule.IsAssessment {
		v.Attempts += fmt.Sprintf(" of %d", most+a.GrantedAttempts)
	}
	return v
}

// exportAssignments answers with the filtered list as a CSV file.
func exportAssignments(p *page) error {
	_, q := assignmentQuery(p.query)
	return download(p, csvForExcel(), p.Reports.WriteAssignmentList, q)
}

// authorizePost refuses a form of somebody who may not change the company. It is called
// before the record of the form is looked up, so that the answer does not depend on it.
func (p *page) authorizePost() error {
	if p.r.Method != http.MethodPost {
		return nil
	}
	return p.caller().Authorize(domain.PermissionChange)
}

// withAssignment returns a handler that looks up the assignment in the path.
func withAssignment(handle func(p *page, a domain.Assignment) error) handler {
	return func(p *page) error {
		id, err := p.authorizedID()
		if err != nil {
			return err
		}
		a, err := p.Learning.Assignment(p.r.Context(), p.caller(), id)
		if err != nil {
			return hideForeign(err)
		}
		return handle(p, a)
	}
}

func showAssignment(p *page, a domain.Assignment) error {
	changes, err := p.Learning.AssignmentHistory(p.r.Context(), a)
	if err != nil {
		return err
	}
	v := view.AssignmentDetail{Assignment: p.assignmentView(a), CanChange: p.mayChange()}
	for _, change := range changes {
		v.History = append(v.History, p.changeView(change))
	}
	return p.renderOK(view.AssignmentPage(p.shell(), v))
}

// changeView describes one change of an assignment.
func (p *page) changeView(c domain.AssignmentChange) view.AssignmentChange {
	out := view.AssignmentChange{At: c.At, Tone: view.ToneGrey, By: changedBy(c)}
	switch c.Cause {
	case domain.CauseAssigned:
		out.Title = "Assigned"
	case string(domain.ActDeadline), string(domain.ActExtend):
		out.Title, out.Detail, out.Tone = "Deadline changed", p.deadlineChange(c.Detail), view.ToneBlue
	case string(domain.ActRequired):
		out.Title, out.Tone = "Made "+strings.ToLower(c.Detail), view.ToneBlue
	case string(domain.ActGrant):
		out.Title, out.Tone = "Another attempt granted", view.ToneAmber
	case string(domain.ActRevoke):
		out.Title, out.Tone = "Revoked", view.ToneRed
	case string(domain.ActRestore):
		out.Title, out.Tone = "Revocation undone", view.ToneBlue
	default:
		out.Title, out.Tone = view.StatusWord(string(c.To))
	}
	return out
}

// changedBy describes who made a change, and from where.
func changedBy(c domain.AssignmentChange) string {
	switch c.Via {
	case string(domain.ActorToken):
		return "Token " + c.By
	case domain.ViaImport:
		return "Import by " + c.By
	case string(domain.ActorOperator):
		return "Platform operator"
	case string(domain.ActorSystem):
		return "Automatic"
	case string(domain.ActorPlatform):
		return "Learning platform"
	case "":
		switch domain.ActivityType(c.Cause) {
		case domain.ActivityStarted, domain.ActivityProgress, domain.ActivityAttemptFinished:
			return "Learning platform"
		}
		return "" // an older program made the change: nothing else is known about it
	}
	return c.By
}

// deadlineChange shows the two instants of a changed deadline in the company's zone.
func (p *page) deadlineChange(detail string) string {
	before, after, found := strings.Cut(detail, " → ")
	from, errFrom := domain.ParseInstant(before)
	to, errTo := domain.ParseInstant(after)
	if !found || errFrom != nil || errTo != nil {
		return detail
	}
	clock := p.clock()
	return clock.Exact(from) + " → " + clock.Exact(to)
}
