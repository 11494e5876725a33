package view

import "time"

// CompanySettings is the form about the company.
type CompanySettings struct {
	Name         string
	TimeZone     string
	TimeZones    []string
	DeadlineDays string
	KeepBodies   bool     // of failed requests
	Masked       []string // the personal fields that are masked in them
	Errors       Errors
}

// Administrators is the page of people who can sign in for the company.
type Administrators struct {
	List []Administrator
}

// Administrator is a person who can sign in for the company.
type Administrator struct {
	ID           int64
	Role         string
	Name         string
	Email        string
	Self         bool
	SecondFactor bool
	Invited      bool // has not chosen a password yet
	AddedAt      time.Time
	AddedBy      string
	LastSignIn   *time.Time
}

func (a Administrator) label() string {
	if a.Name != "" {
		return a.Name
	}
	return a.Email
}

// InviteForm asks whom to invite.
type InviteForm struct {
	Name   string
	Email  string
	Role   string
	Errors Errors
}

// RoleForm is the role of one administrator.
type RoleForm struct {
	Administrator
	Errors Errors
}

// roles are the roles of administrators with what they allow.
var roles = []struct{ value, name, allows string }{
	{"owner", "Owner", "Can do everything."},
	{"administrator", "Administrator", "Can do everything but change administrators and company settings."},
	{"viewer", "Viewer", "Sees everything but secrets, and changes nothing."},
}

// roleName is how a role is shown.
func (a Administrator) roleName() string {
	switch a.Role {
	case "owner":
		return "Owner"
	case "viewer":
		return "Viewer"
	}
	return "Administrator"
}

// Invited shows a one-time sign-in link, once.
type Invited struct {
	Email     string
	URL       string
	ExpiresAt time.Time
	Again     bool // for someone who is an administrator already
}

// AdministratorRemove asks before someone loses access.
func AdministratorRemove(a Administrator) Confirm {
	return Confirm{
		Section: SectionSettings,
		Crumbs:  []Link{{"Settings", PathSettings}, {"Administrators", PathAdministrators}},
		Title:   "Remove " + a.label() + "?",
		Effects: []string{
			a.Email + " will no longer be able to sign in for this company, and their sessions end at once. Tokens that they created keep working, because tokens belong to the company.",
		},
		Action: PathAdministrator(a.ID, "remove"), Verb: "Remove administrator", Danger: true, Cancel: PathAdministrators,
	}
}

// InvitationAccept asks someone who is signed in whether to join a company.
func InvitationAccept(company, action string) Confirm {
	return Confirm{
		Section: SectionSettings, Title: "Join " + company + "?",
		Effects: []string{"You will become an administrator of " + company + " and keep your current sign-in. You can switch between companies at any time."},
		Action:  action, Verb: "Join", Cancel: PathHome,
	}
}

// TypedPasswords are what a person typed into a form that was refused: nothing has to be
// typed again but what was wrong.
type TypedPasswords struct{ Current, New, Repeat string }

// MySignIn is the page of the person's own password and second factor.
type MySignIn struct {
	Email           string
	Typed           TypedPasswords
	PasswordErrors  Errors
	MinChars        int
	SecondFactor    bool
	SecondSince     *time.Time
	RecoveryLeft    int
	PasswordChanged *time.Time
}

func (m MySignIn) minimum() int {
	if m.MinChars > 0 {
		return m.MinChars
	}
	return MinPassword
}

// SecondFactorSetup shows the secret to scan and asks for a first code.
type SecondFactorSetup struct {
	Secret string   // base32, in groups
	URI    string   // otpauth://…
	QR     [][]bool // dark modules by row; empty: no picture
	Errors Errors
}

// RecoveryCodes shows new recovery codes, once.
type RecoveryCodes struct {
	Codes []string
}

// PasswordAsk asks for the password before something about the sign-in changes.
type PasswordAsk struct {
	Title    string
	Sentence string
	Action   string
	Verb     string
	Danger   bool
	Errors   Errors
}

// What a password is asked for.
var (
	AskSecondFactor = PasswordAsk{
		Title: "Set up two-step verification", Sentence: "Enter your password first, so that nobody else can do this on your unlocked screen.",
		Action: PathSecondFactor, Verb: "Continue",
	}
	AskSecondOff = PasswordAsk{
		Title: "Turn off two-step verification?", Sentence: "You will sign in with your password alone. Your recovery codes will stop working.",
		Action: PathRemoveSecondFactor, Verb: "Turn off", Danger: true,
	}
	AskRecovery = PasswordAsk{
		Title: "Create new recovery codes?", Sentence: "The old codes will stop working.", Action: PathRecovery, Verb: "Create new codes",
	}
)

// With returns a copy of the question with its errors.
func (a PasswordAsk) With(errs Errors) PasswordAsk {
	a.Errors = errs
	return a
}

// Sessions is the page of the person's sessions.
type Sessions struct {
	List []Session
}

// Session is one device that is signed in.
type Session struct {
	ID        int64
	Device    string // "Firefox on Linux"
	Agent     string // the whole User-Agent
	Address   string
	Current   bool
	SeenAt    time.Time
	CreatedAt time.Time
}

// SessionsEndOthers asks before every other session ends.
func SessionsEndOthers(others int64) Confirm {
	return Confirm{
		Section: SectionSettings,
		Crumbs:  []Link{{"Settings", PathSettings}, {"Sessions", PathSessions}},
		Title:   "End all other sessions?",
		Effects: []string{"You will be signed out of " + plural(others, "other device or browser", "other devices or browsers") + ". This one stays signed in."},
		Action:  PathEndOthers, Verb: "End other sessions", Cancel: PathSessions,
	}
}

// others counts the sessions that are not this one.
func (s Sessions) others() (n int64) {
	for _, session := range s.List {
		if !session.Current {
			n++
		}
	}
	return n
}

var settingsTabs = []Link{
	{"Company", PathSettings}, {"Administrators", PathAdministrators},
	{"My sign-in", PathMySignIn}, {"Sessions", PathSessions},
}

// settingsTab returns the name of the tab at a path.
func settingsTab(path string) string {
	for _, l := range settingsTabs {
		if l.Path == path {
			return l.Text
		}
	}
	return ""
}

// modules draws a QR code as one path, a square of one unit per dark module.
func modules(qr [][]bool) string {
	var path []byte
	for y, row := range qr {
		for x, dark := range row {
			if dark {
				path = append(path, "M"+formatInt(int64(x))+" "+formatInt(int64(y))+"h1v1h-1z"...)
			}
		}
	}
	return string(path)
}

// quietBox is the picture's box with the empty margin that scanners need.
func quietBox(qr [][]bool) string {
	side := formatInt(int64(len(qr) + 8))
	return "-4 -4 " + side + " " + side
}

func zoneOptions(names []string) []Option {
	options := make([]Option, len(names))
	for i, name := range names {
		options[i] = Option{name, name}
	}
	return options
}

// personalFields are the fields of request bodies that can be masked in the log.
var personalFields = []Option{{"email", "E-mail addresses"}, {"externalId", "External ids"}, {"name", "Names"}, {"tags", "Tags"}}
