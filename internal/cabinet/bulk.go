package cabinet

import (
	"strconv"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
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
	var err error
	if pick.IDs, err = parseIDs("an assignment", ids); err != nil {
		return form, pick, err
	}
	form.IDs = formatIDs(pick.IDs)
	return form, pick, nil
}

// parseIDs returns the ids that a form names, of a record such as "a person". It reads
// no more than maxPicked: a form that may send more refuses them with a sentence.
// Codes: invalid_request.
func parseIDs(record string, values []string) (ids []int64, err error) {
	for _, text := range values[:min(len(values), maxPicked)] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, domain.Errorf(domain.CodeInvalid, "“%s” is not the number of %s. Choose again.", text, record)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func formatIDs(ids []int64) (out []string) {
	for _, id := range ids {
		out = append(out, strconv.FormatInt(id, 10))
	}
	return out
}

// bulkActions are the actions on several assignments with their names in forms.
var bulkActions = []struct {
	name   string
	action domain.AssignmentAction
}{
	{"extend", domain.AssignmentAction{Kind: domain.ActExtend}},
	{"grant", domain.AssignmentAction{Kind: domain.ActGrant}},
	{"revoke", domain.AssignmentAction{Kind: domain.ActRevoke}},
	{"require", domain.AssignmentAction{Kind: domain.ActRequired, Required: true}},
	{"optional", domain.AssignmentAction{Kind: domain.ActRequired}},
}

// bulkAction returns the action of a name in forms.
func bulkAction(name string) (action domain.AssignmentAction, found bool) {
	for _, a := range bulkActions {
		if a.name == name {
			return a.action, true
		}
	}
	return action, false
}

// bulkName returns the name of an action in forms. Its days do not matter.
func bulkName(action domain.AssignmentAction) string {
	for _, a := range bulkActions {
		if a.action.Kind == action.Kind && a.action.Required == action.Required {
			return a.name
		}
	}
	return string(action.Kind)
}

func bulkForm(p *page) error {
	form, pick, err := bulkPick(p.query, p.r.URL.Query()["id"])
	if err != nil {
		return p.redirectProblem(err.Error(), form.Filter.Path())
	}
	if _, found := bulkAction(form.Act); !found {
		form.Act = string(domain.ActExtend)
	}
	return p.renderBulk(form, pick)
}

// renderBulk answers with the form and what it would do.
func (p *page) renderBulk(form view.BulkForm, pick domain.AssignmentPick) error {
	action, _ := bulkAction(form.Act)
	count, err := p.Bulk.Count(p.r.Context(), p.caller(), pick, action)
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
	action, found := bulkAction(form.Act)
	if !found { // nothing is done by default
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
