package cabinet

import (
	"crypto/subtle"
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// publicPage returns the handler of a page that needs no session. If render returns
// nil, the answer is 404.
func (c *Cabinet) publicPage(route string, render func(*http.Request, view.Bare) templ.Component) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		httpapi.InfoFrom(r.Context()).Route = route
		p := &page{Cabinet: c, w: w, r: r}
		component := render(r, p.bare())
		if component == nil {
			c.renderError(p, errPageNotFound)
			return
		}
		p.render(http.StatusOK, component)
	})
}

// Receiver returns the handler of the demo's page that shows received webhooks. With
// after=N it answers only with what came after number N.
func (c *Cabinet) Receiver(load func() view.Receiver) http.Handler {
	return c.publicPage(view.PathDemoReceiver, func(r *http.Request, b view.Bare) templ.Component {
		v := load()
		after, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
		if err != nil {
			return view.ReceiverPage(b, v)
		}
		v.Items = slices.DeleteFunc(v.Items, func(item view.Received) bool { return item.Number <= after })
		return view.ReceiverUpdate(b, v)
	})
}

// DemoSignIn returns the handler of a link that signs an administrator in as often as
// it is opened, without a password. It is for the demo: the path's secret is all that
// it asks for.
func (c *Cabinet) DemoSignIn(secret string, who domain.Administrator) http.Handler {
	enter := c.route("GET /demo/enter/{secret}", func(p *page) error {
		if subtle.ConstantTimeCompare([]byte(p.r.PathValue("secret")), []byte(secret)) != 1 {
			return errPageNotFound
		}
		if err := p.startSession(who); err != nil {
			return err
		}
		return p.redirect(view.PathHome)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		ctx := c.Sessions.Visit(r.Context(), httpapi.InfoFrom(r.Context()).Address, r.UserAgent())
		c.session.LoadAndSave(enter).ServeHTTP(w, r.WithContext(ctx))
	})
}
