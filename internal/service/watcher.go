package service

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// cacheFresh is how long a version may be trusted after the read that confirmed it
// began. A change that was committed before the read would have shown in it, so
// whatever goes wrong, a poll that stalls or a database that is gone, no cached
// record is used a second after it was changed.
const cacheFresh = 900 * time.Millisecond

// VersionStore is the part of the store that the Watcher uses.
type VersionStore interface {
	CacheVersions(ctx context.Context) (domain.CacheVersions, error)
	// OnCacheChange adds a function that is called after each transaction of this
	// process that changed records of the kind.
	OnCacheChange(fn func(domain.CacheKind))
}

// WatcherOptions configure a Watcher. Zero fields stand for the defaults.
type WatcherOptions struct {
	Poll time.Duration    // the time between two reads of the versions
	Idle time.Duration    // how long the versions are read after the last use
	Now  func() time.Time // a monotonic clock
}

// Watcher tells caches which version of their records is current. It is the one
// way in which a process notices what other processes change, on both engines: a
// transaction that changes cached records raises the version of their kind, and
// the watcher reads all versions with one statement, several times a second while
// anything cached is used. A change by this process itself is noticed at once, one
// by another process within a second.
type Watcher struct {
	store VersionStore
	opt   WatcherOptions
	kinds map[domain.CacheKind]*atomic.Pointer[confirmedVersion]
	used  atomic.Bool
	wake  chan struct{}

	mu sync.Mutex // held to replace a confirmed version
}

// confirmedVersion is a version and when the latest read that returned it began.
type confirmedVersion struct {
	version int64
	readAt  time.Time
	// changedAt is when this process last changed a record: a read that began
	// before may have missed the change.
	changedAt time.Time
}

// NewWatcher returns a watcher on a store. Unless Run runs, a version is trusted
// only for a moment after the lookup that returned it.
func NewWatcher(store VersionStore, opt WatcherOptions) *Watcher {
	opt.Poll = cmp.Or(opt.Poll, 100*time.Millisecond)
	opt.Idle = cmp.Or(opt.Idle, 10*time.Second)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	w := &Watcher{store: store, opt: opt, wake: make(chan struct{}, 1), kinds: map[domain.CacheKind]*atomic.Pointer[confirmedVersion]{}}
	for _, kind := range []domain.CacheKind{domain.CacheTokens, domain.CacheCourses} {
		w.kinds[kind] = &atomic.Pointer[confirmedVersion]{}
		w.kinds[kind].Store(&confirmedVersion{})
	}
	store.OnCacheChange(w.changed)
	return w
}

// Now returns the time that a lookup passes to Confirm as its beginning.
func (w *Watcher) Now() time.Time { return w.opt.Now() }

// Version returns the current version of a kind. ok is false if it is not known
// for sure; then the database has to be asked.
func (w *Watcher) Version(kind domain.CacheKind) (version int64, ok bool) {
	if !w.used.Load() {
		w.used.Store(true)
	}
	current := w.kinds[kind].Load()
	return current.version, w.opt.Now().Sub(current.readAt) < cacheFresh
}

// Confirm takes the version that a lookup which began at an instant has read along
// with its records. It reports whether the records may be cached under it.
func (w *Watcher) Confirm(kind domain.CacheKind, version int64, began time.Time) bool {
	select {
	case w.wake <- struct{}{}:
	default:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	current := w.kinds[kind].Load()
	if version < current.version || began.Before(current.changedAt) {
		return false
	}
	if version > current.version || began.After(current.readAt) {
		w.replace(kind, version, began)
	}
	return true
}

// confirmAll takes the versions of a poll. They replace greater ones too: after a
// failover to a standby that lagged behind, versions have gone back.
func (w *Watcher) confirmAll(versions domain.CacheVersions, began time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for kind, pointer := range w.kinds {
		current := pointer.Load()
		if began.After(current.readAt) && !began.Before(current.changedAt) {
			w.replace(kind, versions[kind], began)
		}
	}
}

func (w *Watcher) replace(kind domain.CacheKind, version int64, readAt time.Time) {
	w.kinds[kind].Store(&confirmedVersion{version: version, readAt: readAt, changedAt: w.kinds[kind].Load().changedAt})
}

// changed makes the next use of a kind ask the database.
func (w *Watcher) changed(kind domain.CacheKind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kinds[kind].Store(&confirmedVersion{version: w.kinds[kind].Load().version, changedAt: w.opt.Now()})
}

// Run reads the versions while they are used, until ctx ends.
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

func (w *Watcher) pollWhileUsed(ctx context.Context) {
	tick := time.NewTicker(w.opt.Poll)
	defer tick.Stop()
	for used := time.Now(); time.Since(used) < w.opt.Idle; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.poll(ctx)
		if w.used.Swap(false) {
			used = time.Now()
		}
	}
}

// poll reads the versions. It ignores a failure: what is confirmed expires.
func (w *Watcher) poll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, cacheFresh)
	defer cancel()
	began := w.opt.Now()
	if versions, err := w.store.CacheVersions(ctx); err == nil {
		w.confirmAll(versions, began)
	}
}
