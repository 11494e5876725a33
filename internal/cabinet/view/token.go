package view

import (
	"slices"
	"strings"
	"time"
)

// TokenState reports whether a token works.
type TokenState string

// The states of a token.
const (
	TokenActive  TokenState = "active"
	TokenExpired TokenState = "expired"
	TokenRevoked TokenState = "revoked"
)

// expirySoon is when an expiry becomes a warning.
const expirySoon = 14 * 24 * time.Hour

// Token is a row of the list and the subject of its page.
type Token struct {
	ID         int64
	Name       string
	LastFour   string
	Scopes     []string // b2b_read, …
	Allowed    []string // addresses and ranges; empty: from anywhere
	CreatedBy  string
	CreatedAt  time.Time
	LastUsedAt *time.Time
	LastUsedIP string
	ExpiresAt  *time.Time
	RevokedAt  *time.Time
	State      TokenState

	PreviousLastFour string
	PreviousUntil    *time.Time // set while the secret before the last regeneration works
}

// TokenList is one page of the list of tokens.
type TokenList struct {
	Tokens  []Token
	Total   int64 // on all pages
	Revoked bool  // revoked and expired ones are shown too
	Hidden  int64 // revoked and expired ones that are not shown
	Pager   Pager
	Search  string
}

func (l TokenList) all() string {
	if l.Revoked {
		return "1"
	}
	return ""
}

// TokenForm is the form that makes a token.
type TokenForm struct {
	Name    string
	Scopes  []string // chosen ones
	Expiry  string   // 30, 90, 365, never or date
	Date    string   // 2026-11-14, when Expiry is date
	MinDate string   // tomorrow
	Allowed string
	Errors  Errors
}

// TokenCreated shows a new token, once.
type TokenCreated struct {
	Token  Token
	Secret string
	Curl   string // works as pasted
	Again  bool   // it was regenerated
}

func (t TokenCreated) title() string {
	if t.Again {
		return "Token regenerated"
	}
	return "Token created"
}

// TokenRegenerate is the form that replaces the secret of a token.
type TokenRegenerate struct {
	Token Token
	Grace string    // of graces
	Form  TokenForm // its expiry, and the errors
}

// TokenRename is the form that renames a token.
type TokenRename struct {
	Token  Token
	Name   string
	Errors Errors
}

type scopeWords struct{ name, short, title, sentence string }

// scopes in the order of the contract; the base scope is in every token.
var scopes = []scopeWords{
	{"b2b_read", "Read", "Read", "See employees, courses, assignments, progress and results, and download reports."},
	{"b2b_provision", "Employees", "Manage employees", "Create, link, update, offboard and delete employees."},
	{"b2b_assignment", "Assignments", "Manage assignments", "Assign courses, one by one or in bulk, and revoke assignments."},
}

var expiries = []Option{
	{"30", "30 days"}, {"90", "90 days"}, {"365", "1 year"}, {"never", "Never"}, {"date", "On a date"},
}

// graces are how long the replaced secret of a token keeps working, in hours.
var graces = []Option{{"0", "At once"}, {"1", "In 1 hour"}, {"24", "In 24 hours"}, {"168", "In 7 days"}}

func (t Token) masked() string { return "••••" + t.LastFour }

// scopeList names what a token may do, for a cell.
func (t Token) scopeList() string {
	var words []string
	for _, s := range scopes {
		if slices.Contains(t.Scopes, s.name) {
			words = append(words, s.short)
		}
	}
	if len(words) == 0 {
		return "None"
	}
	return strings.Join(words, ", ")
}

func (t Token) expiresSoon(now time.Time) bool {
	return t.State == TokenActive && t.ExpiresAt != nil && t.ExpiresAt.Sub(now) < expirySoon
}

func (t Token) tone() Tone {
	if t.State == TokenActive {
		return ToneGreen
	}
	return ToneGrey
}

func (t Token) word() string {
	switch t.State {
	case TokenActive:
		return "Active"
	case TokenExpired:
		return "Expired"
	default:
		return "Revoked"
	}
}

// lastUseSentence describes the last use of a token.
func (t Token) lastUseSentence(c Clock) string {
	if t.LastUsedAt == nil {
		return "It has never been used."
	}
	use := "It was last used " + c.Relative(*t.LastUsedAt) + ", " + c.Exact(*t.LastUsedAt)
	if t.LastUsedIP != "" {
		use += ", from " + t.LastUsedIP
	}
	return use + "."
}

// TokenEndPrevious asks before the grace period of a regenerated token ends.
func TokenEndPrevious(t Token) Confirm {
	return Confirm{
		Section: SectionTokens,
		Crumbs:  tokenCrumbs,
		Title:   "Stop the old secret of “" + t.Name + "”?",
		Effects: []string{
			"The secret ending in " + t.PreviousLastFour + " stops working within a second. The new one, ending in " + t.LastFour + ", keeps working.",
			"Systems that still use the old one will be refused. This cannot be undone.",
		},
		Action: PathToken(t.ID, "end-old"),
		Verb:   "Stop old secret",
		Danger: true,
		Cancel: PathToken(t.ID),
	}
}

// TokenRevoke asks before a token is revoked, and names its last use.
func TokenRevoke(c Clock, t Token) Confirm {
	return Confirm{
		Section: SectionTokens,
		Crumbs:  tokenCrumbs,
		Title:   "Revoke “" + t.Name + "”?",
		Effects: []string{
			"The token ending in " + t.LastFour + " stops working within a second. " + t.lastUseSentence(c),
			"Systems that still use it will be refused. This cannot be undone.",
		},
		Action: PathToken(t.ID, "revoke"),
		Verb:   "Revoke token",
		Danger: true,
		Cancel: PathTokens,
	}
}

var tokenCrumbs = []Link{{"Tokens", PathTokens}}
