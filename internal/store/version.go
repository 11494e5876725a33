package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// readVersion queues the read of a kind's version. It comes before the query for
// the records themselves, so that these are at least as new as the version.
func readVersion(b *db.Batch, kind domain.CacheKind, into *int64) {
	b.Query(func(r db.Rows) error { return r.Scan(into) }, `SELECT version FROM cache_versions WHERE name = $1`, string(kind))
}

// CacheVersions returns the versions of all kinds of records that processes cache.
func (s *Store) CacheVersions(ctx context.Context) (domain.CacheVersions, error) {
	out := domain.CacheVersions{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var name string
		var version int64
		err := r.Scan(&name, &version)
		out[domain.CacheKind(name)] = version
		return err
	}, `SELECT name, version FROM cache_versions`)
	err := s.read(ctx, b)
	return out, err
}

// OnCacheChange adds a function that is called after each transaction of this
// process that changed records of a cached kind.
func (s *Store) OnCacheChange(fn func(domain.CacheKind)) {
	s.cacheMu.Lock()
	defer s.cacheMu.Unlock()
	s.onCacheChange = append(s.onCacheChange, fn)
}

func (s *Store) cacheChanged(kinds []domain.CacheKind) {
	if len(kinds) == 0 {
		return
	}
	s.cacheMu.Lock()
	listeners := s.onCacheChange
	s.cacheMu.Unlock()
	for _, kind := range kinds {
		for _, fn := range listeners {
			fn(kind)
		}
	}
}

// bumpVersion queues the new version of a kind, by which every process notices
// that its cached records are stale. It comes last in a transaction, because all
// changes to records of the kind queue for this row.
func (o *outbox) bumpVersion(b *db.Batch, kind domain.CacheKind) {
	o.changed = append(o.changed, kind)
	b.Exec(`UPDATE cache_versions SET version = version + 1 WHERE name = $1`, string(kind))
}
