package cabinet

import (
	"net/url"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) savedViewPages(private register) {
	private("GET "+view.PathViewNew, viewForm)
	private("POST "+view.PathViewNew, saveView)
	one := view.PathViews + "/{id}"
	private("GET "+one+"/rename", withView(renameViewForm))
	private("POST "+one+"/rename", withView(renameView))
	private("GET "+one+"/remove", withView(confirmRemoveView))
	private("POST "+one+"/remove", withView(removeView))
}

// viewFilter returns the part of a query that a view of the page keeps: filters that
// the page knows, without the search and the position in the list.
func viewFilter(page domain.ViewPage, read fieldReader) url.Values {
	out := url.Values{}
	for _, name := range view.ViewFilters[string(page)] {
		if value := read(name); value != "" {
			out.Set(name, value)
		}
	}
	return out
}

// savedViews lists the views of one page, or of all pages if it is empty.
func (p *page) savedViews(of domain.ViewPage) ([]view.SavedView, error) {
	found, err := p.SavedViews.List(p.r.Context(), p.caller())
	if err != nil {
		return nil, err
	}
	var out []view.SavedView
	for _, v := range found {
		if of == "" || v.Page == of {
			out = append(out, savedViewOf(v))
		}
	}
	return out, nil
}

func savedViewOf(v domain.SavedView) view.SavedView {
	out := view.SavedView{ID: v.ID, Page: string(v.Page), Name: v.Name, SavedBy: v.SavedBy, SavedAt: v.SavedAt}
	out.Filter, _ = url.ParseQuery(v.Filter) // only what url.Values has encoded is stored
	return out
}

// newViewForm returns the form for the page and the filter that the request names.
// Codes: not_found.
func (p *page) newViewForm(read fieldReader) (view.SavedViewForm, error) {
	page := domain.ViewPage(read("page"))
	if _, known := view.ViewFilters[string(page)]; !known {
		return view.SavedViewForm{}, errPageNotFound
	}
	form := view.SavedViewForm{View: view.SavedView{Page: string(page), Filter: viewFilter(page, read)}}
	var err error
	form.View.Courses, err = p.courseNames()
	return form, err
}

// courseNames maps the ids of the company's courses, as they stand in an address, to
// their names.
func (p *page) courseNames() (map[string]string, error) {
	options, err := p.courseOptions()
	out := make(map[string]string, len(options))
	for _, o := range options {
		out[o.Value] = o.Label
	}
	return out, err
}

func viewForm(p *page) error {
	form, err := p.newViewForm(p.query)
	if err != nil {
		return err
	}
	return p.renderOK(view.SavedViewNewPage(p.shell(), form))
}

func saveView(p *page) error {
	if err := p.authorizePost(); err != nil {
		return err
	}
	form, err := p.newViewForm(p.field)
	if err != nil {
		return err
	}
	form.View.Name = p.field("name")
	err = p.SavedViews.Save(p.r.Context(), p.caller(), domain.SavedView{
		Page: domain.ViewPage(form.View.Page), Filter: form.View.Filter.Encode(), Name: form.View.Name,
	})
	if errs, ok := formErrors(err); ok {
		form.Errors = errs
		return p.renderInvalid(view.SavedViewNewPage(p.shell(), form))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("The view was saved. You can also find it under Reports.", form.View.Path())
}

// withView returns a handler that looks up the view in the path.
func withView(handle func(p *page, v view.SavedView) error) handler {
	return func(p *page) error {
		id, err := p.authorizedID()
		if err != nil {
			return err
		}
		v, err := p.SavedViews.Get(p.r.Context(), p.caller(), id)
		if err != nil {
			return err
		}
		return handle(p, savedViewOf(v))
	}
}

func renameViewForm(p *page, v view.SavedView) error {
	return p.renderOK(view.SavedViewRenamePage(p.shell(), view.SavedViewForm{View: v}))
}

func renameView(p *page, v view.SavedView) error {
	v.Name = p.field("name")
	err := p.SavedViews.Rename(p.r.Context(), p.caller(), v.ID, v.Name)
	if errs, ok := formErrors(err); ok {
		return p.renderInvalid(view.SavedViewRenamePage(p.shell(), view.SavedViewForm{View: v, Errors: errs}))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("The view was renamed.", view.PathReports)
}

func confirmRemoveView(p *page, v view.SavedView) error {
	return p.showConfirm(view.SavedViewRemove(v))
}

func removeView(p *page, v view.SavedView) error {
	if err := p.SavedViews.Remove(p.r.Context(), p.caller(), v.ID); err != nil {
		return err
	}
	return p.redirectDone("“"+v.Name+"” was removed.", view.PathReports)
}
