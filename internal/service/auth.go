package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// TokenStore is the part of the store that Tokens uses.
type TokenStore interface {
	TokenByHash(ctx context.Context, hash [32]byte) (domain.TokenLookup[domain.Token], error)
	PlatformTokenByHash(ctx context.Context, hash [32]byte) (domain.TokenLookup[domain.PlatformToken], error)
	NoteTokenUses(ctx context.Context, uses []domain.TokenUse) error

	CreateToken(ctx context.Context, c domain.Caller, n domain.NewToken, digest domain.TokenDigest) (domain.Token, error)
	Tokens(ctx context.Context, f domain.TokenFilter, p domain.PageRequest) (domain.Page[domain.Token], error)
	Token(ctx context.Context, company, id int64) (domain.Token, error)
	ChangeToken(ctx context.Context, c domain.Caller, id int64, change domain.TokenChange) (domain.Token, error)
	RegenerateToken(ctx context.Context, c domain.Caller, id int64, r domain.TokenRegeneration, digest domain.TokenDigest) (domain.Token, error)
	EndPreviousToken(ctx context.Context, c domain.Caller, id int64) (domain.Token, error)
	RevokeToken(ctx context.Context, c domain.Caller, id int64) (domain.Token, error)

	CreatePlatformToken(ctx context.Context, by domain.Actor, name string, digest domain.TokenDigest) (domain.PlatformToken, error)
	PlatformTokens(ctx context.Context) ([]domain.PlatformToken, error)
	RevokePlatformToken(ctx context.Context, by domain.Actor, id int64) (domain.PlatformToken, error)
}

// TokenOptions configure Tokens. Zero fields stand for the defaults.
type TokenOptions struct {
	Now   func() time.Time // time.Now
	Flush time.Duration    // how often last uses are written
	Idle  time.Duration    // how long an unused token stays in memory
	Log   *slog.Logger
}

// Tokens implements the use cases around API tokens. It caches the tokens in use,
// so that most requests are authenticated without the database.
type Tokens struct {
	store   TokenStore
	watcher *Watcher
	opt     TokenOptions
	cache   *tokenCache

	mu      sync.Mutex
	closed  bool
	closing context.Context // ends what Run does when Close is called
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// NewTokens returns the use cases over a store. Cached tokens are used while the
// watcher confirms their version.
func NewTokens(store TokenStore, watcher *Watcher, opt TokenOptions) *Tokens {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	opt.Flush = cmp.Or(opt.Flush, 5*time.Second)
	opt.Idle = cmp.Or(opt.Idle, time.Minute)
	closing, cancel := context.WithCancel(context.Background())
	return &Tokens{store: store, watcher: watcher, opt: opt, cache: newTokenCache(), closing: closing, cancel: cancel}
}

// Authenticate returns the token that a request carries. Codes: unauthorized,
// company_suspended, address_not_allowed.
func (t *Tokens) Authenticate(ctx context.Context, bearer string, from netip.Addr) (domain.Token, error) {
	hash, ok := domain.HashToken(bearer)
	if !ok {
		return domain.Token{}, domain.ErrUnauthorized
	}
	if version, ok := t.watcher.Version(domain.CacheTokens); ok {
		if token, ok, err := t.cache.lookup(hash, version, t.opt.Now(), from); ok {
			return withoutToken(token, err)
		}
	}
	began := t.watcher.Now()
	found, err := t.store.TokenByHash(ctx, hash)
	if err != nil {
		return domain.Token{}, fmt.Errorf("look up a token: %w", err)
	}
	now := t.opt.Now()
	if t.watcher.ConfirmRead(domain.CacheTokens, found.Version, began) {
		return withoutToken(found.Token, t.cache.keep(hash, found, now, from))
	}
	return withoutToken(found.Token, t.cache.useOnce(found, now, from))
}

// withoutToken returns an empty token with an error, so that a refusal discloses
// nothing of the token.
func withoutToken(token domain.Token, err error) (domain.Token, error) {
	if err != nil {
		return domain.Token{}, err
	}
	return token, nil
}

// admit reports why a call with the token is refused, or records its use.
func admit(held *cached[domain.Token], now time.Time, from netip.Addr) error {
	switch {
	case !held.token.Live(now):
		return domain.ErrUnauthorized
	case held.token.Company.Suspended():
		return domain.ErrCompanySuspended
	case !held.token.AllowsAddress(from):
		return domain.ErrAddressNotAllowed
	}
	held.use(now, from)
	return nil
}

// AuthenticatePlatform returns the platform token that a request carries. Codes:
// unauthorized.
func (t *Tokens) AuthenticatePlatform(ctx context.Context, bearer string) (domain.PlatformToken, error) {
	hash, ok := domain.HashToken(bearer)
	if !ok {
		return domain.PlatformToken{}, domain.ErrUnauthorized
	}
	if version, ok := t.watcher.Version(domain.CacheTokens); ok {
		if held, ok := t.cache.lookupPlatform(hash, version, t.opt.Now()); ok {
			if held == nil {
				return domain.PlatformToken{}, domain.ErrUnauthorized
			}
			return held.token, nil
		}
	}
	began := t.watcher.Now()
	found, err := t.store.PlatformTokenByHash(ctx, hash)
	if err != nil {
		return domain.PlatformToken{}, fmt.Errorf("look up a platform token: %w", err)
	}
	if t.watcher.ConfirmRead(domain.CacheTokens, found.Version, began) {
		t.cache.keepPlatform(hash, found, t.opt.Now())
	}
	if !found.Found || found.Token.RevokedAt != nil {
		return domain.PlatformToken{}, domain.ErrUnauthorized
	}
	return found.Token, nil
}

// Run stores last uses and evicts idle tokens until ctx ends or Close is called.
func (t *Tokens) Run(ctx context.Context) {
	if !t.start() {
		return
	}
	defer t.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.closing, cancel)()
	Periodic{Name: "store the last use of tokens", Every: t.opt.Flush, Log: t.opt.Log, Do: func(ctx context.Context) error {
		t.cache.evict(t.opt.Now(), t.opt.Idle)
		return t.flush(ctx)
	}}.Run(ctx)
}

func (t *Tokens) start() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.running.Add(1)
	}
	return !t.closed
}

func (t *Tokens) flush(ctx context.Context) error {
	uses := t.cache.takeUses()
	if len(uses) == 0 {
		return nil
	}
	if err := t.store.NoteTokenUses(ctx, uses); err != nil {
		t.cache.putBack(uses)
		return err
	}
	return nil
}

// Close ends Run, waits for it and stores the last uses. It may be called twice.
func (t *Tokens) Close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.cancel()
	t.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return t.flush(ctx)
}
