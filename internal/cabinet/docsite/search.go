package docsite

import (
	"cmp"
	"slices"
	"strings"
)

// Result is a part of a page that has all words of a search.
type Result struct {
	Path    string // with the part's fragment
	Page    string // the page's title
	Heading string // empty for the beginning of the page
	Excerpt string
	rank    int
}

const (
	maxResults  = 30
	excerptSize = 200 // in bytes, about
)

// Search returns the parts that have every word of the query, those with the words in
// a heading or title first.
func (s *Site) Search(query string) []Result {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	var out []Result
	for _, section := range s.Sections {
		for _, p := range section.Pages {
			for _, part := range p.parts {
				if r, ok := match(p, part, words); ok {
					out = append(out, r)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(x, y Result) int { return cmp.Compare(y.rank, x.rank) })
	return out[:min(len(out), maxResults)]
}

// match returns a part as a result, if each word is in its heading or its text.
func match(p *Page, part part, words []string) (Result, bool) {
	title, heading, text := strings.ToLower(p.Title), strings.ToLower(part.heading), strings.ToLower(part.text)
	r := Result{Path: p.Path, Page: p.Title, Heading: part.heading}
	if part.id != "" && part.heading != p.Title {
		r.Path += "#" + part.id
	}
	if part.heading == p.Title {
		r.Heading = ""
	}
	for _, word := range words {
		inHeading, inText := strings.Contains(heading, word), strings.Contains(text, word)
		switch {
		case inHeading:
			r.rank += 3
		case inText && strings.Contains(title, word):
			r.rank += 2
		case inText:
			r.rank++
		default:
			return r, false
		}
	}
	r.Excerpt = excerpt(part.text, words[0])
	return r, true
}

// excerpt returns the text around the first occurrence of a word.
func excerpt(text, word string) string {
	text = strings.Join(strings.Fields(text), " ")
	// The position is bounded, because ToLower may make the text longer.
	at := min(len(text), max(0, strings.Index(strings.ToLower(text), word)))
	from, to := max(0, at-excerptSize/3), min(len(text), at+excerptSize)
	for from > 0 && text[from-1] != ' ' {
		from--
	}
	for to < len(text) && text[to] != ' ' {
		to++
	}
	out := text[from:to]
	if from > 0 {
		out = "… " + out
	}
	if to < len(text) {
		out += " …"
	}
	return out
}
