// Package cabinet is the business cabinet: it turns requests of a browser into
// calls of the use cases and their outcome into pages, one file per page or
// group of pages. How pages look is in view; rules are in service and domain.
package cabinet

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/coursebridge/coursebridge/internal/cabinet/assets"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/service"
)

// Options are the use cases that the pages offer, and where people reach them.
type Options struct {
	SignIn         *service.SignIn
	Sessions       *service.Sessions
	Companies      *service.Companies
	Administrators *service.Administrators
	Tokens         *service.Tokens
	Webhooks       *service.Webhooks
	Audit          *service.Audit

	PublicURL func() string // where people reach the cabinet, without a slash at the end
	Secure    bool          // they reach it by https
	AllowHTTP bool          // webhooks may use plain http
	Now       func() time.Time
	Log       *slog.Logger
}

// Cabinet serves the pages.
type Cabinet struct {
	Options
	session *scs.SessionManager
	guard   *http.CrossOriginProtection
	mux     *http.ServeMux
}

const sessionLifetime = 30 * 24 * time.Hour

// New builds the pages' handler. It serves /cabinet and everything below it.
func New(o Options) *Cabinet {
	c := &Cabinet{Options: o, guard: http.NewCrossOriginProtection(), mux: http.NewServeMux()}
	// Not scs.New: that begins with a store of its own and a goroutine that stays.
	c.session = &scs.SessionManager{
		Store: o.Sessions, Lifetime: sessionLifetime, Codec: scs.GobCodec{},
		Cookie: scs.SessionCookie{
			Name: "cb_session", Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Persist: true, Secure: o.Secure,
		},
		ErrorFunc: func(w http.ResponseWriter, r *http.Request, err error) {
			c.failure(&page{Cabinet: c, w: w, r: r}, err)
		},
	}
	if o.Secure {
		c.session.Cookie.Name = "__Host-cb_session"
	}
	c.guard.SetDenyHandler(http.HandlerFunc(c.elsewhere))
	c.mux.Handle(assets.Prefix, assets.Handler())
	c.mux.Handle("/cabinet/", c.session.LoadAndSave(c.guard.Handler(c.pages())))
	c.mux.Handle("/cabinet", c.session.LoadAndSave(c.guard.Handler(c.pages())))
	return c
}

// ServeHTTP serves a page or an asset.
func (c *Cabinet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headers(w.Header())
	info := httpapi.InfoFrom(r.Context())
	ctx := c.Sessions.Visit(r.Context(), info.Address, r.UserAgent())
	c.mux.ServeHTTP(w, r.WithContext(ctx))
}

// headers are on every answer: nothing from elsewhere, nothing inline, no frames.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "+
		"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// handler answers one page. What it can't answer itself it returns.
type handler func(p *page) error

// pages are the routes. Those of open need no one to be signed in.
func (c *Cabinet) pages() http.Handler {
	mux := http.NewServeMux()
	open := func(pattern string, h handler) { mux.Handle(pattern, c.route(pattern, h)) }
	inside := func(pattern string, h handler) { open(pattern, c.signedIn(h)) }
	c.signInPages(open)
	c.accountPages(inside)
	c.overviewPages(inside)
	c.tokenPages(inside)
	c.webhookPages(inside)
	c.deliveryPages(inside)
	c.auditPages(inside)
	c.settingsPages(inside)
	open("/cabinet/", func(*page) error { return errNoPage })
	return mux
}

// register adds a route.
type register func(pattern string, h handler)

var errNoPage = domain.Errorf(domain.CodeNotFound, "There is no such page.")

// elsewhere answers a form that another site sent.
func (c *Cabinet) elsewhere(w http.ResponseWriter, r *http.Request) {
	v := view.Forbidden()
	v.Title, v.Sentence = "This came from another site", "Nothing was changed. Open the page here and try again."
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
			c.failure(p, err)
		}
	})
}

// signedIn lets only those in who are. Others are led to the sign-in page and
// back; a person who has not chosen a password yet, to that page.
func (c *Cabinet) signedIn(h handler) handler {
	return func(p *page) error {
		administrator := c.Sessions.AdministratorID(p.r.Context())
		if administrator == 0 {
			return p.toSignIn()
		}
		id, err := c.SignIn.Identify(p.r.Context(), administrator, c.session.GetInt64(p.r.Context(), keyCompany))
		if domain.CodeOf(err) == domain.CodeUnauthorized {
			if err := c.session.Destroy(p.r.Context()); err != nil {
				return err
			}
			return p.toSignIn()
		}
		if err != nil {
			return err
		}
		p.identity = id
		httpapi.InfoFrom(p.r.Context()).SetCaller(id.Company.ID, 0)
		if !id.Administrator.HasPassword && !setsPassword(p.r) {
			return p.redirect(pathFirstPassword)
		}
		return h(p)
	}
}

// failure shows what went wrong outside any form.
func (c *Cabinet) failure(p *page, err error) {
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
	case http.StatusBadRequest, http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusRequestEntityTooLarge:
		v.Title, v.Sentence, v.RequestID = "This did not work", described.Message, ""
	}
	p.render(described.Status, view.FailurePage(p.bare(), v))
}
