package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// SignInStore keeps what administrators sign in with.
type SignInStore interface {
	Administrator(ctx context.Context, id int64) (domain.Administrator, domain.Credentials, error)
	AdministratorByEmail(ctx context.Context, email string) (domain.Administrator, domain.Credentials, error)
	Memberships(ctx context.Context, id int64) (domain.Administrator, []domain.Membership, error)
	RecordAudit(ctx context.Context, e domain.AuditEntry) error
	EnterCompany(ctx context.Context, by domain.Actor, company int64) error
	CountAttempt(ctx context.Context, throttles []domain.Throttle) error
	UncountAttempt(ctx context.Context, throttles []domain.Throttle) error
	KnowsAddress(ctx context.Context, key string) (bool, error)
	FailSignIn(ctx context.Context, failure domain.SignInFailure) error
	PassSignIn(ctx context.Context, proof domain.SignInProof) (domain.Administrator, error)

	SignInLink(ctx context.Context, hash [32]byte) (domain.SignInLink, error)
	EnterByLink(ctx context.Context, hash [32]byte, kind domain.LinkKind, proof domain.SignInProof) (domain.Administrator, error)
	AcceptLink(ctx context.Context, by domain.Actor, hash [32]byte) (int64, error)

	SetPassword(ctx context.Context, in domain.NewPassword) error
	SetTOTPSecret(ctx context.Context, administrator int64, sealed []byte) error
	ConfirmTOTP(ctx context.Context, in domain.TOTPConfirmation) error
	DropTOTP(ctx context.Context, by domain.Actor) error
	SetRecoveryCodes(ctx context.Context, by domain.Actor, hashes []string) error
	SetProfile(ctx context.Context, id int64, p domain.Profile) error
}

// SecretBox encrypts what must not be readable in a copy of the database. What
// was sealed under a label opens under that label only.
type SecretBox interface {
	Seal(label string, plain []byte) []byte
	Open(label string, sealed []byte) ([]byte, error)
	// OpenUntrusted opens what a client has sent.
	OpenUntrusted(label string, sealed []byte) ([]byte, error)
}

// totpLabel is the SecretBox label of second-factor secrets.
const totpLabel = "second factor"

// SignInOptions tune SignIn; zero fields mean the defaults.
type SignInOptions struct {
	Now    func() time.Time // time.Now
	Cost   PasswordCost     // DefaultPasswordCost
	Issuer string           // what authenticator apps show; coursebridge

	// MemoryLimit is how many bytes the process may use; 0 means that it has no limit.
	// Under 1 GiB one password is hashed at a time.
	MemoryLimit int64
}

// SignIn signs administrators in and manages their passwords and second factors.
type SignIn struct {
	store  SignInStore
	box    SecretBox
	hasher *hasher
	now    func() time.Time
	issuer string
}

// NewSignIn returns the use cases over a store.
func NewSignIn(store SignInStore, box SecretBox, opt SignInOptions) *SignIn {
	s := &SignIn{store: store, box: box, hasher: newHasher(opt.Cost, opt.MemoryLimit), now: opt.Now, issuer: opt.Issuer}
	if s.now == nil {
		s.now = time.Now
	}
	if s.issuer == "" {
		s.issuer = "coursebridge"
	}
	return s
}

// Origin describes where a request came from.
type Origin struct {
	Address   netip.Addr
	RequestID string
	Device    string // the device's cookie, as DeviceToken made it; may be empty
}

func (o Origin) actor() domain.Actor {
	return domain.Actor{RequestID: o.RequestID, Address: formatAddr(o.Address)}
}

func (o Origin) throttles(first domain.Throttle) []domain.Throttle {
	if !o.Address.IsValid() {
		return []domain.Throttle{first}
	}
	return append([]domain.Throttle{first}, domain.AddressThrottles(o.Address)...)
}

// knownAddress is the key under which the address is remembered, empty without one.
func (o Origin) knownAddress() string {
	if !o.Address.IsValid() {
		return ""
	}
	return domain.KnownAddressKey(o.Address)
}

// SignedIn is the progress of a sign-in.
type SignedIn struct {
	Administrator domain.Administrator
	// Begun is set when the password was right and a code has to follow: it is what
	// Code takes.
	Begun string
}

// NeedsCode reports whether Code has to follow.
func (s SignedIn) NeedsCode() bool { return s.Begun != "" }

