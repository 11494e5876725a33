package cabinet

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"

	"github.com/coursebridge/coursebridge/internal/cabinet/assets"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/service"
)

// Keys of the session's data. Nothing personal is kept in it.
const (
	keyCompany       = "company"
	keyPendingSignIn = "begun" // a sign-in whose password was right and whose code is awaited
	keyNext          = "next"
	keyFlash         = "flash"
	keyProblem       = "problem"
	keyFlashValue    = "once " // followed by the name of the value
)

// page is one request with its response writer and the identity of its sender.
type page struct {
	*Cabinet
	w        http.ResponseWriter
	r        *http.Request
	identity service.Identity

	redirectedTo string // set by redirect; submitOnce repeats it for a repeated submission
}

// origin returns where the request came from.
func (p *page) origin() service.Origin {
	info := httpapi.InfoFrom(p.r.Context())
	from := service.Origin{Address: info.Address, RequestID: info.RequestID}
	if cookie, err := p.r.Cookie(p.deviceCookie()); err == nil {
		from.Device = cookie.Value
	}
	return from
}

// caller returns the signed-in person together with their current company.
func (p *page) caller() domain.Caller { return p.identity.Caller(p.origin()) }

// actor returns the signed-in person.
func (p *page) actor() domain.Actor { return p.identity.Actor(p.origin()) }

// sessionToken returns the value of the session cookie.
func (p *page) sessionToken() string { return p.session.Token(p.r.Context()) }

// id returns the number in the path. Codes: not_found.
func (p *page) id() (int64, error) {
	return parseID(p.r.PathValue("id"))
}

// authorizedID is id for pages with a form: it refuses one of somebody who may change
// nothing before its record is looked up, as authorizePost does.
func (p *page) authorizedID() (int64, error) {
	if err := p.authorizePost(); err != nil {
		return 0, err
	}
	return p.id()
}

// hideForeign returns an error as the cabinet reports it: records of other companies do
// not exist here.
func hideForeign(err error) error {
	if domain.CodeOf(err) == domain.CodeWrongCompany {
		return errPageNotFound
	}
	return err
}

func parseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errPageNotFound
	}
	return id, nil
}

// field returns one value of the posted form without bytes that a database refuses.
func (p *page) field(name string) string { return cleanText(p.rawField(name)) }

// rawField returns one value of the posted form as it was sent: passwords and files.
func (p *page) rawField(name string) string { return p.r.PostFormValue(name) }

// checked reports whether a box was ticked.
func (p *page) checked(name string) bool { return p.r.PostFormValue(name) != "" }

// fields returns all values of a name in the posted form.
func (p *page) fields(name string) []string {
	_ = p.r.ParseForm() // a form that can't be read has no values
	return p.r.PostForm[name]
}

// query returns one value of the address without bytes that a database refuses.
func (p *page) query(name string) string { return cleanText(p.r.URL.Query().Get(name)) }

// fieldReader returns one value of a form or an address as page.field and page.query do.
type fieldReader func(name string) string

// cleanText removes bytes that a database refuses.
func cleanText(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
}

func (p *page) clock() view.Clock {
	clock := view.Clock{Now: p.Now()}
	if p.identity.Company.ID != 0 {
		clock.Zone = p.zone()
	}
	return clock
}

// zone returns the company's time zone, or UTC, which the pages name, if it cannot
// be loaded: an administrator must be able to choose another one.
func (p *page) zone() *time.Location {
	zone, err := p.identity.Company.Location()
	if err != nil {
		return time.UTC
	}
	return zone
}

func (p *page) bare() view.Bare {
	return view.Bare{Clock: p.clock(), Theme: p.theme(), Path: p.requestURI()}
}

// shell returns the frame of a page with navigation. It takes the pending flash
// messages out of the session.
func (p *page) shell() view.Shell {
	who := p.identity.Administrator
	return view.Shell{
		Clock: p.clock(), Theme: p.theme(), Path: p.requestURI(), Company: p.identity.Company.Name,
		Companies: p.otherCompanies(), Person: view.Person{Name: who.Name, Email: who.Email}, Flashes: p.flashes(),
		Sections: view.Sections{Employees: true, Courses: true, Assignments: true, Reports: true},
	}
}

// otherCompanies returns the companies to switch between, none if there is only one.
func (p *page) otherCompanies() []view.CompanyChoice {
	if len(p.identity.Companies) < 2 {
		return nil
	}
	return p.companyChoices()
}

