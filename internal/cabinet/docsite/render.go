package docsite

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown is GitHub's dialect without raw HTML.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// part is the text below one heading, for the search.
type part struct{ id, heading, text string }

// render fills in a page from its Markdown.
func (s *Site) render(p *Page, source []byte) error {
	root := markdown.Parser().Parse(text.NewReader(source))
	current := &part{}
	var unlink []*ast.Link
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.heading(n, source, &current)
		case *ast.Link:
			address, ok := s.resolve(p.Source, string(n.Destination))
			if n.Destination = []byte(address); !ok {
				unlink = append(unlink, n)
			}
		case *ast.Image:
			address, _ := s.resolve(p.Source, string(n.Destination))
			n.Destination = []byte(address)
		case *ast.Text:
			current.text += string(n.Segment.Value(source)) + " "
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			current.text += string(n.Lines().Value(source)) + " "
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	for _, link := range unlink {
		replaceByChildren(link)
	}
	p.parts = append(p.parts, *current)
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, root); err != nil {
		return err
	}
	p.HTML = reachable.Replace(out.String())
	return nil
}

// heading begins a new part of the page.
func (p *Page) heading(n *ast.Heading, source []byte, current **part) {
	words := textOf(n, source)
	id := ""
	if value, ok := n.AttributeString("id"); ok {
		id = string(value.([]byte))
	}
	switch n.Level {
	case 1:
		p.Title = words
	case 2:
		p.Headings = append(p.Headings, Heading{ID: id, Text: words})
	}
	p.parts = append(p.parts, **current)
	*current = &part{id: id, heading: words}
}

// replaceByChildren leaves the words of a link that leads nowhere.
func replaceByChildren(link *ast.Link) {
	parent := link.Parent()
	for child := link.FirstChild(); child != nil; child = link.FirstChild() {
		parent.InsertBefore(parent, link, child)
	}
	parent.RemoveChild(parent, link)
}

// reachable lets the keyboard scroll what is wider than the page.
var reachable = strings.NewReplacer(
	"<pre>", `<pre class="mono" tabindex="0" role="group" aria-label="Code">`,
	"<table>", `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>`,
	"</table>", "</table></div>",
)

// textOf returns the words of a node.
func textOf(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if leaf, ok := n.(*ast.Text); ok && entering {
			out.Write(leaf.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}
