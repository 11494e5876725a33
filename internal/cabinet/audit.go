package cabinet

import (
	"net/url"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

const auditRows = 50

func (c *Cabinet) auditPages(private register) {
	private("GET "+view.PathAudit, auditLog)
	private("GET "+view.PathAuditExport, exportAudit)
}

// auditFilter reads the filter from the address. It returns the filter as shown
// in the form and as the log takes it.
func (p *page) auditFilter() (view.AuditFilter, domain.AuditFilter) {
	shown := view.AuditFilter{
		ActorKind: p.query("actor"), Action: p.query("action"),
		Search: domain.CleanSearch(p.query("q")), Errors: view.Errors{},
	}
	f := domain.AuditFilter{Actor: domain.ActorKind(shown.ActorKind), Action: shown.Action, Search: shown.Search}
	period := p.readPeriod(p.query, shown.Errors)
	shown.Period, f.From, f.To = period.shown, period.from, period.to
	return shown, f
}

func auditLog(p *page) error {
	shown, f := p.auditFilter()
	pg := domain.PageRequest{Number: 1, Limit: auditRows, After: p.position(domain.AuditList)}
	if len(shown.Errors) > 0 {
		return p.renderOK(view.AuditPage(p.shell(), view.AuditList{Filter: shown, Actions: auditActions}))
	}
	slice, err := p.Audit.List(p.r.Context(), p.caller(), f, pg)
	if errs, ok := formErrors(err); ok {
		shown.Errors = errs
	} else if err != nil {
		return err
	}
	v := view.AuditList{Filter: shown, Actions: auditActions, Total: int64(len(slice.Items)), More: slice.More, Capped: slice.Capped}
	for _, e := range slice.Items {
		v.Entries = append(v.Entries, auditEntry(e))
	}
	if next := service.NextAuditCursor(slice); next != nil {
		v.Pager.Next = p.pageURL(next.Format(domain.AuditList))
	}
	if pg.After != nil {
		v.Pager.Previous = p.pageURL("")
	}
	return p.renderOK(view.AuditPage(p.shell(), v))
}

// position reads the position in a list from the address. It returns nil, which is
// the first page, for an invalid one too: a link may be older than the format.
func (p *page) position(list domain.List) *domain.Cursor {
	cursor, err := domain.ParseCursor(list, p.query("after"))
	if err != nil {
		return nil
	}
	return &cursor
}

// pageURL returns this page's address at another position of its list; the empty
// position is the first page.
func (p *page) pageURL(position string) string {
	q := p.r.URL.Query()
	q.Set("after", position)
	if position == "" {
		q.Del("after")
	}
	if len(q) == 0 {
		return p.r.URL.Path
	}
	return (&url.URL{Path: p.r.URL.Path, RawQuery: q.Encode()}).String()
}

func auditEntry(e domain.AuditEntry) view.AuditEntry {
	out := view.AuditEntry{
		ID: e.ID, At: e.At, ActorKind: string(e.Actor.Kind), Actor: e.Actor.Label, Action: e.Action, RecordKind: e.RecordKind,
		Record: e.RecordKind + " " + e.RecordID, Detail: e.Detail, RequestID: e.Actor.RequestID, Address: e.Actor.Address,
	}
	switch {
	case e.EmployeeLabel != "" && e.RecordKind == "employee":
		out.Record = e.EmployeeLabel
	case e.EmployeeLabel != "":
		out.RecordOf = e.EmployeeLabel
	case e.RecordLabel != "":
		out.Record = e.RecordLabel
	}
	id, err := strconv.ParseInt(e.RecordID, 10, 64)
	switch {
	case e.RecordKind == "token" && err == nil:
		out.RecordPath = view.PathToken(id)
	case e.RecordKind == "employee" && err == nil && e.EmployeeLabel != "":
		out.RecordPath = view.PathEmployee(id)
	case e.RecordKind == "course" && err == nil:
		out.RecordPath = view.PathCourse(id)
	case e.RecordKind == "webhook" && err == nil && e.Action != "webhook.removed":
		out.RecordPath = view.PathWebhook(id)
	case e.RecordKind == "redelivery" && err == nil:
		out.RecordPath = view.PathRedelivery(id)
	case e.RecordKind == "delivery":
		out.RecordPath = view.PathDelivery(e.RecordID)
	}
	return out
}

var auditActions = []view.Option{
	{Value: "employee.", Label: "Employees"}, {Value: "assignment.", Label: "Assignments"},
	{Value: "course.", Label: "Courses"}, {Value: "view.", Label: "Saved views"}, {Value: "token.", Label: "Tokens"}, {Value: "webhook.", Label: "Webhooks"},
	{Value: "delivery.", Label: "Deliveries"}, {Value: "administrator.", Label: "Administrators"}, {Value: "company.", Label: "Company"},
	{Value: "sign_in.", Label: "Sign-ins"}, {Value: "password.", Label: "Passwords"}, {Value: "second_factor.", Label: "Two-step verification"},
}

// exportAudit answers with the filtered log as a CSV file.
func exportAudit(p *page) error {
	shown, f := p.auditFilter()
	if len(shown.Errors) > 0 {
		return p.redirect(view.PathAudit + "?" + p.r.URL.RawQuery)
	}
	return download(p, csvForExcel(), p.Reports.WriteAuditLog, f)
}
