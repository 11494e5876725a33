package view

// Found is one thing that the palette leads to.
type Found struct {
	Kind   string // Page, Report, Person, Course, Token, Webhook
	Label  string
	Detail string // what distinguishes it from others of the same name
	Path   string
}

// FindList is what the palette found.
type FindList struct {
	Search string
	Found  []Found
}

// Pages returns the pages that the navigation leads to, and the reports.
func (s Sections) Pages() []Found {
	var out []Found
	for _, g := range s.groups() {
		for _, e := range g.entries {
			out = append(out, Found{Kind: "Page", Label: e.text, Path: e.path})
		}
	}
	if s.Reports {
		out = append(out, ReportPages()...)
	}
	return out
}

// shortcut is a key and what it does.
type shortcut struct{ keys, words string }

var shortcuts = []shortcut{
	{"Ctrl K", "Go to a page, a person, a course, a token or a webhook"},
	{"/", "Move to the search of this page"},
	{"j  k", "Move to the next or the previous row"},
	{"?", "Show these keys"},
	{"Esc", "Close what is open"},
}
