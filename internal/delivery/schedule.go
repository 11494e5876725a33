package delivery

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter bounds what a receiver can ask for with Retry-After.
const MaxRetryAfter = 6 * time.Hour

// Schedule holds the waits between the attempts of a delivery: the first one follows the first failed attempt.
type Schedule []time.Duration

// DefaultSchedule is the contract's: 6 attempts in all.
func DefaultSchedule() Schedule {
	return Schedule{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour}
}

// ParseSchedule reads waits as they are written in a flag, such as 1m,5m,15m,1h,6h.
func ParseSchedule(text string) (Schedule, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("no delays: write them as 1m,5m,15m,1h,6h")
	}
	parts := strings.Split(text, ",")
	s := make(Schedule, 0, len(parts))
	for _, part := range parts {
		part = strings.TrimSpace(part)
		wait, err := time.ParseDuration(part)
		if err != nil {
			return nil, fmt.Errorf("delay %q is not a duration: write delays as 1m,5m,15m,1h,6h", part)
		}
		if wait < 0 {
			return nil, fmt.Errorf("delay %q is negative: write delays as 1m,5m,15m,1h,6h", part)
		}
		s = append(s, wait)
	}
	return s, nil
}

// Next returns how long to wait after the failed attempt of that number (from 1 within the round) and whether another
// attempt follows at all. retryAfter is what the receiver asked for, 0 if nothing: it lengthens the wait, never
// shortens it, and counts at most MaxRetryAfter.
func (s Schedule) Next(failed int, retryAfter time.Duration) (wait time.Duration, more bool) {
	failed = max(failed, 1)
	if failed > len(s) {
		return 0, false
	}
	return max(s[failed-1], min(retryAfter, MaxRetryAfter)), true
}

// String writes the schedule as ParseSchedule reads it.
func (s Schedule) String() string {
	parts := make([]string, len(s))
	for i, wait := range s {
		parts[i] = shortDuration(wait)
	}
	return strings.Join(parts, ",")
}

// shortDuration drops the zero units that time.Duration prints: 6h, not 6h0m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// ParseRetryAfter reads a Retry-After header, which is a number of seconds or an HTTP date. What cannot be read, or
// lies in the past, is 0; what lies too far ahead is MaxRetryAfter.
func ParseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(MaxRetryAfter/time.Second) {
			return MaxRetryAfter // digits only, so an error means out of range
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), MaxRetryAfter)
}
