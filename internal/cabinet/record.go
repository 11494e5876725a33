package cabinet

import (
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// recordAssignments is how many assignments a person's printed record shows.
const recordAssignments = 500

func (c *Cabinet) recordPages(private register) {
	private("GET "+view.PathEmployees+"/{id}/record", record)
	private("GET "+view.PathEmployees+"/{id}/record/export", exportRecord)
}

// record shows what a person has been assigned and has done, ready to print.
func record(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	list, err := p.Learning.ListAssignments(p.r.Context(), p.caller(), domain.AssignmentQuery{EmployeeID: e.ID}, domain.PageRequest{Limit: recordAssignments})
	if err != nil {
		return err
	}
	v := view.Record{Employee: employeeView(e.EmployeeOverview), JoinedAt: e.JoinedAt, Assigned: e.Assigned, Completed: e.Completed, More: list.More}
	for _, a := range list.Items {
		v.Assignments = append(v.Assignments, p.assignmentView(a))
	}
	return p.renderOK(view.RecordPage(p.shell(), v))
}

func exportRecord(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	return download(p, p.requestedFile(), p.Reports.WriteAssignmentList, domain.AssignmentQuery{EmployeeID: e.ID})
}
