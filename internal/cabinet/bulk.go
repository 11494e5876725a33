package cabinet

import (
	"encoding/json"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func (c *Cabinet) bulkPages(private register) {
	private("GET "+view.PathBulk, bulkForm)
	private("POST "+view.PathBulk, startBulk)
}

// maxPicked is the most rows that a form can name one by one: a page of the list.
const maxPicked = 500

// bulkPick reads which assignments an action is for. Its error is to be shown above the
// list of assignments.
func bulkPick(read fieldReader, ids []string) (view.BulkForm, domain.AssignmentPick, error) {
	shown, q := assignmentQuery(read)
	form := view.BulkForm{Filter: shown, Act: read("act"), All: read("all") != "", Days: read("days"), Errors: view.Errors{}}
	pick := domain.AssignmentPick{All: form.All, Query: q}
	if form.Days == "" {
		form.Days = "7"
	}
	switch {
	case !form.All && len(ids) == 0:
		return form, pick, domain.Errorf(domain.CodeInvalid, "Tick the assignments first, or choose all.")
	case len(ids) > maxPicked:
		return form, pick, domain.Errorf(domain.CodeInvalid, "Tick at most %d assignments at once, or choose all.", maxPicked)
	}
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return form, pick, domain.Errorf(domain.CodeInvalid, "“%s” is not the number of an assignment. Tick the assignments again.", text)
		}
		pick.IDs = append(pick.IDs, id)
		form.IDs = append(form.IDs, strconv.FormatInt(id, 10))
	}
	return form, pick, nil
}

// bulkActions are the actions on several assignments, by their names in forms.
var bulkActions = map[string]domain.AssignmentAction{
	"extend": {Kind: domain.ActExtend}, "grant": {Kind: domain.ActGrant}, "revoke": {Kind: domain.ActRevoke},
	"require": {Kind: domain.ActRequired, Required: true}, "optional": {Kind: domain.ActRequired},
}

// bulkName returns the name of an action on several assignments.
func bulkName(action domain.AssignmentAction) string {
	switch {
	case action.Kind != domain.ActRequired:
		return string(action.Kind)
	case action.Required:
		return "require"
	}
	return "optional"
}

func bulkForm(p *page) error {
	form, pick, err := bulkPick(p.query, p.r.URL.Query()["id"])
	if err != nil {
		return p.redirectProblem(err.Error(), form.Filter.Path())
	}
	if _, known := bulkActions[form.Act]; !known {
		form.Act = string(domain.ActExtend)
	}
	return p.renderBulk(form, pick)
}

// renderBulk answers with the form and what it would do.
func (p *page) renderBulk(form view.BulkForm, pick domain.AssignmentPick) error {
	count, err := p.Bulk.Count(p.r.Context(), p.caller(), pick, bulkActions[form.Act])
	if err != nil {
		return err
	}
	form.Matching, form.Affected, form.People, form.More = count.Matching, count.Affected, count.Employees, count.More
	if len(form.Errors) > 0 {
		return p.renderInvalid(view.BulkPage(p.shell(), form))
	}
	return p.renderOK(view.BulkPage(p.shell(), form))
}

func startBulk(p *page) error {
	if err := p.caller().Authorize(domain.PermissionChange); err != nil {
		return err
	}
	form, pick, err := bulkPick(p.field, p.fields("id"))
	if err != nil {
		return p.redirectProblem(err.Error(), form.Filter.Path())
	}
	action, known := bulkActions[form.Act]
	if !known { // nothing is done by default
		return p.redirectProblem("Choose first what to do with them: extend the deadlines, for example.", form.Filter.Path())
	}
	if action.Kind == domain.ActExtend {
		action.Days, _ = strconv.Atoi(form.Days) // anything else is refused as 0
	}
	job, err := p.Bulk.Start(p.r.Context(), p.caller(), action, pick)
	if errs, ok := formErrors(err); ok {
		form.Errors = errs
		return p.renderBulk(form, pick)
	}
	if err != nil {
		return err
	}
	return p.redirect(view.PathJob(job.ID))
}

