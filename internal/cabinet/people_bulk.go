package cabinet

import (
	"fmt"
	"net/url"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func (c *Cabinet) peopleBulkPages(private register) {
	private("GET "+view.PathPeopleBulk, peopleBulkForm)
	private("POST "+view.PathPeopleBulk, startPeopleBulk)
}

// assignAct leads to the page that assigns courses, with the people chosen.
const assignAct = "assign"

// tooManyTicks is the beginning of what a form of employees answers to more ticks than
// maxPicked.
var tooManyTicks = fmt.Sprintf("Tick at most %d people at once", maxPicked)

// peopleBulk reads what is to be done, and to whom. Its error is to be shown above the
// list of employees.
func (p *page) peopleBulk(read fieldReader, picked []string) (view.PeopleBulk, domain.People, error) {
	shown, f := employeeFilterOf(read)
	form := view.PeopleBulk{
		Filter: shown, Act: read("act"), All: read("all") != "", Tags: read("tags"), When: read("when"), Date: read("date"),
		MinDate: p.tomorrow(), Errors: view.Errors{},
	}
	ids, malformed := parseIDs("a person", picked)
	form.IDs = formatIDs(ids)
	who := domain.People{IDs: ids}
	if form.All {
		who = domain.People{Listed: &f}
	}
	switch domain.PeopleActKind(form.Act) {
	case domain.PeopleTag, domain.PeopleUntag, domain.PeopleOffboard, assignAct:
	default:
		form.Act = string(domain.PeopleTag)
	}
	if form.When != expiryDate {
		form.When = "now"
	}
	switch {
	case !form.All && malformed != nil:
		return form, who, malformed
	case who.Empty():
		return form, who, domain.Errorf(domain.CodeInvalid, "Tick the people first, or choose all.")
	case !form.All && len(picked) > maxPicked:
		return form, who, domain.Errorf(domain.CodeInvalid, "%s, or choose all.", tooManyTicks)
	}
	return form, who, nil
}

func peopleBulkForm(p *page) error {
	query := p.r.URL.Query()
	form, who, err := p.peopleBulk(p.query, query["id"])
	if err != nil {
		return p.redirectProblem(err.Error(), form.Filter.Path())
	}
	if form.Act == assignAct {
		to := url.Values{"person": form.IDs}
		if form.All {
			to = url.Values{"listed": {"1"}, "listedQ": {form.Filter.Search}, "listedTag": {form.Filter.Tag}, "listedShow": {form.Filter.Show}}
		}
		return p.redirect(view.PathAssign + "?" + to.Encode())
	}
	return p.renderPeopleBulk(form, who)
}

// renderPeopleBulk answers with the form and what it would do.
func (p *page) renderPeopleBulk(form view.PeopleBulk, who domain.People) error {
	count, err := p.People.Count(p.r.Context(), p.caller(), who)
	if err != nil {
		return err
	}
	form.People, form.Open, form.More = count.People, count.Open, count.More
	if form.Known, err = p.Learning.Tags(p.r.Context(), p.caller()); err != nil {
		return err
	}
	if len(form.Errors) > 0 {
		return p.renderInvalid(view.PeopleBulkPage(p.shell(), form))
	}
	return p.renderOK(view.PeopleBulkPage(p.shell(), form))
}

func startPeopleBulk(p *page) error {
	if err := p.caller().Authorize(domain.PermissionChange); err != nil {
		return err
	}
	form, who, err := p.peopleBulk(p.field, p.fields("id"))
	if err != nil {
		return p.redirectProblem(err.Error(), form.Filter.Path())
	}
	act := domain.PeopleAction{Kind: domain.PeopleActKind(form.Act)}
	if act.Kind != domain.PeopleOffboard {
		act.Tags = splitTags(form.Tags)
	} else if form.When == expiryDate {
		at, err := time.ParseInLocation(time.DateOnly, form.Date, p.zone())
		if err != nil {
			form.Errors["date"] = "Enter a date such as 2027-01-31."
			return p.renderPeopleBulk(form, who)
		}
		act.At = &at
	}
	job, err := p.People.Start(p.r.Context(), p.caller(), act, who)
	if errs, ok := formErrors(err); ok {
		form.Errors = errs
		return p.renderPeopleBulk(form, who)
	}
	if err != nil {
		return err
	}
	return p.redirect(view.PathJob(job.ID))
}

// describePeopleJob sets what the page of a job on employees says.
func describePeopleJob(v *view.Job, job domain.Job) error {
	act, err := service.PeopleActOf(job)
	if err != nil {
		return err
	}
	v.Section, v.Title, v.Noun = view.SectionEmployees, view.PeopleActTitle(string(act.Kind), act.Tags), [2]string{"person", "people"}
	v.Back = view.Link{Text: "Employees", Path: view.PathEmployees}
	v.Outcomes = view.PeopleOutcomes(string(act.Kind), act.At != nil, service.TallyOf(job))
	return nil
}
