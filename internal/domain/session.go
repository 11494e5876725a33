package domain

import "time"

// A session ends SessionLifetime after signing in at the latest, and SessionIdle
// after it was last used. SessionTouchInterval is how often the last use is written.
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

// SessionExpiry returns when a session ends that began at created and is used now.
func SessionExpiry(created, now time.Time) time.Time {
	end, idle := created.Add(SessionLifetime), now.Add(SessionIdle)
	if idle.Before(end) {
		return idle
	}
	return end
}
