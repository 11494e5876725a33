// Package cabinet is the business cabinet: it turns requests of a browser into
// calls of the use cases and their outcome into pages, one file per page or
// group of pages. How pages look is in view; rules are in service and domain.
package cabinet

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/coursebridge/coursebridge/internal/cabinet/assets"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/service"
)

// Options holds the use cases behind the pages and the cabinet's public address.
type Options struct {
	SignIn         *service.SignIn
	Sessions       *service.Sessions
	Companies      *service.Companies
	Administrators *service.Administrators
	Learning       *service.Learning
	Imports        *service.Imports
	Tokens         *service.Tokens
	Webhooks       *service.Webhooks
	Audit          *service.Audit
	Reports        *service.Reports
	Requests       *service.Requests
	Jobs           *service.Jobs
	Bulk           *service.BulkActions
	Assigning      *service.Assigning
	People         *service.PeopleActions
	SavedViews     *service.SavedViews

	Documents fs.FS         // the documentation, in the layout of the repository
	PublicURL func() string // where people reach the cabinet, without a slash at the end
	Secure    bool          // they reach it by https
	AllowHTTP bool          // webhooks may use plain http
	LowMemory bool          // the process may use less than 1 GiB
	Now       func() time.Time
	Log       *slog.Logger
}

// Cabinet serves the pages and their assets.
type Cabinet struct {
	Options
	session     *scs.SessionManager
	crossOrigin *http.CrossOriginProtection
	mux         *http.ServeMux
	uploads     *uploads
}

const sessionLifetime = 30 * 24 * time.Hour

// New returns the handler of /cabinet and everything below it.
func New(o Options) *Cabinet {
	c := &Cabinet{Options: o, crossOrigin: http.NewCrossOriginProtection(), mux: http.NewServeMux(), uploads: newUploads(maxArrivals, maxReaders)}
	if o.LowMemory {
		c.uploads = newUploads(2, 1)
	}
	// Not scs.New: that begins with a store of its own and a goroutine that stays.
	c.session = &scs.SessionManager{
		Store: o.Sessions, Lifetime: sessionLifetime, Codec: scs.GobCodec{},
		Cookie: scs.SessionCookie{
			Name: "cb_session", Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Persist: true, Secure: o.Secure,
		},
		ErrorFunc: func(w http.ResponseWriter, r *http.Request, err error) {
			c.renderError(&page{Cabinet: c, w: w, r: r}, err)
		},
	}
	if o.Secure {
		c.session.Cookie.Name = "__Host-cb_session"
	}
	c.crossOrigin.SetDenyHandler(http.HandlerFunc(c.rejectCrossOrigin))
	c.mux.Handle(assets.Prefix, assets.Handler())
	c.mux.Handle("/cabinet/", c.session.LoadAndSave(c.crossOrigin.Handler(c.routes())))
	c.mux.Handle("/cabinet", c.session.LoadAndSave(c.crossOrigin.Handler(c.routes())))
	return c
}

// ServeHTTP serves a page or an asset.
func (c *Cabinet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	info := httpapi.InfoFrom(r.Context())
	ctx := c.Sessions.Visit(r.Context(), info.Address, r.UserAgent())
	c.mux.ServeHTTP(w, r.WithContext(ctx))
}

// setSecurityHeaders forbids foreign content, inline code and frames.
func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "+
		"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// handler answers one request. An error that it returns becomes an error page.
type handler func(p *page) error

// routes returns the routing table. Public routes need no session.
func (c *Cabinet) routes() http.Handler {
	mux := http.NewServeMux()
	public := func(pattern string, h handler) { mux.Handle(pattern, c.route(pattern, h)) }
	private := func(pattern string, h handler) { public(pattern, c.requireSession(c.uploads.limit(c.submitOnce(h)))) }
	c.signInPages(public)
	c.privatePages(private)
	public("/cabinet/", c.unknownPage)
	return mux
}

// privatePages registers the pages that need a session.
func (c *Cabinet) privatePages(private register) {
	c.accountPages(private)
	c.homePages(private)
	c.overviewPages(private)
	c.employeePages(private)
	c.coursePages(private)
	c.assignmentPages(private)
	c.reportPages(private)
	c.tokenPages(private)
	c.webhookPages(private)
	c.deliveryPages(private)
	c.requestPages(private)
	c.findPages(private)
	c.auditPages(private)
	c.settingsPages(private)
}

