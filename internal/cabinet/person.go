package cabinet

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) personPages(private register) {
	private("GET "+view.PathEmployeeNew, personNewForm)
	private("POST "+view.PathEmployeeNew, addPerson)
	private("GET "+view.PathEmployees+"/{id}", showPerson)
	private("GET "+view.PathEmployees+"/{id}/edit", personEditForm)
	private("POST "+view.PathEmployees+"/{id}/edit", editPerson)
	private("GET "+view.PathEmployees+"/{id}/offboard", offboardForm)
	private("POST "+view.PathEmployees+"/{id}/offboard", offboardPerson)
	private("GET "+view.PathEmployees+"/{id}/keep", confirmCancelOffboarding)
	private("POST "+view.PathEmployees+"/{id}/keep", cancelOffboarding)
	private("GET "+view.PathEmployees+"/{id}/bring-back", confirmBringBack)
	private("POST "+view.PathEmployees+"/{id}/bring-back", bringPersonBack)
	private("GET "+view.PathEmployees+"/{id}/erase", confirmErase)
	private("POST "+view.PathEmployees+"/{id}/erase", erasePerson)
}

// personFromPath returns the company's employee that the path names.
func (p *page) personFromPath() (domain.EmployeeRecord, error) {
	id, err := p.id()
	if err != nil {
		return domain.EmployeeRecord{}, err
	}
	return p.Learning.EmployeeRecord(p.r.Context(), p.caller(), id)
}

// personToChange is personFromPath for somebody who may change the employee. A form
// that is refused must not be judged field by field first.
func (p *page) personToChange() (domain.EmployeeRecord, error) {
	e, err := p.personFromPath()
	if err == nil {
		err = p.caller().Authorize(domain.PermissionChange)
	}
	return e, err
}

func showPerson(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	v := view.PersonRecord{
		Employee: employeeView(e.EmployeeOverview), Role: string(e.Role), JoinedAt: e.JoinedAt, Leaving: e.Leaving,
		Assigned: e.Assigned, Completed: e.Completed, CanChange: p.mayChange(),
	}
	for _, key := range slices.Sorted(maps.Keys(e.Attributes)) {
		v.Attributes = append(v.Attributes, view.Option{Value: key, Label: e.Attributes[key]})
	}
	for _, a := range e.Assignments {
		row := view.PersonAssignment{
			ID: a.ID, CourseName: a.CourseName, Status: string(a.Status), Overdue: a.Overdue(p.Now()), Percent: int64(a.Percent) / 100,
			Deadline: a.Deadline, Required: a.IsRequired,
		}
		if a.Score != nil {
			row.Score = view.FormatScore(a.Score.Float())
		}
		v.Assignments = append(v.Assignments, row)
	}
	for _, h := range e.History {
		if h.Action == "assignment.deadline_changed" {
			h.Detail = p.deadlineChange(h.Detail)
		}
		v.History = append(v.History, view.HistoryEntry{
			At: h.At, Via: h.Via, Actor: h.Actor, Action: h.Action, CourseName: h.CourseName, Detail: h.Detail,
		})
	}
	return p.renderOK(view.PersonPage(p.shell(), v))
}

func personNewForm(p *page) error {
	return p.renderOK(view.PersonFormPage(p.shell(), view.PersonForm{Role: string(domain.RoleEmployee)}))
}

// personForm reads the posted form.
func (p *page) personForm(id int64, title string) view.PersonForm {
	return view.PersonForm{
		ID: id, Title: title, Name: p.field("name"), Email: p.field("email"), ExternalID: p.field("externalId"),
		Tags: p.field("tags"), Role: p.field("role"), Attributes: p.field("attributes"),
	}
}

// splitTags reads tags that are separated by commas or semicolons.
func splitTags(text string) []string {
	tags := []string{}
	for _, tag := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' }) {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// splitAttributes reads attributes from lines such as "costCentre: 4711". It returns
// the first line that can't be read.
func splitAttributes(text string) (out domain.Attributes, wrong string) {
	out = domain.Attributes{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, value, found := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if _, twice := out[key]; !found || value == "" || twice {
			return out, line
		}
		out[key] = value
	}
	return out, ""
}

// joinAttributes writes attributes as splitAttributes reads them.
func joinAttributes(a domain.Attributes) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(a)) {
		lines = append(lines, key+": "+a[key])
	}
	return strings.Join(lines, "\n")
}

// personErrors returns the errors of a person's form by field.
func personErrors(err error) (view.Errors, bool) {
	if err == nil {
		return nil, false
	}
	switch domain.CodeOf(err) {
	case domain.CodeEmailTaken:
		return view.Errors{"email": "Another employee of the company has this e-mail."}, true
	case domain.CodeExternalIDTaken:
		return view.Errors{"externalId": "Another employee of the company has this external id."}, true
	}
	return formErrors(err)
}

