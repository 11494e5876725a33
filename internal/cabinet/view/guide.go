package view

// Guide is a page of the documentation.
type Guide struct {
	Title         string
	Path          string
	HTML          string // made from the repository's own Markdown
	Headings      []Link // on this page
	Contents      []GuideSection
	Before, After *Link
}

// GuideSection is a part of the table of contents.
type GuideSection struct {
	Name  string
	Pages []Link
}

// GuideSearch is the result of a search in the documentation.
type GuideSearch struct {
	Query    string
	Found    []GuideFound
	Contents []GuideSection
}

// GuideFound is a place in the documentation.
type GuideFound struct {
	Link
	Excerpt string
}

// has reports whether a page belongs to the section.
func (s GuideSection) has(path string) bool {
	for _, p := range s.Pages {
		if p.Path == path {
			return true
		}
	}
	return false
}