// unknownPage answers for an address without a page.
func (c *Cabinet) unknownPage(p *page) error {
	if administrator := c.Sessions.AdministratorID(p.r.Context()); administrator != 0 {
		// The page says the same to everybody, so a failure only costs the navigation.
		p.identity, _ = c.SignIn.Identify(p.r.Context(), administrator, c.session.GetInt64(p.r.Context(), keyCompany))
	}
	return errPageNotFound
}

// register adds a route to the table.
type register func(pattern string, h handler)

var errPageNotFound = domain.Errorf(domain.CodeNotFound, "There is no such page. Start again from Home, or search with Ctrl-K.")

// rejectCrossOrigin answers a form that was posted from another site.
func (c *Cabinet) rejectCrossOrigin(w http.ResponseWriter, r *http.Request) {
	v := view.Forbidden()
	v.Title, v.Sentence = "This request came from another site", "Nothing was changed. Open the page in the cabinet and try again."
	p := &page{Cabinet: c, w: w, r: r}
	p.render(http.StatusForbidden, view.FailurePage(p.bare(), v))
}

func (c *Cabinet) route(pattern string, h handler) http.Handler {
	_, route, found := strings.Cut(pattern, " ")
	if !found {
		route = pattern
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpapi.InfoFrom(r.Context()).Route = route
		p := &page{Cabinet: c, w: w, r: r}
		if err := h(p); err != nil {
			c.renderError(p, err)
		}
	})
}

// requireSession redirects visitors without a session to the sign-in page, which
// leads them back afterwards, and people without a password to the page where
// they choose one.
func (c *Cabinet) requireSession(h handler) handler {
	return func(p *page) error {
		administrator := c.Sessions.AdministratorID(p.r.Context())
		if administrator == 0 {
			return p.redirectToSignIn()
		}
		id, err := c.SignIn.Identify(p.r.Context(), administrator, c.session.GetInt64(p.r.Context(), keyCompany))
		if domain.CodeOf(err) == domain.CodeUnauthorized {
			if err := c.session.Destroy(p.r.Context()); err != nil {
				return err
			}
			return p.redirectToSignIn()
		}
		if err != nil {
			return err
		}
		p.identity = id
		httpapi.InfoFrom(p.r.Context()).SetCaller(id.Company.ID, 0)
		ctx := domain.WithCompany(p.r.Context(), id.Company.ID)
		if p.r.Method == http.MethodGet || p.r.Method == http.MethodHead {
			ctx = domain.AllowReplica(ctx)
		}
		p.r = p.r.WithContext(ctx)
		if !id.Administrator.HasPassword && !isPasswordRequest(p.r) {
			return p.redirect(pathFirstPassword)
		}
		return h(p)
	}
}

// renderError shows an error that does not belong to a form.
func (c *Cabinet) renderError(p *page, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	info := httpapi.InfoFrom(p.r.Context())
	described := httpapi.Describe(info, err)
	v := view.Broken(info.RequestID)
	switch described.Status {
	case http.StatusNotFound:
		v = view.NotFound()
	case http.StatusForbidden:
		v = view.Forbidden()
		if code := domain.CodeOf(err); code == domain.CodeInsufficientRole || code == domain.CodeCompanySuspended {
			v.Title, v.Sentence = "You can't do this", described.Message
		}
	case http.StatusBadRequest, http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusRequestEntityTooLarge:
		v.Title, v.Sentence, v.RequestID = "This did not work", described.Message, ""
	}
	if described.RetryAfter > 0 {
		p.w.Header().Set("Retry-After", strconv.Itoa(described.RetryAfter))
	}
	if p.identity.Company.ID != 0 && described.Status < http.StatusInternalServerError {
		p.render(described.Status, view.FailureInShellPage(p.shell(), v))
		return
	}
	p.render(described.Status, view.FailurePage(p.bare(), v))
}

// PrivatePatterns lists the patterns of all pages that need a session, for tests that
// go through all of them.
func PrivatePatterns() (out []string) {
	(&Cabinet{}).privatePages(func(pattern string, _ handler) { out = append(out, pattern) })
	return out
}

// PublicPatterns lists the patterns of all pages that need none.
func PublicPatterns() (out []string) {
	(&Cabinet{}).signInPages(func(pattern string, _ handler) { out = append(out, pattern) })
	return out
}
