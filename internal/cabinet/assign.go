package cabinet

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) assignPages(private register) {
	private("GET "+view.PathAssign, assignForm)
	private("POST "+view.PathAssignPreview, previewAssign)
	private("POST "+view.PathAssign, startAssign)
}

// maxLines is the most ids that can be pasted at once.
const maxLines = 10_000

// assignInput reads the form of the assign page.
func (p *page) assignInput(values url.Values) (view.AssignForm, domain.People, domain.AssignCourses) {
	get := func(name string) string { return strings.TrimSpace(cleanText(values.Get(name))) }
	form := view.AssignForm{
		Everyone: get("everyone") != "", Search: get("q"), Pasted: cleanText(values.Get("pasted")), When: get("when"), Days: get("days"),
		Date: get("date"), Required: get("required") != "", Again: get("again") != "", DefaultDays: p.identity.Company.DefaultDeadlineDays,
		Errors: view.Errors{}, ChosenTags: map[string]bool{}, ChosenCourses: map[string]bool{},
	}
	who := assignPeople(values, &form)
	in := domain.AssignCourses{Required: form.Required, Again: form.Again}
	var err error
	if in.CourseIDs, err = parseIDs("a course", values["course"]); err != nil {
		form.Errors["course"] = err.Error()
	}
	for _, id := range in.CourseIDs {
		form.ChosenCourses[strconv.FormatInt(id, 10)] = true
	}
	p.assignDeadline(&form, &in)
	return form, who, in
}

// assignPeople returns the chosen people: everyone, a list of employees, or people by
// checkbox, tag and pasted id.
func assignPeople(values url.Values, form *view.AssignForm) domain.People {
	who := domain.People{All: form.Everyone}
	if values.Get("listed") != "" {
		// The filters of the list of employees come with a prefix, because this page has a
		// search and tags of its own: its q is listedQ here.
		shown, f := employeeFilterOf(func(name string) string {
			return cleanText(values.Get("listed" + strings.ToUpper(name[:1]) + name[1:]))
		})
		form.Listed, who.Listed = &shown, &f
	}
	for _, tag := range values["tag"] {
		if tag = cleanText(tag); tag != "" {
			form.ChosenTags[tag], who.Tags = true, append(who.Tags, tag)
		}
	}
	for line := range strings.FieldsFuncSeq(form.Pasted, func(r rune) bool { return strings.ContainsRune("\n\r,;\t", r) }) {
		if line = strings.TrimSpace(line); line != "" {
			who.Lines = append(who.Lines, line)
		}
	}
	var err error
	who.IDs, err = parseIDs("a person", values["person"])
	switch {
	case len(values["person"]) > maxPicked:
		form.Problem = tooManyTicks + ". For more, choose tags, paste their ids or choose everyone."
	case len(who.Lines) > maxLines:
		form.Problem, who.Lines = "Paste at most 10,000 ids or e-mail addresses at once.", nil
	case err != nil:
		form.Problem = err.Error()
	}
	return who
}

// assignDeadline reads when the courses are due.
func (p *page) assignDeadline(form *view.AssignForm, in *domain.AssignCourses) {
	switch form.When {
	case view.WhenDays:
		days, err := strconv.Atoi(form.Days)
		if err != nil || days < 1 || days > domain.MaxDeadlineDays {
			form.Errors["days"] = fmt.Sprintf("Enter a number of days from 1 to %d.", domain.MaxDeadlineDays)
		}
		in.Days = days
	case view.WhenDate:
		day, err := time.ParseInLocation(time.DateOnly, form.Date, p.zone())
		if err != nil {
			form.Errors["date"] = "Choose a date."
			return
		}
		end := time.Date(day.Year(), day.Month(), day.Day(), 23, 59, 59, 0, p.zone()).UTC()
		in.Deadline = &end
	default:
		form.When = view.WhenDefault
	}
}

func assignForm(p *page) error {
	form, who, in := p.assignInput(p.r.URL.Query())
	return p.renderAssign(form, who, in)
}

// renderAssign answers with the form and with what it would do.
func (p *page) renderAssign(form view.AssignForm, who domain.People, in domain.AssignCourses) error {
	ctx, caller := p.r.Context(), p.caller()
	var err error
	if form.Courses, err = p.courseOptions(); err != nil {
		return err
	}
	if form.Tags, err = p.tagOptions(); err != nil {
		return err
	}
	found, chosen, err := p.Learning.FindPeople(ctx, caller, form.Search, who.IDs)
	if err != nil {
		return err
	}
	isChosen := map[int64]bool{}
	for _, e := range chosen {
		isChosen[e.ID] = true
		form.Chosen = append(form.Chosen, view.PersonOption{ID: e.ID, Name: e.Name, Email: e.Email})
	}
	for _, e := range found {
		if !isChosen[e.ID] {
			form.Found = append(form.Found, view.PersonOption{ID: e.ID, Name: e.Name, Email: e.Email})
		}
	}
	if form.Problem == "" {
		count, err := p.Assigning.Count(ctx, caller, who, in)
		if err != nil {
			return err
		}
		form.People, form.Already, form.New, form.Unknown = count.People, count.Already, count.New(), count.Unknown
		form.Many, form.AtLeast = count.Many, count.AtLeast
	}
	if len(form.Errors) > 0 {
		return p.renderInvalid(view.AssignPage(p.shell(), form))
	}
	return p.renderOK(view.AssignPage(p.shell(), form))
}

func previewAssign(p *page) error {
	_ = p.r.ParseForm() // a form that can't be read has no values
	form, who, in := p.assignInput(p.r.PostForm)
	form.Errors = view.Errors{} // the person is still typing
	return p.renderAssign(form, who, in)
}

func startAssign(p *page) error {
	if err := p.caller().Authorize(domain.PermissionChange); err != nil {
		return err
	}
	_ = p.r.ParseForm() // a form that can't be read has no values
	form, who, in := p.assignInput(p.r.PostForm)
	switch {
	case form.Problem != "":
		form.Errors["who"] = form.Problem
	case who.Empty():
		form.Errors["who"] = "Choose at least one person."
	}
	if len(in.CourseIDs) == 0 && form.Errors["course"] == "" {
		form.Errors["course"] = "Choose at least one course."
	}
	if len(form.Errors) > 0 {
		return p.renderAssign(form, who, in)
	}
	job, err := p.Assigning.Start(p.r.Context(), p.caller(), who, in)
	errs, ok := formErrors(err)
	switch code := domain.CodeOf(err); {
	case err == nil:
		return p.redirect(view.PathJob(job.ID))
	case code == domain.CodeWrongCompany || code == domain.CodeCourseNotFound || code == domain.CodeCourseArchived:
		errs = view.Errors{"course": "One of the courses can't be assigned any more. Choose again."}
	case !ok:
		return err
	}
	form.Errors = errs
	return p.renderAssign(form, who, in)
}