// companyChoices returns the companies that the person administers.
func (p *page) companyChoices() []view.CompanyChoice {
	var out []view.CompanyChoice
	for _, c := range p.identity.Companies {
		out = append(out, view.CompanyChoice{ID: c.ID, Name: c.Name, Current: c.ID == p.identity.Company.ID})
	}
	return out
}

func (p *page) requestURI() string { return p.r.URL.RequestURI() }

const themeCookie = "cb_theme"

func (p *page) theme() view.Theme {
	cookie, err := p.r.Cookie(themeCookie)
	if err != nil {
		return view.ThemeSystem
	}
	switch t := view.Theme(cookie.Value); t {
	case view.ThemeLight, view.ThemeDark:
		return t
	}
	return view.ThemeSystem
}

func (p *page) redirect(path string) error {
	p.redirectedTo = path
	http.Redirect(p.w, p.r, path, http.StatusSeeOther)
	return nil
}

// redirectToSignIn redirects to the sign-in page, which leads back to a page that
// was requested with GET.
func (p *page) redirectToSignIn() error {
	path := view.PathSignIn
	if p.r.Method == http.MethodGet && p.requestURI() != view.PathHome {
		path += "?next=" + url.QueryEscape(p.requestURI())
	}
	return p.redirect(path)
}

// localPath returns path if it is an address of the cabinet, the documentation or the
// demo, otherwise that of the overview, so that no link can redirect to another site.
func localPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || strings.Contains(path, "\\") || !isOurPage(u.Path) {
		return view.PathHome
	}
	return path
}

// isOurPage reports whether a path can be a page for people.
func isOurPage(path string) bool {
	for _, base := range []string{view.PathHome, view.PathDocs, view.PathDemoReceiver} {
		if path == base || strings.HasPrefix(path, base+"/") {
			return true
		}
	}
	return false
}

// renderOK answers with a page.
func (p *page) renderOK(c templ.Component) error {
	p.render(http.StatusOK, c)
	return nil
}

// renderInvalid answers with a form that shows what was typed and what is wrong.
func (p *page) renderInvalid(c templ.Component) error {
	p.render(http.StatusUnprocessableEntity, c)
	return nil
}

func (p *page) render(status int, c templ.Component) {
	h := p.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Add("Vary", "Accept-Encoding")
	out, end := io.Writer(p.w), func() error { return nil }
	if assets.AcceptsGzip(p.r) {
		h.Set("Content-Encoding", "gzip")
		zipped := gzipWriters.Get().(*gzip.Writer)
		defer gzipWriters.Put(zipped)
		zipped.Reset(p.w)
		out, end = zipped, zipped.Close
	}
	p.w.WriteHeader(status)
	err := c.Render(p.r.Context(), out)
	if err == nil {
		err = end()
	}
	if err != nil {
		httpapi.InfoFrom(p.r.Context()).Err = err
	}
}

// gzipWriters are used again and again: each takes hundreds of kilobytes.
var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// formErrors returns the errors by field; ok is false if err is not about a form. A message
// without a field is under the empty key.
func formErrors(err error) (view.Errors, bool) {
	e, ok := asError(err)
	if !ok {
		return nil, false
	}
	switch e.Code {
	case domain.CodeInvalid, domain.CodeConflict, domain.CodeUnauthorized, domain.CodeRateLimited, domain.CodeEmailTaken:
	default:
		return nil, false
	}
	out := view.Errors{}
	for _, f := range e.Fields {
		if out[f.Field] == "" {
			out[f.Field] = sentence(f.Message)
		}
	}
	if len(out) == 0 {
		out[""] = e.Message
	}
	return out, true
}

// messagePrefixes are the beginnings of messages of the API, and what a form says in their place.
var messagePrefixes = []struct{ message, words string }{
	{"must be a plain e-mail address", "enter an e-mail address"},
	{"must not be empty", "enter a value"},
	{"must be from ", "enter a number from "},
	{"must lie in the future", "enter a time in the future"},
	{"must be a ", "enter a "},
}

// sentence turns a field's message into a sentence about what to enter.
func sentence(s string) string {
	if s == "" {
		return s
	}
	for _, i := range messagePrefixes {
		if rest, found := strings.CutPrefix(s, i.message); found {
			s = i.words + rest
			break
		}
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
