// Package view draws the cabinet's pages. It holds templates, the plain structs
// that they draw, and the wording and formats of what people read. Requests,
// sessions, domain rules and everything that fetches data belong elsewhere: a page
// function takes a Shell and its own struct, and all that it shows is in them.
package view

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

import (
	"time"
)

// Product is the name in titles and next to the logo.
const Product = "Coursebridge"

// Clock is the time at which a page is drawn and the zone that the company reads it in.
// A nil Zone is UTC.
type Clock struct {
	Now  time.Time
	Zone *time.Location
}

// Theme is how a person wants the pages: ThemeSystem follows the device.
type Theme string

// The themes.
const (
	ThemeSystem Theme = ""
	ThemeLight  Theme = "light"
	ThemeDark   Theme = "dark"
)

// Shell is what every page of a signed-in administrator needs.
type Shell struct {
	Clock
	Theme     Theme
	Path      string // path and query of this page: where the theme switch returns to
	Company   string
	Companies []CompanyChoice // those that the person administers, if there are several
	Person    Person
	Sections  Sections
	Flashes   []Flash
}

// Person is who is signed in.
type Person struct {
	Name  string // empty: the address stands for it
	Email string
}

// Label is what the rail calls the person.
func (p Person) Label() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Email
}

// Sections are the parts of the cabinet that appear only once they work.
type Sections struct {
	Employees, Courses, Assignments, Reports bool
}

// FlashKind distinguishes messages of success from problems.
type FlashKind string

// The kinds of messages.
const (
	FlashDone    FlashKind = "done"
	FlashProblem FlashKind = "problem"
)

// Flash is a message about what has just been done.
type Flash struct {
	Kind FlashKind
	Text string
}

// Bare is what pages outside the shell need: sign-in, failures.
type Bare struct {
	Clock
	Theme Theme
	Path  string
}

// Section names an entry of the navigation.
type Section string

// The sections in their order.
const (
	SectionHome        Section = "home"
	SectionEmployees   Section = "employees"
	SectionCourses     Section = "courses"
	SectionAssignments Section = "assignments"
	SectionReports     Section = "reports"
	SectionOverview    Section = "overview"
	SectionTokens      Section = "tokens"
	SectionWebhooks    Section = "webhooks"
	SectionDeliveries  Section = "deliveries"
	SectionRequests    Section = "requests"
	SectionDocs        Section = "docs"
	SectionAudit       Section = "audit"
	SectionSettings    Section = "settings"
)

// Head is the top of a page: where it is, what it is called, what it is for.
type Head struct {
	Section  Section
	Title    string
	Sentence string
	Part     string // names this page within its section, in the browser's title only
	Crumbs   []Link // the pages above this one
	Mono     bool   // the title is an identifier
}

// Link is a text that leads somewhere.
type Link struct {
	Text string
	Path string
}

// Option is one choice of a select.
type Option struct {
	Value string
	Label string
}

// Pager holds the addresses of the previous and next page of a list; empty if there
// is none.
type Pager struct {
	Previous string
	Next     string
}

// Errors holds what is wrong with a form, by field name. The empty name is the
// form as a whole.
type Errors map[string]string
