package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"
)

// The wait after failed attempts grows from firstWait to MaxWait. Attempts older
// than ThrottleMemory are forgotten.
const (
	firstWait      = time.Second
	MaxWait        = 15 * time.Minute
	ThrottleMemory = 24 * time.Hour
)

// Throttle counts failed attempts under a key. The first Free ones cost nothing.
type Throttle struct {
	Key  string
	Free int
	// Resets: a success clears the count. A count that several people share only
	// takes the successful attempt back, else one's own account would buy guesses
	// at others.
	Resets bool
}

// Wait returns how long further attempts are refused after so many failures.
func (t Throttle) Wait(failures int) time.Duration {
	over := failures - t.Free
	switch {
	case over < 0:
		return 0
	case over >= 10:
		return MaxWait
	}
	return min(firstWait<<over, MaxWait)
}

// AccountThrottle counts attempts at one address's password, whether or not it
// is known here. The key does not show the address.
func AccountThrottle(email string) Throttle {
	sum := sha256.Sum256([]byte(FoldEmail(email)))
	return Throttle{Key: "account:" + hex.EncodeToString(sum[:]), Free: 5, Resets: true}
}

// CodeThrottle counts attempts at one administrator's second factor. A correct
// password does not clear it.
func CodeThrottle(administrator int64) Throttle {
	return Throttle{Key: fmt.Sprintf("code:%d", administrator), Free: 5, Resets: true}
}

// AddressThrottle counts attempts from one network address; an IPv6 customer has
// a whole /64.
func AddressThrottle(addr netip.Addr) Throttle {
	addr = addr.Unmap().WithZone("")
	key := addr.String()
	if addr.Is6() {
		key = netip.PrefixFrom(addr, 64).Masked().String()
	}
	return Throttle{Key: "address:" + key, Free: 20}
}

// ThrottledError is the cause of an error that asks the caller to wait.
type ThrottledError struct{ Until time.Time }

func (t *ThrottledError) Error() string { return "blocked until " + FormatInstant(t.Until) }

// ErrThrottled asks the caller to wait until an instant.
func ErrThrottled(until, now time.Time) *Error {
	return Errorf(CodeRateLimited, "Too many failed attempts. Try again in %s.", formatWait(until.Sub(now))).
		WithCause(&ThrottledError{Until: until})
}

func formatWait(d time.Duration) string {
	n, unit := int((d+time.Second-1)/time.Second), "second"
	if n >= 120 {
		n, unit = (n+59)/60, "minute"
	}
	if n = max(n, 1); n > 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
