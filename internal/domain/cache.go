package domain

// CacheKind names a kind of record that processes cache.
type CacheKind string

// The kinds of cached records.
const (
	CacheTokens  CacheKind = "tokens" // tokens of both APIs, and the companies they belong to
	CacheCourses CacheKind = "courses"
)

// CacheVersions holds a number for each kind, which grows with every change to a
// record of the kind.
type CacheVersions map[CacheKind]int64
