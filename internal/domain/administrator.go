package domain

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"time"
)

// LinkLifetime is how long a one-time sign-in link is valid.
const LinkLifetime = 7 * 24 * time.Hour

// Themes of the cabinet; the first follows the system.
var Themes = []string{"system", "light", "dark"}

// Administrator is a person who signs in to the cabinet. One may serve several
// companies. What proves who they are is in Credentials.
type Administrator struct {
	ID              int64
	Email           string
	Name            string
	Theme           string
	CreatedAt       time.Time
	LastSignInAt    *time.Time
	HasPassword     bool
	HasSecondFactor bool
	RecoveryLeft    int // unused recovery codes

	PasswordChangedAt *time.Time // nil: it was never set
	SecondFactorSince *time.Time // nil: it is off
}

// Credentials are the stored proofs of an administrator's identity. None of them
// is in plain text.
type Credentials struct {
	PasswordHash   string
	TOTPSecret     []byte // sealed
	TOTPConfirmed  bool
	RecoveryHashes []string
}

// Member is an administrator in a company.
type Member struct {
	Administrator
	Role         CabinetRole
	AddedAt      time.Time
	AddedBy      string
	LastSignInAt *time.Time // into this company
}

// Invitation is someone who was asked to become an administrator and did not
// enter yet.
type Invitation struct {
	AdministratorID int64
	Email           string
	Name            string // as the company calls them; may be empty
	Role            CabinetRole
	CreatedAt       time.Time
	ExpiresAt       time.Time
}

// Profile is what administrators change about themselves.
type Profile struct {
	Name  string
	Theme string
}

// Normalize normalises the input and reports every field that is wrong.
func (p *Profile) Normalize() error {
	var c Checks
	if p.Name != "" {
		var err error
		p.Name, err = NormalizeName(p.Name)
		c.Add("name", err)
	}
	if !slices.Contains(Themes, p.Theme) {
		c.Add("theme", errors.New("must be system, light or dark"))
	}
	return c.Err()
}

// LinkKind names who vouches for a one-time link. It is the first character of the
// token, so that the stored hash covers it.
type LinkKind byte

// The kinds. The operator vouches for the address; a company's administrator
// can't, and also holds the link in their own hands.
const (
	LinkOperator   LinkKind = 'o'
	LinkInvitation LinkKind = 'i'
)

const linkBytes = 32

// NewLink is a one-time link to be stored.
type NewLink struct {
	Hash     [sha256.Size]byte
	Kind     LinkKind
	Role     CabinetRole // in the company that the link lets join
	Lifetime time.Duration
	Name     string // of the invited person; used when they enter without a name of their own
}

// LinkRequest asks the operator's side for a link.
type LinkRequest struct {
	Email            string
	CompanyID        int64 // the company to join as an owner; 0: none but those served already
	DropSecondFactor bool  // for someone who lost it, recovery codes and all
}

// GenerateLink makes the secret of a one-time link: 256 bits after its kind.
func GenerateLink(kind LinkKind) string {
	secret := make([]byte, linkBytes)
	_, _ = rand.Read(secret) // crypto/rand does not fail
	return string(rune(kind)) + base64.RawURLEncoding.EncodeToString(secret)
}

// ParseLink returns what is stored and looked up, and the kind. ok is false for a
// string that cannot be a link at all.
func ParseLink(token string) (hash [sha256.Size]byte, kind LinkKind, ok bool) {
	if len(token) != 1+base64.RawURLEncoding.EncodedLen(linkBytes) {
		return hash, 0, false
	}
	kind = LinkKind(token[0])
	if kind != LinkOperator && kind != LinkInvitation {
		return hash, 0, false
	}
	return sha256.Sum256([]byte(token)), kind, true
}

// SignInLink is a one-time link that is still valid.
type SignInLink struct {
	Kind          LinkKind
	Administrator Administrator
	CompanyID     int64 // the company it lets join; 0: none
	CompanyName   string
	ExpiresAt     time.Time
	// Claimed: someone has entered as this administrator before, or a company
	// counts on them.
	Claimed bool
	// Vouched: an operator's link has proved before that the address is theirs.
	Vouched bool
}

