package view_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

// document is a rendered page, flat: what stands in template elements is left
// out, since it is not part of the page until a script copies it.
type document struct {
	nodes []*html.Node
	ids   map[string]int
}

func parse(t *testing.T, s sample) document {
	t.Helper()
	var out strings.Builder
	if err := s.page.Render(t.Context(), &out); err != nil {
		t.Fatalf("render: %v", err)
	}
	root, err := html.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	d := document{ids: map[string]int{}}
	d.collect(root)
	return d
}

func (d *document) collect(n *html.Node) {
	if n.Type == html.ElementNode {
		d.nodes = append(d.nodes, n)
		if id := attr(n, "id"); id != "" {
			d.ids[id]++
		}
		if n.Data == "template" {
			return
		}
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		d.collect(child)
	}
}

func (d *document) all(names ...string) (found []*html.Node) {
	for _, n := range d.nodes {
		for _, name := range names {
			if n.Data == name {
				found = append(found, n)
			}
		}
	}
	return found
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func words(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var out strings.Builder
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		out.WriteString(words(child))
	}
	return out.String()
}

func within(n *html.Node, name string) bool {
	for up := n.Parent; up != nil; up = up.Parent {
		if up.Data == name {
			return true
		}
	}
	return false
}

// everyPage runs a check on all samples.
func everyPage(t *testing.T, check func(t *testing.T, d document)) {
	t.Helper()
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			check(t, parse(t, s))
		})
	}
}

func TestPagesObeyTheContentPolicy(t *testing.T) {
	t.Parallel()
	everyPage(t, func(t *testing.T, d document) {
		for _, n := range d.nodes {
			if n.Data == "style" || (n.Data == "script" && attr(n, "src") == "") {
				t.Errorf("%s within the page", n.Data)
			}
			for _, a := range n.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on") {
					t.Errorf("%s has the attribute %s=%q", n.Data, a.Key, a.Val)
				}
				if strings.HasPrefix(a.Key, "hx-vals") || (a.Key == "hx-trigger" && strings.ContainsAny(a.Val, "()")) {
					t.Errorf("%s=%q needs eval", a.Key, a.Val)
				}
			}
			if src := attr(n, "src") + attr(n, "action"); strings.Contains(src, "//") {
				t.Errorf("%s leads to another host: %s", n.Data, src)
			}
		}
	})
}

func TestPagesHaveSoundHeadings(t *testing.T) {
	t.Parallel()
	everyPage(t, func(t *testing.T, d document) {
		if title := d.all("title"); len(title) != 1 || !strings.HasSuffix(words(title[0]), "Coursebridge") {
			t.Error("the page has no title, or more than one")
		}
		if n := len(d.all("h1")); n != 1 {
			t.Errorf("%d headings of the first level", n)
		}
		level := byte('0')
		for _, h := range d.all("h1", "h2", "h3", "h4") {
			if h.Data[1] > level+1 {
				t.Errorf("%q jumps from h%c to %s", words(h), level, h.Data)
			}
			level = h.Data[1]
		}
	})
}

func TestReferencesWithinPagesHold(t *testing.T) {
	t.Parallel()
	everyPage(t, func(t *testing.T, d document) {
		for id, n := range d.ids {
			if n > 1 {
				t.Errorf("the id %q is given %d times", id, n)
			}
		}
		for _, n := range d.nodes {
			for _, name := range []string{"for", "aria-labelledby", "aria-describedby", "popovertarget"} {
				for id := range strings.FieldsSeq(attr(n, name)) {
					// The title of the dialog comes with its content.
					if d.ids[id] == 0 && id != "confirm-title" {
						t.Errorf("%s %s=%q names nothing on the page", n.Data, name, id)
					}
				}
			}
			if href := attr(n, "href"); strings.HasPrefix(href, "#") && d.ids[href[1:]] == 0 {
				t.Errorf("link to %s, which is not there", href)
			}
			if n.Data == "path" && attr(n, "d") == "" {
				t.Error("an icon is empty: its name is not known")
			}
		}
	})
}

