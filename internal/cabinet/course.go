package cabinet

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	courseRows   = 50
	coursePeople = 10
)

func (c *Cabinet) coursePages(private register) {
	one := view.PathCourses + "/{id}"
	private("GET "+view.PathCourses, courses)
	private("GET "+view.PathCoursesExport, exportCourseList)
	private("GET "+one, withCourse(course))
	private("GET "+one+"/slice", withCourse(sliceForm))
	private("POST "+one+"/slice", withCourse(makeSlice))
	private("GET "+one+"/edit", withCourse(editSliceForm))
	private("POST "+one+"/edit", withCourse(editSlice))
	private("GET "+one+"/archive", withCourse(confirmArchive))
	private("POST "+one+"/archive", withCourse(archiveCourse))
	private("GET "+one+"/restore", withCourse(confirmRestore))
	private("POST "+one+"/restore", withCourse(restoreCourse))
}

// courseQuery reads the filter from the address. It returns the filter as shown and
// as the list takes it.
func (p *page) courseQuery() (view.CourseFilter, domain.CourseQuery) {
	q := domain.CourseQuery{
		Search: domain.CleanSearch(p.query("q")), Show: domain.CourseSelection(p.query("show")), Order: domain.CourseOrder(p.query("sort")),
	}
	q.Normalize()
	return view.CourseFilter{Search: q.Search, Show: string(q.Show), Sort: string(q.Order)}, q
}

func courses(p *page) error {
	shown, q := p.courseQuery()
	found, err := p.Learning.CourseOverviews(p.r.Context(), p.caller(), q)
	if err != nil {
		return err
	}
	v := view.CourseList{Filter: shown, Total: int64(len(found)), CanChange: p.mayChange()}
	first, _ := strconv.Atoi(p.query("after")) // anything else begins with the first
	first = max(0, min(first, len(found)))
	last := min(first+courseRows, len(found))
	for _, o := range found[first:last] {
		v.Courses = append(v.Courses, courseView(o))
	}
	if last < len(found) {
		v.Pager.Next = p.pageURL(strconv.Itoa(last))
	}
	if first > 0 {
		v.Pager.Previous = p.pageURL("")
		if first > courseRows {
			v.Pager.Previous = p.pageURL(strconv.Itoa(first - courseRows))
		}
	}
	return p.renderOK(view.CoursesPage(p.shell(), v))
}

func courseView(o domain.CourseOverview) view.Course {
	return view.Course{
		ID: o.ID, ParentID: o.ParentID, ExternalID: o.ExternalID, Name: o.Name, Assessment: o.IsAssessment, Modules: int64(o.ModuleCount),
		Archived: o.Archived(), Assigned: o.Assigned(), Completed: o.Completed(), Overdue: int64(o.Totals.Overdue), Tried: o.Tried(),
		Started: o.Assigned() - o.Completed() - int64(o.Totals.ByStatus[domain.StatusAssigned]),
	}
}

// exportCourseList answers with the narrowed list as a CSV file.
func exportCourseList(p *page) error {
	_, q := p.courseQuery()
	return download(p, csvForExcel(), p.Reports.WriteCourses, q)
}

// withCourse returns a handler that looks up the course in the path.
func withCourse(handle func(p *page, c domain.Course) error) handler {
	return func(p *page) error {
		id, err := p.authorizedID()
		if err != nil {
			return err
		}
		c, err := p.Learning.Course(p.r.Context(), p.caller(), id)
		if err != nil {
			return hideForeign(err)
		}
		return handle(p, c)
	}
}

// courseOverview returns the figures of a course, those of its slices and the course
// that it was made of, if the company still has it.
func (p *page) courseOverview(c domain.Course) (own domain.CourseOverview, cut []view.Course, parent view.Link, err error) {
	list, err := p.Learning.CourseOverviews(p.r.Context(), p.caller(), domain.CourseQuery{Show: domain.CoursesAll})
	for _, o := range list {
		switch {
		case o.ID == c.ID:
			own = o
		case o.ParentID == c.ID && !o.Archived():
			cut = append(cut, courseView(o))
		case o.ID == c.ParentID:
			parent = view.Link{Text: o.Name, Path: view.PathCourse(o.ID)}
		}
	}
	return own, cut, parent, err
}

func course(p *page, c domain.Course) error {
	ctx, caller := p.r.Context(), p.caller()
	own, cut, parent, err := p.courseOverview(c)
	if err != nil {
		return err
	}
	v := view.CourseDetail{
		Course: courseView(own), Parent: parent, PassMark: c.PassMark.String() + " of 100", Attempts: "Unlimited", Titles: c.Modules, Slices: cut,
		CanChange: p.mayChange(), Own: c.OwnerCompanyID == caller.Company.ID,
	}
	if c.AllowedAttempts > 0 {
		v.Attempts = strconv.Itoa(c.AllowedAttempts)
	}
	days, ok, err := p.Learning.CourseMedianDays(ctx, caller, c.ID)
	if err != nil {
		return err
	}
	if ok {
		v.MedianDays = view.DayCount(days)
	}
	people, err := p.Learning.ListAssignments(ctx, caller, domain.AssignmentQuery{CourseID: c.ID}, domain.PageRequest{Limit: coursePeople})
	if err != nil {
		return err
	}
	for _, a := range people.Items {
		v.People = append(v.People, p.assignmentView(a))
	}
	return p.renderOK(view.CoursePage(p.shell(), v))
}

