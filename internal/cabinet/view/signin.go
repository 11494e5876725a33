package view

import "time"

// SignIn is the sign-in form. Problem is the same sentence for an unknown
// address and a wrong password.
type SignIn struct {
	Email   string
	Next    string // where to go afterwards
	Problem string
	RetryAt *time.Time // set while sign-in is throttled
}

// SecondFactor asks for the code after the password.
type SecondFactor struct {
	Problem  string
	RetryAt  *time.Time
	Recovery bool // ask for a recovery code instead
}

// Enter is what a one-time link opens. An Expired one opens nothing any more.
type Enter struct {
	Email   string
	Company string
	Action  string // PathEnter of the link
	Expired bool
	New     bool // the person has no password yet
	// NeedsCode: the person has a second factor, and the link alone lets nobody in.
	NeedsCode bool
	MinChars  int
	Errors    Errors
}

// Companies lets a person choose which company to work in.
type Companies struct {
	List []CompanyChoice
	Next string
}

// CompanyChoice is one company of a person.
type CompanyChoice struct {
	ID      int64
	Name    string
	Current bool
}

// MinPassword is the shortest password that forms ask for when told nothing else.
const MinPassword = 12

func (e Enter) minimum() int {
	if e.MinChars > 0 {
		return e.MinChars
	}
	return MinPassword
}

func (e Enter) title() string {
	switch {
	case e.Expired:
		return "This link is no longer valid"
	case e.New:
		return "Welcome"
	default:
		return "Choose a new password"
	}
}

func passwordHelp(chars int) string {
	return "At least " + number(int64(chars)) + " characters. A few unrelated words are easy to remember and hard to guess."
}
