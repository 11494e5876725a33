package view

import "github.com/a-h/templ"

// Tone is the meaning of a colour. It is always shown together with a word.
type Tone string

// The tones.
const (
	ToneGrey  Tone = "grey"
	ToneBlue  Tone = "blue"
	ToneGreen Tone = "green"
	ToneAmber Tone = "amber"
	ToneRed   Tone = "red"
)

// Confirm asks for confirmation before an action. It is a page of its own and,
// with scripts, the content of a dialog.
type Confirm struct {
	Section Section
	Crumbs  []Link
	Title   string // the question
	Effects []string
	Action  string // where the form posts
	Verb    string // on the button
	Danger  bool
	Cancel  string
	Hidden  []Option // fields that go with the form
}

// empty is what a list shows when it has no rows.
type empty struct {
	title    string
	sentence string
	action   Link
}

// tab is one panel of a tabset.
type tab struct {
	id    string
	label string
	body  templ.Component
}

// fact is one line of a list of facts.
type fact struct {
	term  string
	value templ.Component
}

// text is a component that is nothing but text.
func text(s string) templ.Component { return plain(s) }
