package service

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// versionLifetime is how long a version is trusted, counted from the start of the
// read that returned it. A read sees every change that was committed before it
// started. So even if polls stall or the database is unreachable, a cached record
// is used for less than a second after another process changed it.
const versionLifetime = 900 * time.Millisecond

// VersionStore is the part of the store that the Watcher uses.
type VersionStore interface {
	CacheVersions(ctx context.Context) (domain.CacheVersions, error)
	// OnCacheChange registers fn. It is called after each transaction of this
	// process that changed cached records, with their kind.
	OnCacheChange(fn func(domain.CacheKind))
}

// WatcherOptions configure a Watcher. A zero field means the default.
type WatcherOptions struct {
	Poll time.Duration    // the interval between two reads of the versions
	Idle time.Duration    // polling stops when no version was used for this long
	Now  func() time.Time // a monotonic clock
}

// Watcher lets caches check that their records are still current. Every
// transaction that changes cached records raises the version of their kind in the
// database, and a cache serves a record only while the version it was read under is
// current. While a cache is in use, the watcher polls all versions with one
// statement, several times a second. A change by this process is noticed at once, a
// change by another process within a second. PostgreSQL and SQLite work alike.
type Watcher struct {
	store VersionStore
	opt   WatcherOptions
	used  atomic.Bool   // Version was called since the latest poll
	wake  chan struct{} // makes Run start polling

	mu        sync.Mutex // held to replace a confirmed version, not to load one
	confirmed map[domain.CacheKind]*atomic.Pointer[confirmedVersion]
}

// confirmedVersion is the version of a kind as of the latest read.
type confirmedVersion struct {
	version int64
	readAt  time.Time // when that read started; zero if the version is not to be trusted
	// changedAt is when this process last changed a record of the kind. A read that
	// started earlier may have missed the change.
	changedAt time.Time
}

// NewWatcher returns a watcher of the store's versions. It polls only while Run is
// running; otherwise a version is trusted for less than a second after the lookup
// that returned it.
func NewWatcher(store VersionStore, opt WatcherOptions) *Watcher {
	opt.Poll = cmp.Or(opt.Poll, 100*time.Millisecond)
	opt.Idle = cmp.Or(opt.Idle, 10*time.Second)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	w := &Watcher{store: store, opt: opt, wake: make(chan struct{}, 1), confirmed: map[domain.CacheKind]*atomic.Pointer[confirmedVersion]{}}
	for _, kind := range []domain.CacheKind{domain.CacheTokens, domain.CacheCourses} {
		w.confirmed[kind] = &atomic.Pointer[confirmedVersion]{}
		w.confirmed[kind].Store(&confirmedVersion{})
	}
	store.OnCacheChange(w.invalidate)
	return w
}

// Now returns the watcher's time. A lookup takes it before it reads and passes it to
// ConfirmRead.
func (w *Watcher) Now() time.Time { return w.opt.Now() }

// Version returns the latest confirmed version of a kind. ok is false if it is too
// old to be trusted; then the caller has to read from the database.
func (w *Watcher) Version(kind domain.CacheKind) (version int64, ok bool) {
	if !w.used.Load() { // a load is cheaper than a store that every request repeats
		w.used.Store(true)
	}
	current := w.confirmed[kind].Load()
	return current.version, w.opt.Now().Sub(current.readAt) < versionLifetime
}

// ConfirmRead records the version that a lookup read together with its records; began
// is when the lookup started. It reports whether the records may be cached under
// this version, which is false if a newer version or a later change is known.
func (w *Watcher) ConfirmRead(kind domain.CacheKind, version int64, began time.Time) bool {
	select {
	case w.wake <- struct{}{}:
	default:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	current := w.confirmed[kind].Load()
	if version < current.version || began.Before(current.changedAt) {
		return false
	}
	if version > current.version || began.After(current.readAt) {
		w.replace(kind, version, began)
	}
	return true
}

// confirmAll records the versions that a poll read. Unlike ConfirmRead it also accepts
// a smaller version than the confirmed one, because versions go back after a
// failover to a standby that lagged behind.
func (w *Watcher) confirmAll(versions domain.CacheVersions, began time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for kind, pointer := range w.confirmed {
		current := pointer.Load()
		if began.After(current.readAt) && !began.Before(current.changedAt) {
			w.replace(kind, versions[kind], began)
		}
	}
}

// replace stores a version and keeps changedAt. The caller holds mu.
func (w *Watcher) replace(kind domain.CacheKind, version int64, readAt time.Time) {
	w.confirmed[kind].Store(&confirmedVersion{version: version, readAt: readAt, changedAt: w.confirmed[kind].Load().changedAt})
}

// invalidate marks the version of a kind as not to be trusted, so that the next
// lookup reads from the database.
func (w *Watcher) invalidate(kind domain.CacheKind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.confirmed[kind].Store(&confirmedVersion{version: w.confirmed[kind].Load().version, changedAt: w.opt.Now()})
}

// Run polls the versions while they are used. It returns when ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
			w.pollWhileUsed(ctx)
		}
	}
}

// pollWhileUsed polls until no version was used for the idle time, or until ctx ends.
func (w *Watcher) pollWhileUsed(ctx context.Context) {
	tick := time.NewTicker(w.opt.Poll)
	defer tick.Stop()
	for lastUse := w.opt.Now(); w.opt.Now().Sub(lastUse) < w.opt.Idle; {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
			continue // it polls already
		case <-tick.C:
		}
		w.poll(ctx)
		if w.used.Swap(false) {
			lastUse = w.opt.Now()
		}
	}
}

// poll reads the versions once. An error needs no handling: without a successful
// read the confirmed versions expire.
func (w *Watcher) poll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, versionLifetime)
	defer cancel()
	began := w.opt.Now()
	if versions, err := w.store.CacheVersions(ctx); err == nil {
		w.confirmAll(versions, began)
	}
}
