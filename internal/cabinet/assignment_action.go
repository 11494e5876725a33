package cabinet

import (
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) assignmentActionPages(private register) {
	base := view.PathAssignments + "/{id}/"
	confirm := func(question func(view.Assignment) view.Confirm) handler {
		return withAssignment(func(p *page, a domain.Assignment) error { return p.showConfirm(question(p.assignmentView(a))) })
	}
	private("GET "+base+"deadline", withAssignment(deadlineForm))
	private("POST "+base+"deadline", withAssignment(changeDeadline))
	private("GET "+base+"required", confirm(view.AssignmentRequire))
	private("POST "+base+"required", withAssignment(changeRequired))
	private("GET "+base+"grant", confirm(view.AssignmentGrant))
	private("POST "+base+"grant", withAssignment(grantAttempt))
	private("GET "+base+"revoke", confirm(view.AssignmentRevoke))
	private("POST "+base+"revoke", withAssignment(revokeAssignment))
}

func deadlineForm(p *page, a domain.Assignment) error {
	clock := p.clock()
	return p.renderOK(view.DeadlinePage(p.shell(), view.DeadlineForm{Assignment: p.assignmentView(a), Date: clock.Input(&a.Deadline)}))
}

func changeDeadline(p *page, a domain.Assignment) error {
	form := view.DeadlineForm{Assignment: p.assignmentView(a), Date: p.field("deadline"), Errors: view.Errors{}}
	at := p.parseTime("deadline", form.Date, form.Errors)
	if len(form.Errors) == 0 {
		_, err := p.Learning.Act(p.r.Context(), p.caller(), domain.AssignmentAction{Kind: domain.ActDeadline, Deadline: at}, a.ID)
		errs, ok := formErrors(err)
		switch {
		case err == nil:
			return p.redirectDone("The deadline is changed.", view.PathAssignment(a.ID))
		case domain.CodeOf(err) == domain.CodeAssignmentCompleted:
			return p.redirectProblem(domain.ErrAssignmentCompleted.Message, view.PathAssignment(a.ID))
		case !ok:
			return err
		}
		form.Errors = errs
	}
	return p.renderInvalid(view.DeadlinePage(p.shell(), form))
}

func changeRequired(p *page, a domain.Assignment) error {
	required := p.field("required") == "yes"
	if _, err := p.Learning.Act(p.r.Context(), p.caller(), domain.AssignmentAction{Kind: domain.ActRequired, Required: required}, a.ID); err != nil {
		return err
	}
	if required {
		return p.redirectDone("The assignment is required now.", view.PathAssignment(a.ID))
	}
	return p.redirectDone("The assignment is optional now.", view.PathAssignment(a.ID))
}

func grantAttempt(p *page, a domain.Assignment) error {
	_, err := p.Learning.Act(p.r.Context(), p.caller(), domain.AssignmentAction{Kind: domain.ActGrant}, a.ID)
	if domain.CodeOf(err) == domain.CodeConflict {
		return p.redirectProblem("Only someone who has failed can be granted another attempt. Assign the course again instead.", view.PathAssignment(a.ID))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("Another attempt is granted.", view.PathAssignment(a.ID))
}

func revokeAssignment(p *page, a domain.Assignment) error {
	if _, err := p.Learning.Act(p.r.Context(), p.caller(), domain.AssignmentAction{Kind: domain.ActRevoke}, a.ID); err != nil {
		return err
	}
	return p.redirectDone("The assignment is revoked.", view.PathAssignments)
}
