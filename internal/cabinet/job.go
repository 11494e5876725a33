package cabinet

import (
	"encoding/json"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

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
