package service

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// SignInStore keeps what administrators sign in with.
type SignInStore interface {
	Administrator(ctx context.Context, id int64) (domain.Administrator, domain.Credentials, error)
	AdministratorByEmail(ctx context.Context, email string) (domain.Administrator, domain.Credentials, error)
	AdministratorCompanies(ctx context.Context, id int64) (domain.Administrator, []domain.Company, error)
	CountAttempt(ctx context.Context, throttles []domain.Throttle) error
	FailSignIn(ctx context.Context, administrator int64, tried []domain.Throttle, from domain.Actor) error
	PassSignIn(ctx context.Context, proof domain.SignInProof) (domain.Administrator, error)

	SignInLink(ctx context.Context, hash [32]byte) (domain.SignInLink, error)
	EnterByLink(ctx context.Context, hash [32]byte, kind domain.LinkKind, proof domain.SignInProof) (domain.Administrator, error)
	AcceptLink(ctx context.Context, by domain.Actor, hash [32]byte) (int64, error)

	SetPassword(ctx context.Context, in domain.NewPassword) error
	SetTOTPSecret(ctx context.Context, administrator int64, sealed []byte) error
	ConfirmTOTP(ctx context.Context, by domain.Actor, sealed []byte, step int64, recovery []string) error
	DropTOTP(ctx context.Context, by domain.Actor) error
	SetRecoveryCodes(ctx context.Context, by domain.Actor, hashes []string) error
	SetProfile(ctx context.Context, id int64, p domain.Profile) error
}

// SecretBox encrypts what must not be readable in a copy of the database. What
// was sealed under a label opens under that label only.
type SecretBox interface {
	Seal(label string, plain []byte) []byte
	Open(label string, sealed []byte) ([]byte, error)
}

// totpLabel is the SecretBox label of second-factor secrets.
const totpLabel = "second factor"

// SignInOptions tune SignIn; zero fields mean the defaults.
type SignInOptions struct {
	Now    func() time.Time // time.Now
	Cost   PasswordCost     // DefaultPasswordCost
	Issuer string           // what authenticator apps show; coursebridge
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
	s := &SignIn{store: store, box: box, hasher: newHasher(opt.Cost), now: opt.Now, issuer: opt.Issuer}
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
}

func (o Origin) actor() domain.Actor {
	return domain.Actor{RequestID: o.RequestID, Address: formatAddr(o.Address)}
}

func (o Origin) throttles(first domain.Throttle) []domain.Throttle {
	if !o.Address.IsValid() {
		return []domain.Throttle{first}
	}
	return []domain.Throttle{first, domain.AddressThrottle(o.Address)}
}

// SignedIn is the progress of a sign-in.
type SignedIn struct {
	Administrator domain.Administrator
	// NeedsCode: the password was right, and Code has to follow.
	NeedsCode bool
}

// Password begins a sign-in, and ends it for those without a second factor. The
// answer and its timing do not reveal whether the address is known. Codes:
// unauthorized, rate_limited, unavailable.
func (s *SignIn) Password(ctx context.Context, email, password string, from Origin) (SignedIn, error) {
	tried := from.throttles(domain.AccountThrottle(email))
	if err := s.store.CountAttempt(ctx, tried); err != nil {
		return SignedIn{}, err
	}
	who, secrets, err := s.store.AdministratorByEmail(ctx, email)
	if err != nil && !errors.Is(err, domain.ErrAdministratorNotFound) {
		return SignedIn{}, err
	}
	ok, stale, err := s.hasher.verify(ctx, secrets.PasswordHash, limitPassword(password))
	if err != nil {
		return SignedIn{}, err
	}
	if !ok {
		if err := s.store.FailSignIn(ctx, who.ID, tried, from.actor()); err != nil {
			return SignedIn{}, err
		}
		return SignedIn{}, domain.ErrWrongCredentials
	}
	proof := domain.SignInProof{
		AdministratorID: who.ID, Verified: secrets.PasswordHash, Forgive: tried, Complete: !secrets.TOTPConfirmed, Actor: from.actor(),
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
	return SignedIn{Administrator: who, NeedsCode: !proof.Complete}, nil
}

// limitPassword cuts an overlong password, so that it costs no more than any wrong one.
func limitPassword(password string) string {
	if most := domain.MaxPassword * 4; len(password) > most {
		return password[:most]
	}
	return password
}

// Code ends a sign-in whose password was right, with a code of the app or a
// recovery code. Codes: unauthorized, rate_limited.
func (s *SignIn) Code(ctx context.Context, administrator int64, code string, from Origin) (domain.Administrator, error) {
	proof, err := s.proveFactor(ctx, administrator, code, from)
	if err != nil {
		return domain.Administrator{}, err
	}
	proof.Complete = true
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
		for _, known := range secrets.RecoveryHashes {
			if known == hash {
				return proof, nil
			}
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
	if err := s.store.FailSignIn(ctx, administrator, proof.Forgive, from.actor()); err != nil {
		return proof, err
	}
	return proof, domain.ErrWrongCode
}

// Identity is a signed-in administrator and the company they work for now.
type Identity struct {
	Administrator domain.Administrator
	Company       domain.Company
	Companies     []domain.Company // all they serve, by ascending id
}

// Caller returns the identity as the caller of other use cases.
func (i Identity) Caller(from Origin) domain.Caller {
	return domain.Caller{Company: i.Company, Actor: i.Actor(from)}
}

// Actor returns the person as the actor of a request.
func (i Identity) Actor(from Origin) domain.Actor {
	by := from.actor()
	by.Kind, by.ID, by.Label = domain.ActorPerson, i.Administrator.ID, i.Administrator.Email
	return by
}

// Identify returns who a session belongs to. The company is the one asked for if
// they serve it, else the first. Codes: unauthorized, for someone who serves no
// company any more.
func (s *SignIn) Identify(ctx context.Context, administrator, company int64) (Identity, error) {
	who, companies, err := s.store.AdministratorCompanies(ctx, administrator)
	if err != nil && !errors.Is(err, domain.ErrAdministratorNotFound) {
		return Identity{}, err
	}
	if len(companies) == 0 {
		return Identity{}, domain.ErrWrongCredentials
	}
	out := Identity{Administrator: who, Company: companies[0], Companies: companies}
	for _, c := range companies {
		if c.ID == company {
			out.Company = c
		}
	}
	return out, nil
}

// Serves reports whether the identity may switch to a company. Codes:
// company_not_found, for others' companies too.
func (i Identity) Serves(company int64) error {
	for _, c := range i.Companies {
		if c.ID == company {
			return nil
		}
	}
	return domain.ErrCompanyNotFound(company)
}
