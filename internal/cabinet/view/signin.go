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

// SetPassword is the page that a one-time link opens.
type SetPassword struct {
	Email   string
	Company string
	Action  string // PathSignInLink of the link
	Expired bool
	New     bool // the person has no password yet
	// NeedsCode: the person has a second factor, and the link alone lets nobody in.
	NeedsCode bool
	MinChars  int
	// Password and Repeat are what was typed, shown again if the two differ.
	Password, Repeat string
	Errors           Errors
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

// MinPassword is the minimum password length if a form sets no other.
const MinPassword = 12

func (e SetPassword) minimum() int {
	if e.MinChars > 0 {
		return e.MinChars
	}
	return MinPassword
}

func (e SetPassword) title() string {
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
	return "At least " + formatInt(int64(chars)) + " characters. A few unrelated words are easy to remember and hard to guess."
}
