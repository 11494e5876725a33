package docsite_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge"
	"github.com/coursebridge/coursebridge/internal/cabinet/docsite"
	"github.com/coursebridge/coursebridge/internal/cabinet/snippets"
)

func newSite(t *testing.T) *docsite.Site {
	t.Helper()
	s, err := docsite.New(coursebridge.Documents)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func allPages(s *docsite.Site) (out []*docsite.Page) {
	for _, section := range s.Sections {
		out = append(out, section.Pages...)
	}
	return out
}

var (
	linkPattern = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	idPattern   = regexp.MustCompile(`id="([^"]*)"`)
	// sourceLink is a link in Markdown.
	sourceLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fence      = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// Every Markdown file is a page with a title.
func TestEveryFileIsAPage(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, p := range allPages(newSite(t)) {
		pages = append(pages, p.Source)
		if p.Title == "" || strings.Count(p.HTML, "<h1") != 1 {
			t.Errorf("%s needs one heading of the first level", p.Source)
		}
	}
	err := fs.WalkDir(coursebridge.Documents, ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" && !slices.Contains(pages, name) {
			t.Errorf("%s is not in the table of contents", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Every link leads to a page and a heading on it, to a file that is served, or to an
// address of the server.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ids := map[string][]string{}
	for _, p := range allPages(s) {
		for _, match := range idPattern.FindAllStringSubmatch(p.HTML, -1) {
			ids[p.Path] = append(ids[p.Path], match[1])
		}
	}
	for _, p := range allPages(s) {
		for _, match := range linkPattern.FindAllStringSubmatch(p.HTML, -1) {
			target, fragment, hasFragment := strings.Cut(match[1], "#")
			if target == "" {
				target = p.Path
			}
			_, isPage := s.Page(target)
			_, isFile := s.File(target)
			switch {
			case strings.Contains(target, "://"), strings.HasPrefix(target, "mailto:"), strings.HasPrefix(target, "/api/v1/"):
			case !isPage && !isFile:
				t.Errorf("%s links to %s, which does not exist", p.Source, match[1])
			case hasFragment && !slices.Contains(ids[target], fragment):
				t.Errorf("%s links to %s, which has no such heading", p.Source, match[1])
			}
		}
	}
}

// Files that are only in the repository are not linked on the site, but must exist.
func TestSourcesLinkToFiles(t *testing.T) {
	t.Parallel()
	repository := os.DirFS("../../..")
	sources := []string{"README.md"}
	for _, p := range allPages(newSite(t)) {
		sources = append(sources, p.Source)
	}
	for _, source := range sources {
		text, err := fs.ReadFile(repository, source)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range sourceLink.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			target, _, _ := strings.Cut(match[1], "#")
			if target == "" || strings.Contains(target, ":") {
				continue
			}
			if _, err := fs.Stat(repository, path.Join(path.Dir(source), target)); err != nil {
				t.Errorf("%s links to %s: %v", source, match[1], err)
			}
		}
	}
}

// The programs that verify webhooks are those that the cabinet shows, which tests run.
func TestWebhooksPageHasTheSnippets(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(coursebridge.Documents, "docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range snippets.All {
		if !strings.Contains(string(text), "\n"+strings.TrimSpace(s.Code())+"\n```\n") {
			t.Errorf("docs/webhooks.md does not have the program in %s as it is", s.File)
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for query, want := range map[string]string{
		"restore drill": "/docs/operations/backup", "error code": "/docs/errors", "X-Sync-Watermark": "/docs/integrating#",
		"deprecation": "/docs/api-changes#", "Own Machine": "/docs/webhooks#on-your-own-machine",
	} {
		found := s.Search(query)
		if len(found) == 0 || !strings.HasPrefix(found[0].Path, want) || found[0].Excerpt == "" {
			t.Errorf("%q finds %+v, want %s first", query, found, want)
		}
	}
	if found := s.Search("no-such-word-anywhere"); len(found) != 0 {
		t.Errorf("an unknown word finds %+v", found)
	}
	if found := s.Search(" "); found != nil {
		t.Errorf("an empty search finds %+v", found)
	}
}

// Raw HTML in a Markdown file does not become part of a page, and only the
// documentation's own files are served.
func TestFilesAreLimited(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if content, ok := s.File("/docs/files/deploy/Caddyfile"); !ok || len(content) == 0 {
		t.Error("the Caddyfile is not served")
	}
	for _, address := range []string{"/docs/files/../go.mod", "/docs/files/docs", "/docs/files/docs/start.md", "/docs/files/", "/docs/start.md"} {
		if _, ok := s.File(address); ok {
			t.Errorf("%s is served", address)
		}
	}
}