func (c *Cabinet) jobPages(private register) {
	private("GET "+view.PathJobs+"/{id}", showJob)
	private("GET "+view.PathJobs+"/{id}/cancel", confirmCancelJob)
	private("POST "+view.PathJobs+"/{id}/cancel", cancelJob)
	private("POST "+view.PathJobs+"/{id}/undo", undoJob)
}

// jobFromPath returns the company's background work that the path names.
func (p *page) jobFromPath() (domain.Job, error) {
	id, err := p.authorizedID()
	if err != nil {
		return domain.Job{}, err
	}
	return p.Jobs.Get(p.r.Context(), p.caller(), id)
}

func showJob(p *page) error {
	job, err := p.jobFromPath()
	if err != nil {
		return err
	}
	v, err := p.jobView(job)
	if err != nil {
		return err
	}
	return p.renderOK(view.JobPage(p.shell(), v))
}

func (p *page) jobView(job domain.Job) (view.Job, error) {
	v := view.Job{
		ID: job.ID, Path: view.PathJob(job.ID), Total: job.Total, Done: job.Done, Problem: job.Problem, RequestedBy: job.RequestedBy, StartedAt: job.CreatedAt,
		FinishedAt: job.FinishedAt, Canceled: job.CanceledAt != nil, CanUndo: p.Bulk.CanUndo(job, p.Now()), Section: view.SectionAssignments,
	}
	switch job.Kind {
	case service.JobAct:
		action, err := service.JobActOf(job)
		if err != nil {
			return v, err
		}
		v.Title, v.Noun, v.Back = view.ActTitle(bulkName(action), action.Days), [2]string{"assignment", "assignments"}, view.Link{Text: "Assignments", Path: view.PathAssignments}
		v.Outcomes = view.ActOutcomes(bulkName(action), service.TallyOf(job))
	case service.JobAssign:
		v.Title, v.Noun, v.Back = "Assign courses", [2]string{"person", "people"}, view.Link{Text: "Assignments", Path: view.PathAssignments}
		v.Outcomes = view.AssignOutcomes(service.TallyOf(job))
	case service.JobPeople:
		return v, describePeopleJob(&v, job)
	case domain.JobImport:
		v.Title, v.Noun, v.Back = "Import people", [2]string{"row", "rows"}, view.Link{Text: "Employees", Path: view.PathEmployees}
		var id int64
		if err := json.Unmarshal(job.Input, &id); err != nil {
			return v, err
		}
		v.Path = view.PathImportStep(id, "result")
	default:
		v.Title, v.Noun, v.Back = "Background work", [2]string{"record", "records"}, view.Link{Text: "Home", Path: view.PathHome}
	}
	return v, nil
}

func confirmCancelJob(p *page) error {
	job, err := p.jobFromPath()
	if err != nil {
		return err
	}
	v, err := p.jobView(job)
	if err != nil {
		return err
	}
	return p.showConfirm(view.JobCancel(v))
}

func cancelJob(p *page) error {
	job, err := p.jobFromPath()
	if err != nil {
		return err
	}
	if err := p.Jobs.Cancel(p.r.Context(), p.caller(), job.ID); err != nil {
		return err
	}
	return p.redirectDone("The work is canceled. What was done so far stays.", view.PathJob(job.ID))
}

func undoJob(p *page) error {
	id, err := p.id()
	if err != nil {
		return err
	}
	job, err := p.Bulk.Undo(p.r.Context(), p.caller(), id)
	if known, ok := asError(err); ok && known.Code == domain.CodeConflict {
		return p.redirectProblem(known.Message, view.PathJob(id))
	}
	if err != nil {
		return err
	}
	return p.redirect(view.PathJob(job.ID))
}
