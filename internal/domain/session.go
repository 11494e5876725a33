package domain

import "time"

// How long a session lasts: SessionLifetime after signing in at most, and
// SessionIdle after it was last used. SessionTouchInterval is how exactly the last use is
// known: a session in use costs one write per so long.
const (
	SessionLifetime      = 30 * 24 * time.Hour
	SessionIdle          = 24 * time.Hour
	SessionTouchInterval = time.Minute
)

// MaxUserAgent is how much of a browser's own description is kept.
const MaxUserAgent = 255

// Session is a browser that an administrator is signed in with. The key is the
// hash of what the cookie holds.
type Session struct {
	Key             []byte
	ID              int64
	AdministratorID int64 // 0: nobody has signed in yet
	Data            []byte
	CreatedAt       time.Time
	SeenAt          time.Time
	ExpiresAt       time.Time
	Address         string
	UserAgent       string
}

// SessionExpiry is when a session ends that is used now and began at created.
func SessionExpiry(created, now time.Time) time.Time {
	end, idle := created.Add(SessionLifetime), now.Add(SessionIdle)
	if idle.Before(end) {
		return idle
	}
	return end
}