func TestControlsHaveNames(t *testing.T) {
	t.Parallel()
	everyPage(t, func(t *testing.T, d document) {
		labelled := map[string]bool{}
		for _, n := range d.all("label") {
			labelled[attr(n, "for")] = true
		}
		for _, n := range d.all("input", "select", "textarea") {
			if attr(n, "type") == "hidden" || within(n, "label") || labelled[attr(n, "id")] {
				continue
			}
			t.Errorf("%s %q has no label", n.Data, attr(n, "name"))
		}
		for _, n := range d.all("a", "button") {
			if strings.TrimSpace(words(n)) == "" && attr(n, "aria-label") == "" {
				t.Errorf("%s %q has no words", n.Data, attr(n, "class"))
			}
			if n.Data == "a" && attr(n, "href") == "" {
				t.Errorf("%q leads nowhere", words(n))
			}
		}
	})
}

// Without scripts a link or form has to do what htmx does.
func TestActsWorkWithoutScripts(t *testing.T) {
	t.Parallel()
	everyPage(t, func(t *testing.T, d document) {
		for _, n := range d.nodes {
			get, post := attr(n, "hx-get"), attr(n, "hx-post")
			switch n.Data {
			case "a":
				if get != "" && get != attr(n, "href") {
					t.Errorf("the link %q opens %s, but without scripts %s", words(n), get, attr(n, "href"))
				}
			case "form":
				if to := get + post; to != "" && to != attr(n, "action") {
					t.Errorf("the form sends to %s, but without scripts to %s", to, attr(n, "action"))
				}
				if attr(n, "method") == "post" && attr(n, "action") == "" {
					t.Error("a form posts nowhere")
				}
			}
		}
	})
}

// On a phone a row is a list, and each cell needs its head's word.
func TestCellsAreLabelled(t *testing.T) {
	t.Parallel()
	everyPage(t, func(t *testing.T, d document) {
		for _, n := range d.all("td") {
			if attr(n, "data-label") == "" && !strings.Contains(attr(n, "class"), "row-actions") && attr(n, "class") != "pick" {
				t.Errorf("a cell without label: %q", strings.TrimSpace(words(n)))
			}
		}
	})
}

// repeatable lists the forms that may be sent twice: they only sign in or out, or
// choose a theme.
var repeatable = []string{view.PathTheme, view.PathSignIn, view.PathSignInCode, view.PathSignOut, view.PathCompanies}

func TestFormsCarryANonce(t *testing.T) {
	t.Parallel()
	everyPage(t, func(t *testing.T, d document) {
		for _, form := range d.all("form") {
			if attr(form, "method") != "post" || slices.Contains(repeatable, attr(form, "action")) {
				continue
			}
			found := false
			for _, input := range d.all("input") {
				found = found || attr(input, "name") == "nonce" && attr(input, "value") != "" && inside(input, form)
			}
			if !found {
				t.Errorf("the form for %s has no nonce", attr(form, "action"))
			}
		}
	})
}

// Errors are shown next to their fields, in our words: the browser's own bubbles would say
// the same once more.
func TestFormsShowTheirOwnErrors(t *testing.T) {
	t.Parallel()
	everyPage(t, func(t *testing.T, d document) {
		for _, n := range d.all("input", "select", "textarea") {
			if !has(n, "required") && !slices.Contains([]string{"email", "url", "number"}, attr(n, "type")) {
				continue
			}
			for up := n.Parent; up != nil; up = up.Parent {
				if up.Data == "form" && !has(up, "novalidate") {
					t.Errorf("the browser checks %q of the form for %s", attr(n, "name"), attr(up, "action"))
				}
			}
		}
	})
}

// A page with errors puts the focus on the first field that is wrong.
func TestTheFirstErrorHasTheFocus(t *testing.T) {
	t.Parallel()
	everyPage(t, func(t *testing.T, d document) {
		wrong := ""
		for _, n := range d.nodes {
			if id := attr(n, "id"); wrong == "" && n.Data == "p" && strings.HasSuffix(id, "-error") {
				wrong = id
			}
		}
		if wrong == "" {
			return
		}
		for _, n := range d.nodes {
			if !has(n, "autofocus") {
				continue
			}
			for up := n; up != nil; up = up.Parent {
				if slices.Contains(strings.Fields(attr(up, "aria-describedby")), wrong) {
					return
				}
			}
			t.Errorf("%q has the focus, but the first error is %s", attr(n, "name"), wrong)
			return
		}
		t.Errorf("nothing has the focus, but there is the error %s", wrong)
	})
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func inside(n, ancestor *html.Node) bool {
	for up := n.Parent; up != nil; up = up.Parent {
		if up == ancestor {
			return true
		}
	}
	return false
}
