package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// importRun decides about the rows of one import.
type importRun struct {
	store      ImportStore
	upload     domain.Import
	zone       *time.Location
	courses    domain.ImportCourses
	newByEmail map[string]domain.Provision // the latest new person for each folded e-mail
}

func (i *Imports) newRun(ctx context.Context, company domain.Company, in domain.Import) (*importRun, error) {
	run := &importRun{store: i.store, upload: in, newByEmail: map[string]domain.Provision{}}
	var err error
	if run.zone, err = company.Location(); err != nil {
		return nil, err
	}
	if in.Assigns() {
		courses, _, err := i.store.Courses(ctx, in.CompanyID)
		if err != nil {
			return nil, err
		}
		run.courses = domain.NewImportCourses(courses)
	}
	return run, nil
}

// importDecision is what an import does with a row.
type importDecision struct {
	number     int64
	person     domain.Provision
	assignment domain.ImportAssignment
	outcome    domain.ImportOutcome
	course     domain.ImportCourseOutcome // also empty while it is not known
	employee   domain.Employee
	patch      domain.EmployeePatch
	matched    []int64 // the ids of the employees with the row's external id or e-mail, even if it fails
	err        error
}

func (r *importRun) decide(ctx context.Context, rows []domain.ImportRow) ([]importDecision, error) {
	out, people := make([]importDecision, len(rows)), make([]domain.Provision, len(rows))
	for n, row := range rows {
		out[n].number = row.Number
		people[n], out[n].err = r.upload.Person(row.Cells)
		out[n].person = people[n]
		if out[n].err == nil && r.upload.Assigns() {
			out[n].assignment, out[n].err = r.upload.Assignment(row.Cells, r.courses, r.zone)
		}
	}
	states, err := r.store.ProvisionStates(ctx, r.upload.CompanyID, people)
	if err != nil {
		return nil, err
	}
	for n := range out {
		d := &out[n]
		d.matched = matchedEmployees(states[n])
		if d.err != nil {
			d.outcome = domain.ImportFailed
			continue
		}
		d.outcome, d.employee, d.patch, d.err = domain.DecideImport(d.person, states[n])
		if d.outcome == domain.ImportNew && r.registerNew(d.person) {
			d.outcome = domain.ImportSame
		}
	}
	return out, nil
}

// matchedEmployees returns the ids of those who have the external id or the e-mail of a row.
func matchedEmployees(s domain.ProvisionState) []int64 {
	var out []int64
	for _, e := range []*domain.Employee{s.ByExternalID, s.ByEmail} {
		if e != nil {
			out = append(out, e.ID)
		}
	}
	return out
}

// registerNew remembers a new person. It reports whether the last new row with this e-mail
// has exactly the same data; then this row at most assigns another course.
func (r *importRun) registerNew(in domain.Provision) bool {
	key := domain.FoldEmail(in.Email)
	before, found := r.newByEmail[key]
	r.newByEmail[key] = in
	return found && before.ExternalID == in.ExternalID && before.Name == in.Name && slices.Equal(before.Tags, in.Tags)
}

// decideCourses sets the outcome for the course of each valid row that names one: whether
// the person has it.
func (r *importRun) decideCourses(ctx context.Context, decided []importDecision) error {
	var employees, courses []int64
	for n := range decided {
		if d := &decided[n]; d.err == nil && d.assignment.CourseID != 0 {
			d.course = domain.CourseAssigned
			if d.employee.ID != 0 {
				employees, courses = append(employees, d.employee.ID), append(courses, d.assignment.CourseID)
			}
		}
	}
	if len(employees) == 0 {
		return nil
	}
	held, err := r.store.HeldCourses(ctx, r.upload.CompanyID, employees, courses)
	if err != nil {
		return err
	}
	for n := range decided {
		if d := &decided[n]; d.course != "" && held[[2]int64{d.employee.ID, d.assignment.CourseID}] {
			d.course = domain.CourseHeld
		}
	}
	return nil
}

// Check returns what an import would do now. It changes nothing.
func (i *Imports) Check(ctx context.Context, c domain.Caller, in domain.Import) (domain.ImportCheck, error) {
	out := domain.ImportCheck{Counts: map[domain.ImportOutcome]int64{}}
	err := i.decideAll(ctx, c, in,
		func(row domain.ImportRow, d importDecision) { countRow(&out, row, d) },
		func(e domain.Employee) {
			if out.Missing++; len(out.MissingPeople) < importShown {
				out.MissingPeople = append(out.MissingPeople, e)
			}
		})
	return out, err
}

// Missing returns all employees whom an import does not name.
func (i *Imports) Missing(ctx context.Context, c domain.Caller, in domain.Import) (out []domain.Employee, err error) {
	err = i.decideAll(ctx, c, in, func(domain.ImportRow, importDecision) {}, func(e domain.Employee) { out = append(out, e) })
	return out, err
}