// newSliceForm lists the modules of a course, with the places that those of the slice
// have in it.
func newSliceForm(whole, slice domain.Course) view.SliceForm {
	form := view.SliceForm{ID: slice.ID, ParentID: whole.ID, Parent: whole.Name, Title: slice.Name, Name: slice.Name, ExternalID: slice.ExternalID}
	for i, title := range whole.Modules {
		m := view.SliceModule{Position: i + 1, Title: title, Place: strconv.Itoa(i + 1)}
		if at := slices.Index(slice.Sources, i+1); at >= 0 {
			m.Chosen, m.Place = true, strconv.Itoa(at+1)
		}
		form.Modules = append(form.Modules, m)
	}
	return form
}

// readSlice reads the posted form into the one that is shown again, and into what the
// service takes.
func (p *page) readSlice(form *view.SliceForm) domain.SliceInput {
	form.Name, form.ExternalID = p.field("name"), p.field("externalId")
	chosen := p.fields("module")
	type placed struct{ place, position int }
	var order []placed
	for i := range form.Modules {
		m := &form.Modules[i]
		m.Place, m.Chosen = p.field("place-"+strconv.Itoa(m.Position)), slices.Contains(chosen, strconv.Itoa(m.Position))
		place, err := strconv.Atoi(strings.TrimSpace(m.Place))
		if err != nil {
			place = m.Position
		}
		if m.Chosen {
			order = append(order, placed{place, m.Position})
		}
	}
	slices.SortStableFunc(order, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	in := domain.SliceInput{Name: form.Name, ExternalID: form.ExternalID}
	for _, m := range order {
		in.Modules = append(in.Modules, m.position)
	}
	return in
}

// sliceErrors returns the errors of a slice's form by field.
func sliceErrors(err error) (view.Errors, bool) {
	if domain.CodeOf(err) == domain.CodeExternalIDTaken {
		return view.Errors{"externalId": "Another course of the company has this external id."}, true
	}
	errs, ok := formErrors(err)
	if errs["modules"] != "" {
		errs["modules"] = "Choose at least one module."
	}
	return errs, ok
}

func sliceForm(p *page, c domain.Course) error {
	return p.renderOK(view.SliceFormPage(p.shell(), newSliceForm(c, domain.Course{})))
}

func makeSlice(p *page, c domain.Course) error {
	form := newSliceForm(c, domain.Course{})
	id, err := p.Learning.CutSlice(p.r.Context(), p.caller(), c.ID, p.readSlice(&form))
	if errs, ok := sliceErrors(err); ok {
		form.Errors = errs
		return p.renderInvalid(view.SliceFormPage(p.shell(), form))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("The slice was made. You can assign it now.", view.PathCourse(id))
}

// editedSlice returns the form of a slice with the modules of its course.
func (p *page) editedSlice(c domain.Course) (view.SliceForm, error) {
	if c.ParentID == 0 {
		return view.SliceForm{}, domain.ErrNotASlice
	}
	whole, err := p.Learning.Course(p.r.Context(), p.caller(), c.ParentID)
	return newSliceForm(whole, c), err
}

func editSliceForm(p *page, c domain.Course) error {
	form, err := p.editedSlice(c)
	if err != nil {
		return err
	}
	return p.renderOK(view.SliceFormPage(p.shell(), form))
}

func editSlice(p *page, c domain.Course) error {
	form, err := p.editedSlice(c)
	if err != nil {
		return err
	}
	err = p.Learning.EditSlice(p.r.Context(), p.caller(), c.ID, p.readSlice(&form))
	if errs, ok := sliceErrors(err); ok {
		form.Errors = errs
		return p.renderInvalid(view.SliceFormPage(p.shell(), form))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("The slice was saved.", view.PathCourse(c.ID))
}

func confirmArchive(p *page, c domain.Course) error {
	own, _, _, err := p.courseOverview(c)
	if err != nil {
		return err
	}
	return p.showConfirm(view.CourseArchive(courseView(own)))
}

func archiveCourse(p *page, c domain.Course) error {
	if err := p.Learning.ArchiveCourse(p.r.Context(), p.caller(), c.ID); err != nil {
		return err
	}
	return p.redirectDone("“"+c.Name+"” was archived.", view.PathCourse(c.ID))
}

func confirmRestore(p *page, c domain.Course) error {
	return p.showConfirm(view.CourseRestore(view.Course{ID: c.ID, Name: c.Name}))
}

func restoreCourse(p *page, c domain.Course) error {
	if err := p.Learning.RestoreCourse(p.r.Context(), p.caller(), c.ID); err != nil {
		return err
	}
	return p.redirectDone("“"+c.Name+"” can be assigned again.", view.PathCourse(c.ID))
}
