package service

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// tokenFresh is how long the tokens in memory may be trusted after a read of
// their version began. A change committed before that read would have shown, so
// a revoked token is refused within this time whatever else goes wrong: a poll
// that stalls, a database that is gone.
const tokenFresh = 900 * time.Millisecond

// maxUnknown bounds what guessed tokens can take of our memory.
const maxUnknown = 4096

type tokenHash = [sha256.Size]byte

// stranger is a token that one of the two sides does not know: the other may.
type stranger struct {
	hash     tokenHash
	platform bool
}

// cached is a token in memory and its last use.
type cached[T any] struct {
	token  T
	usedAt atomic.Int64 // milliseconds since 1970
	from   atomic.Pointer[netip.Addr]
	noted  int64 // the use that the database knows
}

func (c *cached[T]) use(now time.Time, from netip.Addr) {
	if at := now.UnixMilli(); at > c.usedAt.Load() {
		c.usedAt.Store(at)
	}
	if last := c.from.Load(); from.IsValid() && (last == nil || *last != from) {
		kept := from
		c.from.Store(&kept)
	}
}

func (c *cached[T]) idle(now time.Time, after time.Duration) bool {
	return now.UnixMilli()-c.usedAt.Load() >= after.Milliseconds()
}

type tokenKey struct{ company, id int64 }

// tokenCache holds tokens of one version. It knows nothing of the database.
type tokenCache struct {
	wake chan struct{} // there is something to watch

	mu        sync.RWMutex
	version   int64
	confirmed time.Time // when the latest read began that gave this version
	tokens    map[tokenHash]*cached[domain.Token]
	platform  map[tokenHash]*cached[domain.PlatformToken]
	unknown   map[stranger]struct{}
	uses      map[tokenKey]domain.TokenUse // of tokens no longer held, not noted yet
}

func newTokenCache() *tokenCache {
	c := &tokenCache{wake: make(chan struct{}, 1), uses: map[tokenKey]domain.TokenUse{}}
	c.reset()
	return c
}

// fresh is asked under the lock.
func (c *tokenCache) fresh(now time.Time) bool { return now.Sub(c.confirmed) < tokenFresh }

// lookup runs admit on a token in memory, under the lock, so that its use is not
// lost to an eviction. known is false when the database has to be asked.
func (c *tokenCache) lookup(hash tokenHash, now time.Time, from netip.Addr) (token domain.Token, known bool, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.fresh(now) {
		return token, false, nil
	}
	if held := c.tokens[hash]; held != nil {
		return held.token, true, admit(held, now, from)
	}
	_, known = c.unknown[stranger{hash: hash}]
	return token, known, domain.ErrUnauthorized
}

func (c *tokenCache) lookupPlatform(hash tokenHash, now time.Time) (held *cached[domain.PlatformToken], ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.fresh(now) {
		return nil, false
	}
	if held = c.platform[hash]; held != nil {
		held.use(now, netip.Addr{})
		return held, true
	}
	_, ok = c.unknown[stranger{hash, true}]
	return nil, ok
}

// adopt says whether something read at a version may be kept, and forgets what
// is older. It is called under the lock.
func (c *tokenCache) adopt(version int64, began time.Time) bool {
	// The watcher is woken in any case: it tells a late read from a version that
	// has gone back, as after the failover to a replica that was behind.
	c.rouse()
	switch {
	case version < c.version:
		return false
	case version > c.version:
		c.reset()
		c.version, c.confirmed = version, began
	case began.After(c.confirmed):
		c.confirmed = began
	}
	return true
}

// keep takes in what a read that began at an instant has found, and lets the
// token in if it may.
func (c *tokenCache) keep(hash tokenHash, looked domain.TokenLookup[domain.Token], began, now time.Time, from netip.Addr) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.adopt(looked.Version, began)
	if !looked.Found {
		if kept {
			c.ignore(stranger{hash: hash})
		}
		return domain.ErrUnauthorized
	}
	entry := &cached[domain.Token]{token: looked.Token}
	err := admit(entry, now, from)
	if held := c.tokens[hash]; held != nil {
		c.retire(held)
	}
	switch {
	case !kept:
		c.retire(entry)
	case looked.Token.Live(now):
		c.tokens[hash] = entry
	default:
		delete(c.tokens, hash)
		c.ignore(stranger{hash: hash})
	}
	return err
}

func (c *tokenCache) keepPlatform(hash tokenHash, looked domain.TokenLookup[domain.PlatformToken], began, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.adopt(looked.Version, began) {
		return
	}
	if !looked.Found || looked.Token.RevokedAt != nil {
		c.ignore(stranger{hash, true})
		return
	}
	entry := &cached[domain.PlatformToken]{token: looked.Token}
	entry.use(now, netip.Addr{})
	c.platform[hash] = entry
}

func (c *tokenCache) ignore(who stranger) {
	if len(c.unknown) >= maxUnknown {
		c.unknown = map[stranger]struct{}{}
	}
	c.unknown[who] = struct{}{}
}

// confirm takes the version that a read which began at an instant has given.
func (c *tokenCache) confirm(version int64, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if version != c.version {
		c.reset()
		c.version, c.confirmed = version, began
	} else if began.After(c.confirmed) {
		c.confirmed = began
	}
}

// drop forgets every token.
func (c *tokenCache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset()
}

func (c *tokenCache) reset() {
	for _, entry := range c.tokens {
		c.retire(entry)
	}
	c.tokens, c.platform = map[tokenHash]*cached[domain.Token]{}, map[tokenHash]*cached[domain.PlatformToken]{}
	c.unknown = map[stranger]struct{}{}
}

// retire keeps the last use of a token that leaves, until it is noted.
func (c *tokenCache) retire(entry *cached[domain.Token]) {
	if use, ok := lastUse(entry); ok {
		c.note(use)
		c.rouse()
	}
}

func lastUse(entry *cached[domain.Token]) (domain.TokenUse, bool) {
	at := entry.usedAt.Load()
	if at <= entry.noted {
		return domain.TokenUse{}, false
	}
	use := domain.TokenUse{CompanyID: entry.token.CompanyID, TokenID: entry.token.ID, At: time.UnixMilli(at).UTC()}
	if from := entry.from.Load(); from != nil {
		use.Address = from.String()
	}
	return use, true
}

func (c *tokenCache) note(use domain.TokenUse) {
	key := tokenKey{use.CompanyID, use.TokenID}
	if older, ok := c.uses[key]; !ok || use.At.After(older.At) {
		c.uses[key] = use
	}
}

// takeUses gives every use that the database does not know yet.
func (c *tokenCache) takeUses() []domain.TokenUse {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, entry := range c.tokens {
		if use, ok := lastUse(entry); ok {
			entry.noted = use.At.UnixMilli()
			c.note(use)
		}
	}
	out := make([]domain.TokenUse, 0, len(c.uses))
	for _, use := range c.uses {
		out = append(out, use)
	}
	clear(c.uses)
	return out
}

// putBack keeps uses that could not be noted.
func (c *tokenCache) putBack(uses []domain.TokenUse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, use := range uses {
		c.note(use)
	}
}

// evict drops what was not used for a while.
func (c *tokenCache) evict(now time.Time, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for hash, entry := range c.tokens {
		if entry.idle(now, after) {
			c.retire(entry)
			delete(c.tokens, hash)
		}
	}
	for hash, entry := range c.platform {
		if entry.idle(now, after) {
			delete(c.platform, hash)
		}
	}
	clear(c.unknown)
}

func (c *tokenCache) empty() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.tokens)+len(c.platform)+len(c.unknown)+len(c.uses) == 0
}

func (c *tokenCache) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
