package cabinet

import (
	"net/http"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// Explorer returns the handler of the API explorer, which needs no session.
func (c *Cabinet) Explorer() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		httpapi.InfoFrom(r.Context()).Route = view.PathExplorer
		p := &page{Cabinet: c, w: w, r: r}
		if r.URL.Path != view.PathExplorer {
			c.renderError(p, errPageNotFound)
			return
		}
		_, err := r.Cookie(c.session.Cookie.Name)
		p.render(http.StatusOK, view.DocsPage(view.Docs{Theme: p.theme(), SpecURL: "/api/v1/openapi.json", SignedIn: err == nil}))
	})
}
