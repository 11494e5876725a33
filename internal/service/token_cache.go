package service

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// maxUnknown bounds the memory that guessed tokens can take.
const maxUnknown = 4096

type tokenHash = [sha256.Size]byte

// unknownToken is a token that one of the two APIs does not know; the other may.
type unknownToken struct {
	hash     tokenHash
	platform bool
}

// cached is a cached token and its last use.
type cached[T any] struct {
	token  T
	usedAt atomic.Int64 // milliseconds since 1970
	from   atomic.Pointer[netip.Addr]
	stored int64 // the last use that the database knows
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

// tokenCache holds tokens of one version. The Watcher knows which is current.
type tokenCache struct {
	mu       sync.RWMutex
	version  int64
	tokens   map[tokenHash]*cached[domain.Token]
	platform map[tokenHash]*cached[domain.PlatformToken]
	unknown  map[unknownToken]struct{}
	uses     map[tokenKey]domain.TokenUse // uses of evicted tokens that are not stored yet
}

func newTokenCache() *tokenCache {
	c := &tokenCache{uses: map[tokenKey]domain.TokenUse{}}
	c.reset()
	return c
}

// lookup runs admit on a cached token of the current version, under the lock, so
// that its use is not lost to an eviction. ok is false if the database has to be
// asked.
func (c *tokenCache) lookup(hash tokenHash, current int64, now time.Time, from netip.Addr) (token domain.Token, ok bool, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.version != current {
		return token, false, nil
	}
	if held := c.tokens[hash]; held != nil {
		return held.token, true, admit(held, now, from)
	}
	_, ok = c.unknown[unknownToken{hash: hash}]
	return token, ok, domain.ErrUnauthorized
}

// lookupPlatform returns a cached platform token of the current version, or nil if
// the token is known to be invalid. ok is false if the database has to be asked.
func (c *tokenCache) lookupPlatform(hash tokenHash, current int64, now time.Time) (held *cached[domain.PlatformToken], ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.version != current {
		return nil, false
	}
	if held = c.platform[hash]; held != nil {
		held.use(now, netip.Addr{})
		return held, true
	}
	_, ok = c.unknown[unknownToken{hash, true}]
	return nil, ok
}

// adopt drops what is cached of another version. It is called under the lock.
func (c *tokenCache) adopt(version int64) {
	if version != c.version {
		c.reset()
		c.version = version
	}
}

// keep caches a token that was found, and admits it if it may enter.
func (c *tokenCache) keep(hash tokenHash, found domain.TokenLookup[domain.Token], now time.Time, from netip.Addr) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.adopt(found.Version)
	if !found.Found {
		c.ignore(unknownToken{hash: hash})
		return domain.ErrUnauthorized
	}
	entry := &cached[domain.Token]{token: found.Token}
	err := admit(entry, now, from)
	if held := c.tokens[hash]; held != nil {
		c.retire(held)
	}
	if found.Token.Live(now) {
		c.tokens[hash] = entry
	} else {
		delete(c.tokens, hash)
		c.ignore(unknownToken{hash: hash})
	}
	return err
}

// useOnce admits a token that may have changed since it was read and is therefore not
// cached. Only its use is kept.
func (c *tokenCache) useOnce(found domain.TokenLookup[domain.Token], now time.Time, from netip.Addr) error {
	if !found.Found {
		return domain.ErrUnauthorized
	}
	entry := &cached[domain.Token]{token: found.Token}
	err := admit(entry, now, from)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retire(entry)
	return err
}

func (c *tokenCache) keepPlatform(hash tokenHash, found domain.TokenLookup[domain.PlatformToken], now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.adopt(found.Version)
	if !found.Found || found.Token.RevokedAt != nil {
		c.ignore(unknownToken{hash, true})
		return
	}
	entry := &cached[domain.PlatformToken]{token: found.Token}
	entry.use(now, netip.Addr{})
	c.platform[hash] = entry
}

func (c *tokenCache) ignore(who unknownToken) {
	if len(c.unknown) >= maxUnknown {
		c.unknown = map[unknownToken]struct{}{}
	}
	c.unknown[who] = struct{}{}
}

// reset drops all tokens. It is called under the lock.
func (c *tokenCache) reset() {
	for _, entry := range c.tokens {
		c.retire(entry)
	}
	c.tokens, c.platform = map[tokenHash]*cached[domain.Token]{}, map[tokenHash]*cached[domain.PlatformToken]{}
	c.unknown = map[unknownToken]struct{}{}
}

// retire keeps the last use of a token that leaves the cache until it is stored.
func (c *tokenCache) retire(entry *cached[domain.Token]) {
	if use, ok := lastUse(entry); ok {
		c.note(use)
	}
}

func lastUse(entry *cached[domain.Token]) (domain.TokenUse, bool) {
	at := entry.usedAt.Load()
	if at <= entry.stored {
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

// takeUses returns and forgets every use that the database does not know yet.
func (c *tokenCache) takeUses() []domain.TokenUse {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, entry := range c.tokens {
		if use, ok := lastUse(entry); ok {
			entry.stored = use.At.UnixMilli()
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

// putBack keeps uses that could not be stored.
func (c *tokenCache) putBack(uses []domain.TokenUse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, use := range uses {
		c.note(use)
	}
}

// evict drops tokens that were not used for a while, and all unknown ones.
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
