package view

import "github.com/a-h/templ"

// Tone is the colour of a status, a tag or a notice. A word always stands next to
// it, so that nobody has to tell colours apart.
type Tone string

// The tones and what they usually stand for.
const (
	ToneGrey  Tone = "grey"  // not active
	ToneBlue  Tone = "blue"  // not decided yet
	ToneGreen Tone = "green" // works
	ToneAmber Tone = "amber" // needs attention
	ToneRed   Tone = "red"   // failed
)

// Confirm is a question that has to be confirmed before an action. It is shown as a
// page, or in a dialog where scripts run.
type Confirm struct {
	Section Section
	Crumbs  []Link
	Title   string   // the question
	Effects []string // what the action will do, one paragraph each
	Action  string   // the path that the form is posted to
	Verb    string   // the label of the button that confirms
	Danger  bool     // makes the button red
	Cancel  string   // the path of the link that does nothing
	Keep    string   // its label, Cancel if empty
	Hidden  []HiddenInput
}

// HiddenInput is a form field that is sent along and not shown.
type HiddenInput struct{ Name, Value string }

// empty is what a list without rows shows. The link is left out if action has no
// path.
type empty struct {
	title    string
	sentence string
	action   Link
}

// tab is one panel of a tabset and the label that selects it.
type tab struct {
	id    string
	label string
	body  templ.Component
}

// fact is one term of a description list and its value.
type fact struct {
	term  string
	value templ.Component
}