// Password begins a sign-in, and ends it for those without a second factor. The
// answer and its timing do not reveal whether the address is known. Codes:
// unauthorized, rate_limited, unavailable.
func (s *SignIn) Password(ctx context.Context, email, password string, from Origin) (SignedIn, error) {
	tried := from.throttles(domain.AccountThrottle(email))
	device, known := s.knownDevice(from.Device, email)
	if known {
		tried = []domain.Throttle{domain.DeviceThrottle(device)}
	}
	if !known {
		var err error
		if known, err = s.store.KnowsAddress(ctx, from.knownAddress()); err != nil {
			return SignedIn{}, err
		}
	}
	// What is refused anyway must not cost two transactions to count it and take that
	// back: on SQLite a flood of sign-ins made everybody's changes wait for a second.
	if s.hasher.queue.isFull(known) {
		return SignedIn{}, domain.ErrSignInBusy
	}
	if err := s.store.CountAttempt(ctx, tried); err != nil {
		return SignedIn{}, err
	}
	who, secrets, err := s.store.AdministratorByEmail(ctx, email)
	if err != nil && !errors.Is(err, domain.ErrAdministratorNotFound) {
		return SignedIn{}, err
	}
	ok, stale, err := s.hasher.verify(ctx, secrets.PasswordHash, limitPassword(password), known)
	if errors.Is(err, domain.ErrSignInBusy) {
		// Nothing was tried: the attempt must not count against the person.
		return SignedIn{}, errors.Join(err, s.store.UncountAttempt(ctx, tried))
	}
	if err != nil {
		return SignedIn{}, err
	}
	if !ok {
		failure := domain.SignInFailure{AdministratorID: who.ID, Tried: tried, Actor: from.actor(), Action: domain.ActionSignInFailed}
		if err := s.store.FailSignIn(ctx, failure); err != nil {
			return SignedIn{}, err
		}
		return SignedIn{}, domain.ErrWrongCredentials
	}
	proof := domain.SignInProof{
		AdministratorID: who.ID, Verified: secrets.PasswordHash, Forgive: tried, Complete: !secrets.TOTPConfirmed,
		KnownAddress: from.knownAddress(), Actor: from.actor(),
	}
	if stale {
		if proof.Rehashed, err = s.hasher.hash(ctx, password); err != nil {
			return SignedIn{}, err
		}
	}
	who, err = s.store.PassSignIn(ctx, proof)
	if err != nil {
		return SignedIn{}, err
	}
	out := SignedIn{Administrator: who}
	if !proof.Complete {
		out.Begun = s.begin(who.ID, cmp.Or(proof.Rehashed, proof.Verified))
	}
	return out, nil
}

// limitPassword cuts an overlong password, so that it costs no more than any wrong one.
func limitPassword(password string) string {
	if most := domain.MaxPassword * 4; len(password) > most {
		return password[:most]
	}
	return password
}

// begin seals a sign-in whose password was right.
func (s *SignIn) begin(administrator int64, passwordHash string) string {
	return s.seal(begunLabel, begunSignIn{
		AdministratorID: administrator, Password: passwordDigest(passwordHash), Until: s.now().Add(begunLifetime),
	})
}

func passwordDigest(hash string) string {
	sum := sha256.Sum256([]byte(hash))
	return hex.EncodeToString(sum[:])
}

// Code ends a sign-in that Password has begun, with a code of the app or a recovery
// code. A begun sign-in ends after ten minutes, and when the password changes.
// Codes: unauthorized, rate_limited.
func (s *SignIn) Code(ctx context.Context, begun, code string, from Origin) (domain.Administrator, error) {
	var sign begunSignIn
	if !s.open(begunLabel, begun, &sign) || !s.now().Before(sign.Until) {
		return domain.Administrator{}, domain.ErrSignInExpired
	}
	_, secrets, err := s.store.Administrator(ctx, sign.AdministratorID)
	if err != nil {
		return domain.Administrator{}, err
	}
	if passwordDigest(secrets.PasswordHash) != sign.Password {
		return domain.Administrator{}, domain.ErrSignInExpired
	}
	proof, err := s.proveFactor(ctx, sign.AdministratorID, code, from)
	if err != nil {
		return domain.Administrator{}, err
	}
	proof.Verified, proof.KnownAddress, proof.Complete = secrets.PasswordHash, from.knownAddress(), true
	return s.store.PassSignIn(ctx, proof)
}

// proveFactor counts an attempt at the second factor and checks the code. The
// store makes sure that each code is used once.
func (s *SignIn) proveFactor(ctx context.Context, administrator int64, code string, from Origin) (domain.SignInProof, error) {
	proof := domain.SignInProof{
		AdministratorID: administrator, Forgive: from.throttles(domain.CodeThrottle(administrator)), Actor: from.actor(),
	}
	if err := s.store.CountAttempt(ctx, proof.Forgive); err != nil {
		return proof, err
	}
	_, secrets, err := s.store.Administrator(ctx, administrator)
	if err != nil {
		return proof, err
	}
	if hash, ok := domain.HashRecoveryCode(code); ok {
		proof.RecoveryHash, proof.Detail = hash, "With a recovery code."
		if slices.Contains(secrets.RecoveryHashes, hash) {
			return proof, nil
		}
	} else if secrets.TOTPConfirmed {
		secret, err := s.box.Open(totpLabel, secrets.TOTPSecret)
		if err != nil {
			return proof, fmt.Errorf("open a second factor: %w", err)
		}
		if proof.Step, ok = domain.MatchTOTP(secret, code, s.now()); ok {
			return proof, nil
		}
	}
	failure := domain.SignInFailure{
		AdministratorID: administrator, Tried: proof.Forgive, Actor: from.actor(), Action: domain.ActionSecondFactorFailed,
	}
	if err := s.store.FailSignIn(ctx, failure); err != nil {
		return proof, err
	}
	return proof, domain.ErrWrongCode
}
