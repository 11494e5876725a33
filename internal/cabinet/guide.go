package cabinet

import (
	"bytes"
	"net/http"
	"path"
	"sync"
	"time"

	"github.com/a-h/templ"

	"github.com/coursebridge/coursebridge/internal/cabinet/docsite"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// Docs returns the handler of the documentation, which needs no session. It is
// rendered when somebody opens it first.
func (c *Cabinet) Docs() http.Handler {
	load := sync.OnceValues(func() (*docsite.Site, error) { return docsite.New(c.Documents) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site, err := load()
		if err != nil {
			setSecurityHeaders(w.Header())
			c.renderError(&page{Cabinet: c, w: w, r: r}, err)
			return
		}
		if content, ok := site.File(r.URL.Path); ok {
			serveDocument(w, r, content)
			return
		}
		c.publicPage(view.PathDocs, func(r *http.Request, b view.Bare) templ.Component {
			if r.URL.Path == view.PathDocsSearch {
				return view.GuideSearchPage(b, guideSearch(site, cleanText(r.URL.Query().Get("q"))))
			}
			if p, ok := site.Page(r.URL.Path); ok {
				return view.GuidePage(b, guideView(site, p))
			}
			return nil
		}).ServeHTTP(w, r)
	})
}

// serveDocument answers with a picture, or with a configuration file as plain text.
func serveDocument(w http.ResponseWriter, r *http.Request, content []byte) {
	setSecurityHeaders(w.Header())
	httpapi.InfoFrom(r.Context()).Route = view.PathDocs + "/files/"
	w.Header().Set("Cache-Control", "max-age=300")
	if path.Ext(r.URL.Path) != ".png" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(content))
}

func guideView(site *docsite.Site, p *docsite.Page) view.Guide {
	v := view.Guide{Title: p.Title, Path: p.Path, HTML: p.HTML, Contents: guideContents(site)}
	for _, h := range p.Headings {
		v.Headings = append(v.Headings, view.Link{Text: h.Text, Path: "#" + h.ID})
	}
	before, after := site.Neighbours(p)
	v.Before, v.After = guideLink(before), guideLink(after)
	return v
}

func guideLink(p *docsite.Page) *view.Link {
	if p == nil {
		return nil
	}
	return &view.Link{Text: p.Title, Path: p.Path}
}

func guideContents(site *docsite.Site) (out []view.GuideSection) {
	for _, s := range site.Sections {
		section := view.GuideSection{Name: s.Name}
		for _, p := range s.Pages {
			section.Pages = append(section.Pages, *guideLink(p))
		}
		out = append(out, section)
	}
	return out
}

func guideSearch(site *docsite.Site, query string) view.GuideSearch {
	v := view.GuideSearch{Query: query, Contents: guideContents(site)}
	for _, r := range site.Search(query) {
		found := view.GuideFound{Link: view.Link{Text: r.Page, Path: r.Path}, Excerpt: r.Excerpt}
		if r.Heading != "" {
			found.Text += ": " + r.Heading
		}
		v.Found = append(v.Found, found)
	}
	return v
}
