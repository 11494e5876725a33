package domain

import (
	"errors"
	"strings"
	"time"
)

const instantOut = "2006-01-02T15:04:05.999-07:00"

// FormatInstant writes a date-time the way the API shows it: UTC, numeric
// offset, at most milliseconds.
func FormatInstant(t time.Time) string { return t.UTC().Format(instantOut) }

// Instant gives t as it is kept: UTC, whole milliseconds.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

var errInstant = errors.New("must be a date-time with a zone, such as 2026-11-14T09:30:00Z or 2026-11-14T12:30:00+03:00")

// ParseInstant reads an RFC 3339 date-time with Z or any offset, in either case.
// time.Parse alone would also take one-digit hours and a comma before the
// fraction, and no leap second, which is read as the second after it.
func ParseInstant(s string) (time.Time, error) {
	s = strings.ToUpper(s)
	leap := len(s) > leapEnd && s[leapEnd-3:leapEnd] == ":60"
	if leap {
		s = s[:leapEnd-2] + "59" + s[leapEnd:]
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || s[len("2006-01-02T15")] != ':' || strings.Contains(s, ",") {
		return time.Time{}, errInstant
	}
	if leap {
		t = t.Truncate(time.Second).Add(time.Second)
	}
	t = Instant(t)
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, errors.New("must lie between the years 1 and 9999")
	}
	return t, nil
}

const leapEnd = len("2006-01-02T15:04:60")
