package service

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// TokenStore is what Tokens needs of the database.
type TokenStore interface {
	TokenVersion(ctx context.Context) (int64, error)
	TokenByHash(ctx context.Context, hash [32]byte) (domain.TokenLookup[domain.Token], error)
	PlatformTokenByHash(ctx context.Context, hash [32]byte) (domain.TokenLookup[domain.PlatformToken], error)
	NoteTokenUses(ctx context.Context, uses []domain.TokenUse) error

	CreateToken(ctx context.Context, c domain.Caller, n domain.NewToken, sealed domain.TokenDigest) (domain.Token, error)
	Tokens(ctx context.Context, f domain.TokenFilter, p domain.PageRequest) (domain.Page[domain.Token], error)
	Token(ctx context.Context, company, id int64) (domain.Token, error)
	ChangeToken(ctx context.Context, c domain.Caller, id int64, change domain.TokenChange) (domain.Token, error)
	RevokeToken(ctx context.Context, c domain.Caller, id int64) (domain.Token, error)

	CreatePlatformToken(ctx context.Context, name string, sealed domain.TokenDigest) (domain.PlatformToken, error)
	PlatformTokens(ctx context.Context) ([]domain.PlatformToken, error)
	RevokePlatformToken(ctx context.Context, id int64) (domain.PlatformToken, error)
}

// TokenOptions tune Tokens; zero fields mean the usual.
type TokenOptions struct {
	Now   func() time.Time // time.Now
	Poll  time.Duration    // how often the version is read while tokens are in memory
	Flush time.Duration    // how often last uses are written
	Idle  time.Duration    // how long an unused token stays in memory
	Log   *slog.Logger
}

// Tokens is the use cases around API tokens. It keeps those in use in memory, so
// that a request with a token asks the database nothing. While none are in
// memory it does nothing at all.
type Tokens struct {
	store TokenStore
	opt   TokenOptions
	cache *tokenCache

	mu      sync.Mutex
	closed  bool
	closing context.Context // ends what Run does when Close is called
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// NewTokens gives the use cases on a store. Without Run every token is looked up
// anew once a second.
func NewTokens(store TokenStore, opt TokenOptions) *Tokens {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	opt.Poll = orElse(opt.Poll, 300*time.Millisecond)
	opt.Flush = orElse(opt.Flush, 5*time.Second)
	opt.Idle = orElse(opt.Idle, time.Minute)
	closing, cancel := context.WithCancel(context.Background())
	return &Tokens{store: store, opt: opt, cache: newTokenCache(), closing: closing, cancel: cancel}
}

func orElse(d, usual time.Duration) time.Duration {
	if d == 0 {
		return usual
	}
	return d
}

// Authenticate gives the token that a request carries. Codes: unauthorized,
// company_suspended, address_not_allowed.
func (t *Tokens) Authenticate(ctx context.Context, bearer string, from netip.Addr) (domain.Token, error) {
	hash, ok := domain.HashToken(bearer)
	if !ok {
		return domain.Token{}, domain.ErrUnauthorized
	}
	if token, known, err := t.cache.lookup(hash, t.opt.Now(), from); known {
		return refused(token, err)
	}
	began := t.opt.Now()
	looked, err := t.store.TokenByHash(ctx, hash)
	if err != nil {
		return domain.Token{}, fmt.Errorf("look a token up: %w", err)
	}
	return refused(looked.Token, t.cache.keep(hash, looked, began, t.opt.Now(), from))
}

// refused makes sure that nothing of a token gets out with a refusal.
func refused(token domain.Token, err error) (domain.Token, error) {
	if err != nil {
		return domain.Token{}, err
	}
	return token, nil
}

// admit decides whether a call with the token may go on, and notes its use.
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

// AuthenticatePlatform gives the platform token that a request carries. Codes:
// unauthorized.
func (t *Tokens) AuthenticatePlatform(ctx context.Context, bearer string) (domain.PlatformToken, error) {
	hash, ok := domain.HashToken(bearer)
	if !ok {
		return domain.PlatformToken{}, domain.ErrUnauthorized
	}
	if held, ok := t.cache.lookupPlatform(hash, t.opt.Now()); ok {
		if held == nil {
			return domain.PlatformToken{}, domain.ErrUnauthorized
		}
		return held.token, nil
	}
	began := t.opt.Now()
	looked, err := t.store.PlatformTokenByHash(ctx, hash)
	if err != nil {
		return domain.PlatformToken{}, fmt.Errorf("look a platform token up: %w", err)
	}
	t.cache.keepPlatform(hash, looked, began, t.opt.Now())
	if !looked.Found || looked.Token.RevokedAt != nil {
		return domain.PlatformToken{}, domain.ErrUnauthorized
	}
	return looked.Token, nil
}

// Run watches the tokens in memory until ctx ends or Close is called: it sees
// changes made by other processes, writes last uses and drops what is idle.
func (t *Tokens) Run(ctx context.Context) {
	if !t.start() {
		return
	}
	defer t.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.closing, cancel)()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.cache.wake:
			t.watch(ctx)
		}
	}
}

func (t *Tokens) start() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.running.Add(1)
	}
	return !t.closed
}

// watch polls until there is nothing to watch.
func (t *Tokens) watch(ctx context.Context) {
	tick := time.NewTicker(t.opt.Poll)
	defer tick.Stop()
	flushed := t.opt.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		t.poll(ctx)
		if t.opt.Now().Sub(flushed) < t.opt.Flush {
			continue
		}
		flushed = t.opt.Now()
		t.cache.evict(flushed, t.opt.Idle)
		if err := t.flush(ctx); err != nil && ctx.Err() == nil {
			t.opt.Log.Warn("note the last use of tokens", "error", err)
		}
		if t.cache.empty() {
			return
		}
	}
}

// poll leaves a failed read alone: what is in memory runs out by itself.
func (t *Tokens) poll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, tokenFresh)
	defer cancel()
	began := t.opt.Now()
	if version, err := t.store.TokenVersion(ctx); err == nil {
		t.cache.confirm(version, began)
	}
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

// Close ends Run, waits for it and writes the last uses. It may be called twice.
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