// decideAll calls row for each row of an import with what would become of it, and then
// missing for each employee whom none of them names.
func (i *Imports) decideAll(ctx context.Context, c domain.Caller, in domain.Import, row func(domain.ImportRow, importDecision), missing func(domain.Employee)) error {
	run, err := i.newRun(ctx, c.Company, in)
	if err != nil {
		return err
	}
	present := map[int64]bool{}
	for after := int64(0); ; {
		rows, err := i.store.ImportRows(ctx, in, "", after, checkBatch)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		after = rows[len(rows)-1].Number
		decided, err := run.decide(ctx, rows)
		if err != nil {
			return err
		}
		if err := run.decideCourses(ctx, decided); err != nil {
			return err
		}
		for n, d := range decided {
			for _, id := range d.matched {
				present[id] = true
			}
			row(rows[n], d)
		}
	}
	return i.store.EachEmployee(ctx, in.CompanyID, func(e domain.Employee) {
		if !present[e.ID] {
			missing(e)
		}
	})
}

// countRow adds one row to what an import would do.
func countRow(out *domain.ImportCheck, row domain.ImportRow, d importDecision) {
	out.Counts[d.outcome]++
	switch d.course {
	case domain.CourseAssigned:
		out.Assign++
	case domain.CourseHeld:
		out.Already++
	}
	switch {
	case d.outcome == domain.ImportFailed && len(out.Failed) < importShown:
		row.Problem = importProblem(d.err)
		out.Failed = append(out.Failed, row)
	case d.outcome == domain.ImportChanged && len(out.Changes) < importShown:
		out.Changes = append(out.Changes, domain.ImportChange{Number: row.Number, Before: d.employee, After: d.patch.Apply(d.employee)})
	}
}

// apply adds new people in one batch and changes those whose name or tags alone change
// in another; the others are changed one by one. A refused row gets its error in err.
func (i *Imports) apply(ctx context.Context, c domain.Caller, decided []importDecision) error {
	var added, alone []*importDecision
	var people []domain.Provision
	together := map[int64]domain.EmployeePatch{}
	for n := range decided {
		d := &decided[n]
		switch d.outcome {
		case domain.ImportNew:
			added, people = append(added, d), append(people, d.person)
		case domain.ImportChanged:
			_, repeated := together[d.employee.ID]
			after := d.patch.Apply(d.employee)
			if repeated || after.Email != d.employee.Email || after.ExternalID != d.employee.ExternalID {
				alone = append(alone, d)
				continue
			}
			together[d.employee.ID] = domain.EmployeePatch{Name: d.patch.Name, Tags: d.patch.Tags}
		}
	}
	if len(together) > 0 {
		if err := i.store.PatchNames(ctx, c, together); err != nil {
			return err
		}
	}
	for _, d := range alone {
		if _, err := i.store.PatchEmployeeByID(ctx, c, d.employee.ID, d.patch); err != nil {
			if !isRefusal(err) {
				return err
			}
			d.err = err
		}
	}
	if len(added) == 0 {
		return nil
	}
	problems, err := i.store.ProvisionAll(ctx, c, people)
	if err != nil {
		return err
	}
	for n, problem := range problems {
		if problem != nil && !isRefusal(problem) {
			return problem
		}
		added[n].err = problem
	}
	return nil
}

// assign assigns the courses of the rows, where the person does not have them.
func (i *Imports) assign(ctx context.Context, c domain.Caller, in domain.Import, decided []importDecision) error {
	var rows []*importDecision
	var people []domain.Provision
	for n := range decided {
		if d := &decided[n]; d.err == nil && d.assignment.CourseID != 0 {
			rows, people = append(rows, d), append(people, d.person)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	states, err := i.store.ProvisionStates(ctx, c.Company.ID, people)
	if err != nil {
		return err
	}
	list := make([]domain.PersonCourse, len(rows))
	for n, d := range rows {
		list[n] = domain.PersonCourse{AssignmentExternalID: fmt.Sprintf("import-%d-%d", in.ID, d.number), ImportAssignment: d.assignment}
		if e := states[n].ByEmail; e != nil {
			list[n].EmployeeID = e.ID
		}
	}
	outcomes, err := i.store.AssignImported(ctx, c, list)
	if err != nil {
		return err
	}
	for n, outcome := range outcomes {
		switch d := rows[n]; {
		case outcome.Refused != "":
			d.err = domain.Errorf(outcome.Refused, "The person was imported, but the course could not be assigned: %s.", assignProblems[outcome.Refused])
		case outcome.IsHeld:
			d.course = domain.CourseHeld
		default:
			d.course = domain.CourseAssigned
		}
	}
	return nil
}

// assignProblems are the reasons why a course was not assigned.
var assignProblems = map[domain.Code]string{
	domain.CodeEmployeeOffboarded: "the person has left meanwhile", domain.CodeCourseNotFound: "the course is no longer available",
	domain.CodeCourseArchived: "the course was archived", domain.CodeTooManyAssignments: "the person has too many assignments",
}
