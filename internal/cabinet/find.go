package cabinet

import (
	"slices"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// foundRows is how many of each kind the palette shows.
const foundRows = 5

func (c *Cabinet) findPages(private register) { private("GET "+view.PathFind, find) }

// find answers what a text can mean: a page and, if there is a text, a person, a
// course, a token or a webhook whose name begins with it.
func find(p *page) error {
	shell := p.shell()
	v := view.FindList{Search: domain.CleanSearch(p.query("q"))}
	v.Found = slices.DeleteFunc(shell.Sections.Pages(), func(f view.Found) bool { return !domain.MatchesSearch(v.Search, f.Label) })
	if v.Search != "" {
		for _, search := range []func(string) ([]view.Found, error){p.findPeople, p.findCourses, p.findTokens, p.findWebhooks} {
			found, err := search(v.Search)
			if err != nil {
				return err
			}
			v.Found = append(v.Found, found...)
		}
	}
	return p.renderOK(view.FindPage(shell, v))
}

func (p *page) findPeople(search string) ([]view.Found, error) {
	list, err := p.Learning.EmployeeOverviews(p.r.Context(), p.caller(), domain.EmployeeListFilter{Search: search}, domain.PageRequest{Number: 1, Limit: foundRows})
	out := make([]view.Found, len(list.Items))
	for i, e := range list.Items {
		out[i] = view.Found{Kind: "Person", Label: e.Name, Detail: e.Email, Path: view.PathEmployee(e.ID)}
	}
	return out, err
}

func (p *page) findCourses(search string) ([]view.Found, error) {
	list, err := p.Learning.Courses(p.r.Context(), p.caller())
	var out []view.Found
	for _, c := range list {
		if domain.MatchesSearch(search, c.Name, c.ExternalID) && len(out) < foundRows {
			out = append(out, view.Found{Kind: "Course", Label: c.Name, Detail: c.ExternalID, Path: view.PathCourse(c.ID)})
		}
	}
	return out, err
}

func (p *page) findTokens(search string) ([]view.Found, error) {
	now := p.Now()
	filter := domain.TokenFilter{CompanyID: p.identity.Company.ID, Search: search, LiveAt: &now}
	list, err := p.Tokens.List(p.r.Context(), filter, domain.PageRequest{Number: 1, Limit: foundRows})
	out := make([]view.Found, len(list.Items))
	for i, t := range list.Items {
		out[i] = view.Found{Kind: "Token", Label: t.Name, Path: view.PathToken(t.ID)}
	}
	return out, err
}

func (p *page) findWebhooks(search string) ([]view.Found, error) {
	list, err := p.Webhooks.List(p.r.Context(), p.caller())
	var out []view.Found
	for _, e := range list {
		if e.Matches(search) && len(out) < foundRows {
			out = append(out, view.Found{Kind: "Webhook", Label: e.URL, Detail: e.Description, Path: view.PathWebhook(e.ID)})
		}
	}
	return out, err
}