// NeedsCode reports whether the link's holder has to prove a second factor. One that
// was set up through a company's invitation proves nothing about the address: it
// does not stand in the way of the person whom the operator vouches for.
func (l SignInLink) NeedsCode() bool {
	return l.Administrator.HasSecondFactor && (l.Kind != LinkOperator || l.Vouched)
}

// SignsIn reports whether the link alone lets its holder in. An invitation is seen
// by whoever wrote it: it must not open an identity that other companies trust.
// Its holder signs in first, and then accepts it.
func (l SignInLink) SignsIn() bool { return l.Kind == LinkOperator || !l.Claimed }

// SignInProof is what a sign-in has proved so far. The store compares it with the
// administrator's current state in one transaction.
type SignInProof struct {
	AdministratorID int64
	Verified        string // the password hash that the password matched
	Rehashed        string // replaces it when the cost has grown since
	Step            int64  // the time step of the code; 0: none
	RecoveryHash    string // of the recovery code that is used up
	Forgive         []Throttle
	Complete        bool   // nothing is left to prove
	KnownAddress    string // the key of the address to remember; empty for none
	Actor           Actor
	Detail          string
}

// SignInFailure is a failed attempt to be noted.
type SignInFailure struct {
	AdministratorID int64 // 0 for an address that nobody has
	Tried           []Throttle
	Actor           Actor
	Action          string // what the audit log calls it
}

// The names of failed attempts in the audit log: a wrong code after a right password
// is not the same as a wrong password.
const (
	ActionSignInFailed       = "sign_in.failed"
	ActionSecondFactorFailed = "second_factor.failed"
)

// TOTPConfirmation turns the second factor on.
type TOTPConfirmation struct {
	Secret         []byte // as it was sealed when the code was shown
	Step           int64  // the time step of the code that proved it
	RecoveryHashes []string
	KeepSession    []byte // hash of the session that goes on; all others end
	Actor          Actor
}

// NewPassword sets or replaces a password.
type NewPassword struct {
	AdministratorID int64
	Old             string // the hash it replaces; empty: there must be none
	New             string
	KeepSession     []byte // hash of the session that goes on; all others end
	Actor           Actor
}

// Errors about administrators.
var (
	ErrWrongCredentials      = Errorf(CodeUnauthorized, "The e-mail address or the password is wrong. Check both, or ask an owner of the company for a new link.")
	ErrSignInBusy            = Errorf(CodeUnavailable, "Too many people are signing in right now. Try again in a moment.")
	ErrSignInExpired         = Errorf(CodeUnauthorized, "This took too long, or the password has changed meanwhile. Sign in again.")
	ErrWrongPassword         = Errorf(CodeUnauthorized, "The password is wrong. Enter the one that you sign in with.")
	ErrWrongCode             = Errorf(CodeUnauthorized, "The code is wrong, too old or was used before. Enter the one that the app shows now, or a recovery code.")
	ErrLinkNotFound          = Errorf(CodeNotFound, "This link was used before, has expired or was withdrawn. Ask for a new one.")
	ErrLinkNeedsSignIn       = Errorf(CodeUnauthorized, "Sign in with your password to accept this invitation.")
	ErrLinkOfAnother         = Errorf(CodeWrongCompany, "This link is meant for another e-mail address than the one you are signed in with. Sign out, then open it again.")
	ErrAdministratorNotFound = Errorf(CodeNotFound, "There is no such administrator. Somebody may have removed the person.")
	ErrInvitationNotFound    = Errorf(CodeNotFound, "There is no such invitation. It may have been accepted or withdrawn.")
	ErrLastOwner             = Errorf(CodeInvalid, "A company keeps at least one owner. Make another administrator an owner first.")
	ErrPasswordSet           = Errorf(CodeInvalid, "There is a password already. Change it instead.")
	ErrSecondFactorOn        = Errorf(CodeInvalid, "The second factor is on already. Turn it off first.")
	ErrSecondFactorOff       = Errorf(CodeInvalid, "The second factor is not on. Turn it on first.")
	ErrSessionNotFound       = Errorf(CodeNotFound, "There is no such session; it may have ended by itself.")
)

// SealedFactor is the second factor of an administrator, encrypted at rest.
type SealedFactor struct {
	AdministratorID int64
	Email           string
	Secret          []byte
}
