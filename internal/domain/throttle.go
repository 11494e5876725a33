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
	sum := AccountDigest(email)
	return Throttle{Key: "account:" + hex.EncodeToString(sum[:]), Free: 5, Resets: true}
}

// AccountDigest returns the hash that stands for an address where it must not be
// readable.
func AccountDigest(email string) [sha256.Size]byte { return sha256.Sum256([]byte(FoldEmail(email))) }

// CodeThrottle counts attempts at one administrator's second factor. A correct
// password does not clear it.
func CodeThrottle(administrator int64) Throttle {
	return Throttle{Key: fmt.Sprintf("code:%d", administrator), Free: 5, Resets: true}
}

// ConfirmThrottle counts how often a signed-in administrator typed their own
// password wrong. Nobody else can add to it.
func ConfirmThrottle(administrator int64) Throttle {
	return Throttle{Key: fmt.Sprintf("confirm:%d", administrator), Free: 5, Resets: true}
}

// DeviceThrottle counts attempts from a device that has signed in to the account
// before. It replaces the counters that strangers share with it.
func DeviceThrottle(device string) Throttle {
	return Throttle{Key: "device:" + device, Free: 5, Resets: true}
}

// AddressThrottles count attempts from one network address. An IPv6 customer has a
// /64, /56 or /48 of their own, so that all three are counted.
func AddressThrottles(addr netip.Addr) []Throttle {
	addr = addr.Unmap().WithZone("")
	if !addr.Is6() {
		return []Throttle{{Key: "address:" + addr.String(), Free: 20}}
	}
	out := make([]Throttle, 0, 3)
	for _, network := range []struct{ bits, free int }{{64, 20}, {56, 40}, {48, 80}} {
		out = append(out, Throttle{Key: "address:" + netip.PrefixFrom(addr, network.bits).Masked().String(), Free: network.free})
	}
	return out
}

// KnownAddressMemory is how long an address counts as known after a sign-in.
const KnownAddressMemory = 90 * 24 * time.Hour

// KnownAddressKey is the key under which an address is remembered after a sign-in,
// an IPv6 one with its /64.
func KnownAddressKey(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		return "known:" + netip.PrefixFrom(addr, 64).Masked().String()
	}
	return "known:" + addr.String()
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
