// Package docsite turns the Markdown files of the repository into the pages of the
// documentation, with a search over them. How a page looks is in view.
package docsite

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Base is the address of the first page. The others are below it.
const Base = "/docs"

// filePrefix is the address of what pages link to that is no page: pictures and
// configuration files.
const filePrefix = Base + "/files/"

// contents is the table of contents. A pattern stands for all files that match it.
var contents = []struct {
	name    string
	sources []string
}{
	{"Start", []string{"docs/start.md"}},
	{"Integrate", []string{"docs/integrating.md", "docs/webhooks.md", "docs/errors.md", "docs/api-changes.md"}},
	{"Run", []string{
		"docs/operations.md", "docs/operations/install.md", "docs/operations/postgresql.md", "docs/operations/proxy.md",
		"docs/operations/keys.md", "docs/operations/backup.md", "docs/operations/upgrades.md", "docs/operations/monitoring.md",
		"docs/operations/sizing.md", "docs/scaling.md", "docs/operations/*.md",
	}},
	{"Administer", []string{"docs/administering.md"}},
	{"Change it", []string{
		"docs/architecture.md", "CONTRIBUTING.md", "SECURITY.md", "docs/threat-model.md", "CHANGELOG.md", "docs/adr/*.md",
	}},
}

// Page is one page of the documentation.
type Page struct {
	Path     string // its address
	Source   string // its file in the repository
	Title    string
	Section  string
	HTML     string
	Headings []Heading
	parts    []part
}

// Heading is a heading of the second level.
type Heading struct{ ID, Text string }

// Section is a part of the table of contents.
type Section struct {
	Name  string
	Pages []*Page
}

// Site is the whole documentation.
type Site struct {
	Sections []Section
	pages    map[string]*Page // by address
	sources  map[string]*Page // by file
	files    fs.FS
}

// New renders the documentation in files, which has the layout of the repository.
func New(files fs.FS) (*Site, error) {
	s := &Site{pages: map[string]*Page{}, sources: map[string]*Page{}, files: files}
	for _, planned := range contents {
		section := Section{Name: planned.name}
		for _, pattern := range planned.sources {
			sources, err := fs.Glob(files, pattern)
			if err != nil {
				return nil, fmt.Errorf("pattern %s: %w", pattern, err)
			}
			if len(sources) == 0 {
				return nil, fmt.Errorf("no file matches %s: embed it, or remove it from the contents", pattern)
			}
			for _, source := range sources {
				if s.sources[source] != nil {
					continue
				}
				p := &Page{Path: pagePath(source), Source: source, Section: planned.name}
				s.pages[p.Path], s.sources[source] = p, p
				section.Pages = append(section.Pages, p)
			}
		}
		s.Sections = append(s.Sections, section)
	}
	for _, p := range s.sources {
		text, err := fs.ReadFile(files, p.Source)
		if err != nil {
			return nil, err
		}
		if err := s.render(p, text); err != nil {
			return nil, fmt.Errorf("render %s: %w", p.Source, err)
		}
	}
	return s, nil
}

// pagePath returns where the page of a file is: docs/operations/keys.md is at
// /docs/operations/keys, and the start at /docs itself.
func pagePath(source string) string {
	name := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(source, "docs/"), ".md"))
	if name == "start" {
		return Base
	}
	return Base + "/" + name
}

// Page returns the page at an address.
func (s *Site) Page(address string) (*Page, bool) {
	p, ok := s.pages[address]
	return p, ok
}

// Neighbours returns the pages before and after a page, nil at the ends.
func (s *Site) Neighbours(p *Page) (before, after *Page) {
	var all []*Page
	for _, section := range s.Sections {
		all = append(all, section.Pages...)
	}
	i := slices.Index(all, p)
	if i > 0 {
		before = all[i-1]
	}
	if i < len(all)-1 {
		after = all[i+1]
	}
	return before, after
}

// File returns the content of a file that pages link to.
func (s *Site) File(address string) ([]byte, bool) {
	name, ok := strings.CutPrefix(address, filePrefix)
	if !ok || path.Ext(name) == ".md" || !fs.ValidPath(name) {
		return nil, false
	}
	content, err := fs.ReadFile(s.files, name)
	return content, err == nil
}

// elsewhere are the addresses of files of the repository that the server has
// without this package.
var elsewhere = map[string]string{
	"api/openapi.yaml": "/api/v1/openapi.yaml",
}

// resolve returns the address of what a file links to, and false for a file that is
// only in the repository.
func (s *Site) resolve(source, link string) (string, bool) {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "#") || strings.HasPrefix(link, "/") || strings.HasPrefix(link, "mailto:") {
		return link, true
	}
	target, fragment, hasFragment := strings.Cut(link, "#")
	target = path.Join(path.Dir(source), target)
	if known, ok := elsewhere[target]; ok {
		return known, true
	}
	if p := s.sources[target]; p != nil {
		if hasFragment {
			return p.Path + "#" + fragment, true
		}
		return p.Path, true
	}
	if info, err := fs.Stat(s.files, target); err == nil && !info.IsDir() {
		return filePrefix + target, true
	}
	return "", false
}
