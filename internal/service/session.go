package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// SessionStore keeps sessions.
type SessionStore interface {
	Session(ctx context.Context, key []byte) (domain.Session, error)
	AddSession(ctx context.Context, x domain.Session) error
	PutSessionData(ctx context.Context, key, data []byte) error
	TouchSession(ctx context.Context, x domain.Session) error
	DropSession(ctx context.Context, key []byte) error
	Sessions(ctx context.Context, administrator int64) ([]domain.Session, error)
	EndSession(ctx context.Context, by domain.Actor, id int64) error
	EndOtherSessions(ctx context.Context, by domain.Actor, keep []byte) (int64, error)
	BeginSubmission(ctx context.Context, session []byte, nonce string) (location string, first bool, err error)
	EndSubmission(ctx context.Context, session []byte, nonce, location string) error
	SweepSignIn(ctx context.Context) error
	Now() time.Time
}

// Sessions keeps the cabinet's sessions. It implements the store interface of the
// session library. The signed-in account is a column of the session, not part of the
// library's data, so that sessions can be listed and ended one by one. Idle sessions
// end here: the library's own idle timeout stays off, because it would turn every
// page view into a write.
type Sessions struct{ store SessionStore }

// NewSessions returns the sessions of a store.
func NewSessions(store SessionStore) *Sessions { return &Sessions{store: store} }

// visit is one request of a browser and the session found for it.
type visit struct {
	address, userAgent string
	session            domain.Session // zero: none was found
	bound              int64
}

type visitKey struct{}

// Visit prepares a request's context; it comes before the session library.
func (s *Sessions) Visit(ctx context.Context, from netip.Addr, userAgent string) context.Context {
	return context.WithValue(ctx, visitKey{}, &visit{address: formatAddr(from), userAgent: cleanUserAgent(userAgent)})
}

func visitOf(ctx context.Context) *visit {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{}
}

// Bind records who has signed in with this request. The session's token must have
// been renewed before: one that was known earlier is never bound.
func (s *Sessions) Bind(ctx context.Context, administrator int64) { visitOf(ctx).bound = administrator }

// AdministratorID returns who is signed in, 0 for nobody.
func (s *Sessions) AdministratorID(ctx context.Context) int64 {
	v := visitOf(ctx)
	if v.bound != 0 {
		return v.bound
	}
	return v.session.AdministratorID
}

// FindCtx returns the data of the session with this token, unless it has ended.
func (s *Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	key := SessionKey(token)
	found, err := s.store.Session(ctx, key)
	if errors.Is(err, domain.ErrSessionNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("find a session: %w", err)
	}
	v := visitOf(ctx)
	v.session = found
	if now := s.store.Now(); now.Sub(found.SeenAt) >= domain.SessionTouchInterval {
		found.SeenAt, found.ExpiresAt = now, domain.SessionExpiry(found.CreatedAt, now)
		found.Address, found.UserAgent = v.address, v.userAgent
		if err := s.store.TouchSession(ctx, found); err != nil {
			return nil, false, fmt.Errorf("touch a session: %w", err)
		}
	}
	return found.Data, true, nil
}

var errNotRenewed = errors.New("the session's token was not renewed at sign-in")

// CommitCtx stores the data of a session. One that was found before and has
// been ended meanwhile does not come back.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	key, v := SessionKey(token), visitOf(ctx)
	if string(key) == string(v.session.Key) {
		if v.bound != 0 && v.bound != v.session.AdministratorID {
			return errNotRenewed
		}
		if err := s.store.PutSessionData(ctx, key, data); err != nil {
			return fmt.Errorf("store a session: %w", err)
		}
		return nil
	}
	now := s.store.Now()
	made := domain.Session{
		Key: key, AdministratorID: s.AdministratorID(ctx), Data: data, CreatedAt: now, SeenAt: now,
		ExpiresAt: domain.SessionExpiry(now, now), Address: v.address, UserAgent: v.userAgent,
	}
	if expiry.Before(made.ExpiresAt) {
		made.ExpiresAt = expiry
	}
	if err := s.store.AddSession(ctx, made); err != nil {
		return fmt.Errorf("store a session: %w", err)
	}
	return nil
}

// DeleteCtx ends the session with this token.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	// Nobody is signed in for the rest of the request: otherwise a message put into
	// the next session would sign them in again.
	v := visitOf(ctx)
	v.session, v.bound = domain.Session{}, 0
	if err := s.store.DropSession(ctx, SessionKey(token)); err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// Find is FindCtx without a context.
func (s *Sessions) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit is CommitCtx without a context.
func (s *Sessions) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx without a context.
func (s *Sessions) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// List returns the caller's own sessions, the last used first.
func (s *Sessions) List(ctx context.Context, administrator int64) ([]domain.Session, error) {
	return s.store.Sessions(ctx, administrator)
}

// End ends one of the person's own sessions. Codes: not_found.
func (s *Sessions) End(ctx context.Context, by domain.Actor, id int64) error {
	return s.store.EndSession(ctx, by, id)
}

// EndOthers ends all of the person's sessions but the one with this token, and
// returns how many it ended.
func (s *Sessions) EndOthers(ctx context.Context, by domain.Actor, keepToken string) (int64, error) {
	return s.store.EndOtherSessions(ctx, by, SessionKey(keepToken))
}

// Sweep removes what has run out: sessions, throttles, links.
func (s *Sessions) Sweep(ctx context.Context) error { return s.store.SweepSignIn(ctx) }

// SessionKey returns the hash under which a session's token is stored.
func SessionKey(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

func formatAddr(addr netip.Addr) string {
	if !addr.IsValid() {
		return ""
	}
	return addr.Unmap().String()
}

func cleanUserAgent(s string) string {
	s = strings.ToValidUTF8(s, "")
	if len(s) > domain.MaxUserAgent {
		s = strings.ToValidUTF8(s[:domain.MaxUserAgent], "")
	}
	return strings.ReplaceAll(s, "\x00", "")
}

// BeginSubmission records that a form of the session with this token was submitted.
// It returns first = false if it was before, with the location that the first
// submission led to; the location is empty while that one is still running.
func (s *Sessions) BeginSubmission(ctx context.Context, token, nonce string) (location string, first bool, err error) {
	return s.store.BeginSubmission(ctx, SessionKey(token), nonce)
}

// EndSubmission records where a submission led to. An empty location means that
// nothing was done and the form may be submitted again.
func (s *Sessions) EndSubmission(ctx context.Context, token, nonce, location string) error {
	return s.store.EndSubmission(ctx, SessionKey(token), nonce, location)
}