func addPerson(p *page) error {
	if err := p.caller().Authorize(domain.PermissionChange); err != nil {
		return err
	}
	form := p.personForm(0, "")
	e, err := p.Learning.Join(p.r.Context(), p.caller(), domain.Newcomer{
		Email: form.Email, Name: form.Name, Tags: splitTags(form.Tags), Role: domain.Role(form.Role),
	})
	if errs, ok := personErrors(err); ok {
		form.Errors = errs
		return p.renderInvalid(view.PersonFormPage(p.shell(), form))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("“"+e.Name+"” was added.", view.PathEmployee(e.ID))
}

func personEditForm(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	return p.renderOK(view.PersonFormPage(p.shell(), view.PersonForm{
		ID: e.ID, Title: e.Name, Name: e.Name, Email: e.Email, ExternalID: e.ExternalID, Tags: strings.Join(e.Tags, ", "), Role: string(e.Role),
		Attributes: joinAttributes(e.Attributes),
	}))
}

func editPerson(p *page) error {
	e, err := p.personToChange()
	if err != nil {
		return err
	}
	form := p.personForm(e.ID, e.Name)
	tags, role := splitTags(form.Tags), domain.Role(form.Role)
	patch := domain.EmployeePatch{Name: &form.Name, Email: &form.Email, Tags: &tags, Role: &role}
	switch {
	case form.ExternalID != "":
		patch.ExternalID = &form.ExternalID
	case e.ExternalID != "":
		form.Errors = view.Errors{"externalId": "An external id can be changed, but not removed."}
		return p.renderInvalid(view.PersonFormPage(p.shell(), form))
	}
	attributes, wrong := splitAttributes(form.Attributes)
	if wrong != "" {
		form.Errors = view.Errors{"attributes": "“" + wrong + "”: write each attribute once, as its name, a colon and its value."}
		return p.renderInvalid(view.PersonFormPage(p.shell(), form))
	}
	patch.Attributes = attributes
	_, err = p.Learning.PatchEmployeeByID(p.r.Context(), p.caller(), e.ID, patch)
	if errs, ok := personErrors(err); ok {
		form.Errors = errs
		return p.renderInvalid(view.PersonFormPage(p.shell(), form))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("Changes saved.", view.PathEmployee(e.ID))
}

func offboardForm(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	return p.renderOK(view.OffboardPage(p.shell(), view.OffboardForm{Employee: employeeView(e.EmployeeOverview), When: "now", MinDate: p.tomorrow()}))
}

func offboardPerson(p *page) error {
	e, err := p.personToChange()
	if err != nil {
		return err
	}
	form := view.OffboardForm{Employee: employeeView(e.EmployeeOverview), When: p.field("when"), Date: p.field("date"), MinDate: p.tomorrow()}
	if form.When != expiryDate {
		leave := false
		if _, err := p.Learning.PatchEmployeeByID(p.r.Context(), p.caller(), e.ID, domain.EmployeePatch{Active: &leave}); err != nil {
			return err
		}
		return p.redirectDone("“"+e.Name+"” was offboarded.", view.PathEmployee(e.ID))
	}
	at, err := time.ParseInLocation(time.DateOnly, form.Date, p.zone())
	if err != nil {
		form.Errors = view.Errors{"date": "Enter a date such as 2027-01-31."}
		return p.renderInvalid(view.OffboardPage(p.shell(), form))
	}
	err = p.Learning.PlanOffboarding(p.r.Context(), p.caller(), e.ID, &at)
	if errs, ok := formErrors(err); ok {
		form.Errors = errs
		return p.renderInvalid(view.OffboardPage(p.shell(), form))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("The offboarding of “"+e.Name+"” is planned.", view.PathEmployee(e.ID))
}

func confirmCancelOffboarding(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	return p.renderOK(view.ConfirmPage(p.shell(), view.EmployeeKeep(employeeView(e.EmployeeOverview))))
}

func cancelOffboarding(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	if err := p.Learning.PlanOffboarding(p.r.Context(), p.caller(), e.ID, nil); err != nil {
		return err
	}
	return p.redirectDone("The planned offboarding was canceled.", view.PathEmployee(e.ID))
}

func confirmBringBack(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	return p.renderOK(view.ConfirmPage(p.shell(), view.EmployeeBringBack(employeeView(e.EmployeeOverview))))
}

func bringPersonBack(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	back := true
	if _, err := p.Learning.PatchEmployeeByID(p.r.Context(), p.caller(), e.ID, domain.EmployeePatch{Active: &back}); err != nil {
		return err
	}
	return p.redirectDone("“"+e.Name+"” is back.", view.PathEmployee(e.ID))
}

func confirmErase(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	effects, err := p.Learning.ErasureEffects(p.r.Context(), p.caller(), e.ID)
	if err != nil {
		return err
	}
	return p.renderOK(view.ConfirmPage(p.shell(),
		view.EmployeeErase(employeeView(e.EmployeeOverview), effects.Assignments, effects.Results, effects.Events)))
}

func erasePerson(p *page) error {
	e, err := p.personFromPath()
	if err != nil {
		return err
	}
	if err := p.Learning.DeleteEmployeeByID(p.r.Context(), p.caller(), e.ID); err != nil {
		return err
	}
	return p.redirectDone("The person was erased.", view.PathEmployees)
}
